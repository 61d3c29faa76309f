"""The geometry of one step, from its Jacobian: Poisson, symplectic, symmetric.

The step is seen in body coordinates of T*SO(3): R = R₀ exp(ξ), Π = Π₀ + η. There the
canonical form at Π is ω((ξ, η), (ξ', η')) = ξ·η' - ξ'·η + Π·(ξ × ξ').
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.algebra import Vec3, exp, log
from polhode.methods import Method, Step
from polhode.rotation import Rotation, State
from polhode.verify.trials import BODY, GRAVITY, SHAKING, START

STEPS = (1.0, 0.7, 0.4, 0.2)  # the longest that can be solved: there the defects of high orders show


def _start() -> State:
    return jax.tree.map(jnp.asarray, START.on(BODY))


@cache
def _derivative(method: Method, loaded: bool) -> Callable[[float, np.ndarray], Any]:
    """A column of the Jacobian of a step, Π₁, and whether it was solved, as a function of h and direction."""
    system = Rotation(BODY, GRAVITY if loaded else None)
    state = _start()

    def step(z: Any, h: Any) -> Step:
        moved = State(state.attitude * exp(Vec3.of(z[:3])), state.momentum + Vec3.of(z[3:]))
        return method.step(system, moved, 0.0, h)

    @jax.jit
    def derivative(h: Any, direction: Any) -> Any:
        origin = jnp.zeros(6)
        result = step(origin, h)
        end = result.state
        base = jax.tree.map(jax.lax.stop_gradient, end.attitude)

        def coordinates(z: Any) -> Any:
            new = step(z, h).state
            return jnp.concatenate([log(base.conjugate * new.attitude).array, new.momentum.array])

        return jax.jvp(coordinates, (origin,), (direction,))[1], end.momentum.array, result.report.converged

    return derivative


def jacobian(method: Method, loaded: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of a step of the free body, or of the asymmetric heavy top: (6 x 6 matrix, Π₀, Π₁)."""
    column = _derivative(method, loaded)
    h = next((h for h in STEPS if bool(column(h, np.eye(6)[0])[2])), STEPS[-1])
    # Column by column: one program, a sixth of the size of the whole Jacobian's.
    columns = [column(h, direction) for direction in np.eye(6)]
    J = np.stack([np.asarray(c[0]) for c in columns], axis=-1)
    return J, np.asarray(_start().momentum.array), np.asarray(columns[0][1])


def _skew(v: np.ndarray) -> np.ndarray:
    return Vec3.of(v).skew().array


def _form(Pi: np.ndarray) -> np.ndarray:
    """The matrix of ω at Π."""
    return np.block([[-_skew(Pi), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])


def poisson_defect(method: Method) -> float:
    """‖A skew(Π₀) Aᵀ - skew(Π₁)‖, A = ∂Π₁/∂Π₀ on the free body: zero for a Poisson map."""
    J, Pi0, Pi1 = jacobian(method, False)
    A = J[3:, 3:]
    return float(np.abs(A @ _skew(Pi0) @ A.T - _skew(Pi1)).max())


def symplectic_defect(method: Method) -> float:
    """‖Jᵀ ω(Π₁) J - ω(Π₀)‖, on the heavy top if the method takes a load: zero for a symplectic map."""
    J, Pi0, Pi1 = jacobian(method, method.traits.loads != "none")
    return float(np.abs(J.T @ _form(Pi1) @ J - _form(Pi0)).max())


def invariant_defects(method: Method) -> dict[str, float]:
    """Relative changes of Qy, C and H in one long step of the free body."""
    column = _derivative(method, False)
    h = next((h for h in STEPS if bool(column(h, np.eye(6)[0])[2])), STEPS[-1])
    system, start = Rotation(BODY), _start()
    end = jax.jit(method.step)(system, start, 0.0, h).state
    moved = end.attitude.rotate(end.momentum) - start.attitude.rotate(start.momentum)
    C0, H0 = start.momentum.norm2(), method.begin(system, start).kinetic(system)
    return {
        "Qy": float(moved.norm() / start.momentum.norm()),
        "C": float(abs(end.momentum.norm2() / C0 - 1)),
        "H": float(abs(end.kinetic(system) / H0 - 1)),
    }


def symmetry_defect(method: Method, h: float = 0.2) -> float:
    """How far a step of h and one of -h, with a load of attitude and time, end from where they began."""
    system = Rotation(BODY, GRAVITY + SHAKING if method.traits.loads != "none" else None)
    state = _start()

    @jax.jit
    def there_and_back(state: State, t: Any, h: Any) -> State:
        return method.step(system, method.step(system, state, t, h).state, t + h, -h).state

    back = there_and_back(state, 0.3, h)
    turned = state.attitude.conjugate * back.attitude
    return float(turned.vector.norm() + (back.momentum - state.momentum).norm())
