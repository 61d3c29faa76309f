"""The geometry of one step, from its Jacobian: Poisson, symplectic, symmetric.

The step is seen in body coordinates of T*SO(3): R = R₀ exp(ξ), Π = Π₀ + η. There the
canonical form at Π is ω((ξ, η), (ξ', η')) = ξ·η' - ξ'·η + Π·(ξ × ξ').
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._programs import compiler_options
from polhode.algebra import Vec3, exp, log
from polhode.methods import Method, Step
from polhode.rotation import Potential, Rotation, State
from polhode.verify.motion import motion_of
from polhode.verify.trials import BODY, FREE, SHAKEN, START, WEIGHT

STEPS = (1.0, 0.7, 0.4, 0.2)  # the longest that can be solved: there the defects of high orders show


def _start() -> State:
    return jax.tree.map(jnp.asarray, START.on(BODY))


@dataclass(frozen=True)
class LongStep:
    """One step, the longest of STEPS that is solved: its Jacobian (6, 6), and the state after it."""

    jacobian: np.ndarray
    end: Any


@cache
def _columns(method: Method) -> Callable[[float, float], Any]:
    """Of h and of how heavy a top it is: columns of the Jacobian of a step, states after it, whether it was solved."""
    start = _start()

    def step(z: Any, h: Any, weight: Any) -> Step:
        gravity = Potential(lambda R: weight * R.m33) if method.traits.loads != "none" else None
        moved = State(start.attitude * exp(Vec3.of(z[:3])), start.momentum + Vec3.of(z[3:]))
        return method.step(Rotation(BODY, gravity), moved, 0.0, h)

    @partial(jax.jit, compiler_options=compiler_options(briefly=True))
    def columns(h: Any, weight: Any) -> Any:
        def coordinates(z: Any) -> Any:
            result = step(z, h, weight)
            base = jax.tree.map(jax.lax.stop_gradient, result.state.attitude)
            turned = log(base.conjugate * result.state.attitude).array
            return jnp.concatenate([turned, result.state.momentum.array]), (result.state, result.report.converged)

        def column(direction: Any) -> Any:
            _, slope, after = jax.jvp(coordinates, (jnp.zeros(6),), (direction,), has_aux=True)
            return slope, *after

        # A loop, of which XLA makes one native function: without one it compiles for twice as long.
        return jax.lax.map(column, jnp.eye(6))

    return columns


@cache
def long_step(method: Method, weight: float) -> LongStep:
    """Of the free body, or of an asymmetric heavy top of this weight."""
    for h in STEPS:
        columns, states, solved = _columns(method)(h, weight)
        if np.all(solved):
            break
    return LongStep(np.asarray(columns).T, jax.tree.map(lambda x: np.asarray(x)[0], states))


def _skew(v: np.ndarray) -> np.ndarray:
    return Vec3.of(v).skew().array


def _form(Pi: np.ndarray) -> np.ndarray:
    """The matrix of ω at Π."""
    return np.block([[-_skew(Pi), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])


def _momenta(step: LongStep) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(_start().momentum.array), np.asarray(step.end.momentum.array)


def poisson_defect(method: Method) -> float:
    """‖A skew(Π₀) Aᵀ - skew(Π₁)‖, A = ∂Π₁/∂Π₀ on the free body: zero for a Poisson map."""
    step = long_step(method, 0.0)
    A, (Pi0, Pi1) = step.jacobian[3:, 3:], _momenta(step)
    return float(np.abs(A @ _skew(Pi0) @ A.T - _skew(Pi1)).max())


def symplectic_defect(method: Method) -> float:
    """‖Jᵀ ω(Π₁) J - ω(Π₀)‖, on the heavy top if the method takes a load: zero for a symplectic map."""
    step = long_step(method, WEIGHT if method.traits.loads != "none" else 0.0)
    J, (Pi0, Pi1) = step.jacobian, _momenta(step)
    return float(np.abs(J.T @ _form(Pi1) @ J - _form(Pi0)).max())


def invariant_defects(method: Method) -> dict[str, float]:
    """Relative changes of Qy, C and H in one long step of the free body."""
    system, start, end = Rotation(BODY), _start(), long_step(method, 0.0).end
    moved = end.attitude.rotate(end.momentum) - start.attitude.rotate(start.momentum)
    C0, H0 = start.momentum.norm2(), method.begin(system, start).kinetic(system)
    return {
        "Qy": float(moved.norm() / start.momentum.norm()),
        "C": float(abs(end.momentum.norm2() / C0 - 1)),
        "H": float(abs(end.kinetic(system) / H0 - 1)),
    }


def symmetry_defect(method: Method, h: float = 0.2) -> float:
    """How far a step of h and one of -h, under gravity and a torque of time if the method takes loads, end from where
    they began."""
    trial = SHAKEN if method.traits.loads != "none" else FREE
    motion = motion_of(method, trial.problem)
    there = motion.run(h, 1, 1, t0=0.3)
    back = motion.run(-h, 1, 1, start=there.last_state, t0=0.3 + h)
    if not (there.ok and back.ok):
        return float("nan")
    start, end = motion.start, back.last_state
    turned = start.attitude.conjugate * end.attitude
    return float(turned.vector.norm() + (end.momentum - start.momentum).norm())
