"""Two bodies on hinges that are not parallel, in two coordinates: the angles q₁ and q₂ of the hinges.

Hinge 1 holds body 1 to the origin, about an axis a₁ of space; hinge 2 joins body 2 to body 1 at its elbow, about an
axis a₂ of body 1. R₁ = exp(q₁ a₁), R₂ = R₁ exp(q₂ a₂); gravity along -z. With Jv and Jω the slopes of velocities and
angular velocities by the rates of the angles,

    M q̈ = Σ Jvᵀ m (g - b) - Jωᵀ (J β + ω × Jω),   M = Σ m JvᵀJv + Jωᵀ J Jω,

b and β the accelerations of each body for q̈ = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from polhode.references.ode import solve


@dataclass(frozen=True)
class DoublePendulum:
    masses: tuple[float, float] = (1.0, 0.7)  # kg
    moments: tuple[tuple[float, float, float], ...] = ((0.1, 0.08, 0.03), (0.05, 0.06, 0.04))  # kg m², body axes
    axes: tuple[tuple[float, float, float], ...] = ((1.0, 0.0, 0.0), (0.6, 0.8, 0.0))  # a₁, a₂, of length 1
    centres: tuple[tuple[float, float, float], ...] = ((0.0, 0.1, -0.5), (0.4, 0.0, -0.3))  # from hinges 1 and 2, m
    elbow: tuple[float, float, float] = (0.0, 0.3, -1.0)  # hinge 2 from hinge 1, in body 1, m
    gravity: float = 9.81  # m/s²


class Bodies(NamedTuple):
    """Of both bodies, at one time."""

    centres: np.ndarray  # (2, 3), m
    rotations: np.ndarray  # (2, 3, 3), body to space
    velocities: np.ndarray  # (2, 3), m/s
    omegas: np.ndarray  # (2, 3), body axes, rad/s
    elbow: np.ndarray  # m
    hinge: np.ndarray  # a₂ in space axes


class _Slopes(NamedTuple):
    velocities: np.ndarray  # (2, 3, 2)
    omegas: np.ndarray  # (2, 3, 2), space axes


def _placed(p: DoublePendulum, q: Any) -> tuple[Any, Any, Any, Any, _Slopes]:
    """Rotations, centres from their hinges, elbow, a₂ (all in space axes), and slopes."""
    a1, a2 = np.array(p.axes)
    R1 = Rotation.from_rotvec(q[0] * a1).as_matrix()
    R2 = R1 @ Rotation.from_rotvec(q[1] * a2).as_matrix()
    arms = np.array([R1 @ p.centres[0], R2 @ p.centres[1]])
    elbow, hinge, none = R1 @ p.elbow, R1 @ a2, np.zeros(3)
    of_omega = np.array([np.stack([a1, none], -1), np.stack([a1, hinge], -1)])
    of_v = np.array(
        [
            np.stack([np.cross(a1, arms[0]), none], -1),
            np.stack([np.cross(a1, elbow + arms[1]), np.cross(hinge, arms[1])], -1),
        ]
    )
    return np.array([R1, R2]), arms, elbow, hinge, _Slopes(of_v, of_omega)


def bodies(pendulum: DoublePendulum, angles: Any, rates: Any) -> Bodies:
    R, arms, elbow, hinge, slopes = _placed(pendulum, angles)
    omegas = np.einsum("bji,bjk,k->bi", R, slopes.omegas, np.asarray(rates, float))
    centres = np.array([arms[0], elbow + arms[1]])
    return Bodies(centres, R, slopes.velocities @ np.asarray(rates, float), omegas, elbow, hinge)


def _accelerations(p: DoublePendulum, q: np.ndarray, rates: np.ndarray) -> np.ndarray:
    R, arms, elbow, hinge, slopes = _placed(p, q)
    w1, w2 = slopes.omegas @ rates
    beta = np.cross(w1, hinge * rates[1])
    held = np.array(
        [
            np.cross(w1, np.cross(w1, arms[0])),
            np.cross(w1, np.cross(w1, elbow)) + np.cross(beta, arms[1]) + np.cross(w2, np.cross(w2, arms[1])),
        ]
    )
    M, force = np.zeros((2, 2)), np.zeros(2)
    for i, (w, bias) in enumerate(((w1, np.zeros(3)), (w2, beta))):
        J = R[i] @ np.diag(p.moments[i]) @ R[i].T
        Jv, Jw = slopes.velocities[i], slopes.omegas[i]
        M += p.masses[i] * Jv.T @ Jv + Jw.T @ J @ Jw
        force += p.masses[i] * Jv.T @ (np.array([0, 0, -p.gravity]) - held[i])
        force -= Jw.T @ (J @ bias + np.cross(w, J @ w))
    return np.linalg.solve(M, force)


def motion(pendulum: DoublePendulum, times: Any, *, angles: Any, rates: Any) -> list[Bodies]:
    """Where the bodies are at `times`, s, from angles, rad, and rates, rad/s, at t = 0."""

    def law(_: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[2:], _accelerations(pendulum, y[:2], y[2:])])

    found = solve(law, [*angles, *rates], times)
    return [bodies(pendulum, y[:2], y[2:]) for y in found.T]
