"""The geometry of one step, from its Jacobian: Poisson, symplectic, symmetric.

The step is seen in body coordinates of T*SO(3): R = R₀ exp(ξ), Π = Π₀ + η. There the
canonical form at Π is ω((ξ, η), (ξ', η')) = ξ·η' - ξ'·η + Π·(ξ × ξ').
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from polhode.algebra import Quaternion, Vec3
from polhode.methods import Method
from polhode.rotation import Rotation, State
from polhode.verify.motion import Motion, motion_of
from polhode.verify.trials import BODY, FREE, START, trials_for

STEPS = (1.0, 0.7, 0.4, 0.2)  # the longest that can be solved: there the defects of high orders show
# Differences, by the program that every other measurement takes its steps with: one of derivatives compiles for longer
# than all of them together. Measured against it, Jacobians are 4e-14 to 2e-13 off.
_APART = 0.01
_WEIGHTS = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])  # of f(x + kδ) - f(x - kδ), over δ: of order 8
_FEWER = np.array([3 / 4, -3 / 20, 1 / 60, 0.0])  # of order 6
_ALIKE = 1e-10  # the two, where those of order 8 are at round-off; some steps bend sharply where they just are solved


def _start() -> State:
    return START.on(BODY)


@dataclass(frozen=True)
class LongStep:
    """One step, the longest of STEPS that is solved and smooth: its Jacobian (6, 6), and the state after it."""

    jacobian: np.ndarray
    end: Any


def _moved(z: np.ndarray) -> State:
    """The start, turned by exp(ξ) and pushed by η."""
    start, angle = _start(), np.linalg.norm(z[:3])
    turn = Quaternion(np.cos(angle / 2), *(0.5 * np.sinc(angle / (2 * np.pi)) * z[:3]))
    return State(start.attitude * turn, start.momentum + Vec3.of(z[3:]))


def _coordinates(state: State, end: State) -> np.ndarray:
    """(ξ, Π) of a state near `end`."""
    q = np.asarray((end.attitude.conjugate * state.attitude).array)
    size = np.linalg.norm(q[1:])
    turned = (2 * np.arctan2(size, q[0]) / size if size else 2.0) * q[1:]
    return np.concatenate([turned, np.asarray(state.momentum.array)])


def _differences(motion: Motion, h: float) -> LongStep | None:
    """None where a step is not solved, or not smooth."""
    end, solved = motion.step(_moved(np.zeros(6)), h)
    apart = np.empty((6, len(_WEIGHTS), 6))
    for column, k in np.ndindex(apart.shape[:2]):
        offset = (k + 1) * _APART * np.eye(6)[column]
        (up, above), (down, below) = (motion.step(_moved(z), h) for z in (offset, -offset))
        if not (solved and above and below):
            return None
        apart[column, k] = _coordinates(up, end) - _coordinates(down, end)
    jacobian, fewer = (np.einsum("k,cki->ic", weights, apart) / _APART for weights in (_WEIGHTS, _FEWER))
    return LongStep(jacobian, end) if np.abs(jacobian - fewer).max() < _ALIKE else None


@cache
def long_step(method: Method, *, heavy: bool) -> LongStep:
    """Of an asymmetric heavy top, or of the free body."""
    motion = motion_of(method, (trials_for(method.traits.loads)[1] if heavy else FREE).problem)
    found = (_differences(motion, h) for h in STEPS)
    return next((step for step in found if step is not None), LongStep(np.full((6, 6), np.nan), motion.start))


def _skew(v: np.ndarray) -> np.ndarray:
    return Vec3.of(v).skew().array


def _form(Pi: np.ndarray) -> np.ndarray:
    """The matrix of ω at Π."""
    return np.block([[-_skew(Pi), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])


def _momenta(step: LongStep) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(_start().momentum.array), np.asarray(step.end.momentum.array)


def poisson_defect(method: Method) -> float:
    """‖A skew(Π₀) Aᵀ - skew(Π₁)‖, A = ∂Π₁/∂Π₀ on the free body: zero for a Poisson map."""
    step = long_step(method, heavy=False)
    A, (Pi0, Pi1) = step.jacobian[3:, 3:], _momenta(step)
    return float(np.abs(A @ _skew(Pi0) @ A.T - _skew(Pi1)).max())


def symplectic_defect(method: Method) -> float:
    """‖Jᵀ ω(Π₁) J - ω(Π₀)‖, on the heavy top if the method takes a load: zero for a symplectic map."""
    step = long_step(method, heavy=method.traits.loads != "none")
    J, (Pi0, Pi1) = step.jacobian, _momenta(step)
    return float(np.abs(J.T @ _form(Pi1) @ J - _form(Pi0)).max())


def invariant_defects(method: Method) -> dict[str, float]:
    """Relative changes of Qy, C and H in one long step of the free body."""
    system, start, end = Rotation(BODY), _start(), long_step(method, heavy=False).end
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
    trial = trials_for(method.traits.loads)[2] if method.traits.loads != "none" else FREE
    motion = motion_of(method, trial.problem)
    there = motion.run(h, 1, 1, t0=0.3)
    back = motion.run(-h, 1, 1, start=there.last_state, t0=0.3 + h)
    if not (there.ok and back.ok):
        return float("nan")
    start, end = motion.start, back.last_state
    turned = start.attitude.conjugate * end.attitude
    return float(turned.vector.norm() + (end.momentum - start.momentum).norm())
