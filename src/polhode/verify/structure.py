"""The geometry of one step, from its Jacobian: Poisson, symplectic, symmetric.

The step is seen in body coordinates of T*SO(3): R = R₀ exp(ξ), Π = Π₀ + η. There the
canonical form at Π is ω((ξ, η), (ξ', η')) = ξ·η' - ξ'·η + Π·(ξ × ξ').
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.algebra import Vec3, exp, log
from polhode.methods import Method
from polhode.model.functions import as_arrays
from polhode.rotation import Rotation, State
from polhode.verify.trials import BODY, START, load_for

STEPS = (1.0, 0.7, 0.4, 0.2)  # the longest that can be solved: there the defects of high orders show


def _start() -> State:
    return jax.tree.map(jnp.asarray, START.on(BODY))


def _system(method: Method, gravity: float = 0.0, shaking: float = 0.0) -> Rotation:
    """With a load, if the method takes one."""
    loads = method.traits.loads
    return as_arrays(Rotation(BODY, None if loads == "none" else load_for(loads, gravity, shaking)))


@cache
def _program(method: Method) -> Callable[..., Any]:
    """One step, and how its end turns and moves along a direction of the start: (column of the Jacobian, end, whether
    it was solved)."""

    @jax.jit
    def derivative(system: Rotation, state: State, t: Any, h: Any, direction: Any) -> Any:
        def step(z: Any) -> Any:
            moved = replace(
                state, attitude=state.attitude * exp(Vec3.of(z[:3])), momentum=state.momentum + Vec3.of(z[3:])
            )
            result = method.step(system, moved, t, h)
            end = result.state
            base = jax.tree.map(jax.lax.stop_gradient, end.attitude)
            coordinates = jnp.concatenate([log(base.conjugate * end.attitude).array, end.momentum.array])
            return coordinates, (end, result.report.converged)

        _, column, (end, converged) = jax.jvp(step, (jnp.zeros(6),), (direction,), has_aux=True)
        return column, end, converged

    return derivative


def _long_step(method: Method, system: Rotation) -> float:
    """The longest of `STEPS` that is solved."""
    program, way = _program(method), np.eye(6)[0]
    return next((h for h in STEPS if bool(program(system, _start(), 0.0, h, way)[2])), STEPS[-1])


def jacobian(method: Method, system: Rotation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of a step: (6 x 6 matrix, Π₀, Π₁)."""
    h = _long_step(method, system)
    # Column by column: one program, a sixth of the size of the whole Jacobian's.
    columns = [_program(method)(system, _start(), 0.0, h, direction) for direction in np.eye(6)]
    J = np.stack([np.asarray(column) for column, *_ in columns], axis=-1)
    return J, np.asarray(_start().momentum.array), np.asarray(columns[0][1].momentum.array)


def _skew(v: np.ndarray) -> np.ndarray:
    return Vec3.of(v).skew().array


def _form(Pi: np.ndarray) -> np.ndarray:
    """The matrix of ω at Π."""
    return np.block([[-_skew(Pi), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])


def poisson_defect(method: Method) -> float:
    """‖A skew(Π₀) Aᵀ - skew(Π₁)‖, A = ∂Π₁/∂Π₀ on the free body: zero for a Poisson map."""
    J, Pi0, Pi1 = jacobian(method, as_arrays(Rotation(BODY)))
    A = J[3:, 3:]
    return float(np.abs(A @ _skew(Pi0) @ A.T - _skew(Pi1)).max())


def symplectic_defect(method: Method) -> float:
    """‖Jᵀ ω(Π₁) J - ω(Π₀)‖, on the heavy top if the method takes a load: zero for a symplectic map."""
    J, Pi0, Pi1 = jacobian(method, _system(method, gravity=3.0))
    return float(np.abs(J.T @ _form(Pi1) @ J - _form(Pi0)).max())


def invariant_defects(method: Method) -> dict[str, float]:
    """Relative changes of Qy, C and H in one long step of the free body."""
    system, start = as_arrays(Rotation(BODY)), _start()
    end = _program(method)(system, start, 0.0, _long_step(method, system), np.zeros(6))[1]
    moved = end.attitude.rotate(end.momentum) - start.attitude.rotate(start.momentum)
    C0, H0 = start.momentum.norm2(), method.begin(system, start).kinetic(system)
    return {
        "Qy": float(moved.norm() / start.momentum.norm()),
        "C": float(abs(end.momentum.norm2() / C0 - 1)),
        "H": float(abs(end.kinetic(system) / H0 - 1)),
    }


def symmetry_defect(method: Method, h: float = 0.2) -> float:
    """How far a step of h and one of -h, with a load of attitude and time, end from where they began."""
    system, state, program = _system(method, gravity=3.0, shaking=1.0), _start(), _program(method)
    there = program(system, state, 0.3, h, np.zeros(6))[1]
    back = program(system, there, 0.3 + h, -h, np.zeros(6))[1]
    turned = state.attitude.conjugate * back.attitude
    return float(turned.vector.norm() + (back.momentum - state.momentum).norm())
