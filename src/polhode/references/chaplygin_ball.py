"""Chaplygin's ball: unequal moments of inertia, centre of mass at the centre, rolling on z = 0, z up.

With γ = Rᵀ e_z the vertical in body axes, J the moments of inertia and D = m a², the angular
momentum about the contact point, in body axes,

    K = J ω + D γ × (ω × γ),   K' = K × ω,   γ' = γ × ω,

so that R K is constant in space, and ω = A (K + D γ (γ·AK)/(1 - D γ·Aγ)) with A = (J + D)⁻¹.
The energy ½ K·ω is constant too. Chaplygin, Math. Sbornik 24 (1903); Borisov and Mamaev,
Math. Notes 70 (2001) 720-723. The centre moves by (x', y') = a (ω_y, -ω_x), ω in space axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from polhode.model.checks import InputError, numbers, positive, unit_quaternion
from polhode.references import attitude
from polhode.references.ode import solve


@dataclass(frozen=True)
class ChaplyginBall:
    mass: float = 1.0  # kg
    radius: float = 0.3  # a, m
    moments: tuple[float, float, float] = (0.02, 0.03, 0.04)  # principal, about the centre, kg m²

    def __post_init__(self) -> None:
        positive("mass", self.mass)
        positive("radius", self.radius)
        J = numbers("moments", self.moments, (3,))
        if (J <= 0).any() or 2 * J.max() > J.sum() * (1 + 1e-12):
            raise InputError(f"moments must be positive and each at most the sum of the others; got {self.moments!r}")


@dataclass(frozen=True)
class BallStart:
    """State at t = 0: attitude as quaternion (w, x, y, z), body to space; ω in body axes, rad/s; centre (x, y), m."""

    omega: tuple[float, float, float] = (1.0, 2.0, 3.0)
    quaternion: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    x: float = 0.0
    y: float = 0.0


class BallMotion(NamedTuple):
    """Arrays over the times; vectors on the last axis."""

    quaternion: np.ndarray  # (w, x, y, z), body to space
    attitude: np.ndarray  # R, body to space, (..., 3, 3)
    omega: np.ndarray  # body axes, rad/s
    position: np.ndarray  # of the centre, space axes, m
    velocity: np.ndarray  # of the centre, space axes, m/s
    contact_momentum: np.ndarray  # R K, about the contact point, space axes, kg m²/s
    energy: np.ndarray  # kinetic, J


def _omega(ball: ChaplyginBall, gamma: np.ndarray, K: np.ndarray) -> np.ndarray:
    D = ball.mass * ball.radius**2
    A = 1 / (np.asarray(ball.moments) + D)
    along = (gamma * A * K).sum(-1, keepdims=True) / (1 - D * (gamma * A * gamma).sum(-1, keepdims=True))
    return A * (K + D * gamma * along)


def motion(ball: ChaplyginBall, start: BallStart, times: Any) -> BallMotion:
    """The motion at `times`, s."""
    D = ball.mass * ball.radius**2
    omega0 = numbers("omega", start.omega, (3,))
    q0 = unit_quaternion("quaternion", start.quaternion)
    gamma0 = attitude.matrix(q0)[2]
    K0 = np.asarray(ball.moments) * omega0 + D * (omega0 - gamma0 * (gamma0 @ omega0))

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        q, K = y[:4], y[4:7]
        R = attitude.matrix(q)
        omega = _omega(ball, R[2], K)
        wx, wy, _wz = R @ omega
        return np.concatenate(
            [attitude.rate(q, omega), attitude.cross_matrix(K) @ omega, (ball.radius * wy, -ball.radius * wx)]
        )

    y = solve(rate, [*q0, *K0, start.x, start.y], times).T
    R, K = attitude.matrix(y[:, :4]), y[:, 4:7]
    omega = _omega(ball, R[:, 2], K)
    w = np.einsum("nij,nj->ni", R, omega)
    return BallMotion(
        quaternion=y[:, :4] / np.linalg.norm(y[:, :4], axis=1)[:, None],
        attitude=R,
        omega=omega,
        position=np.column_stack([y[:, 7:9], np.full(len(y), ball.radius)]),
        velocity=ball.radius * np.column_stack([w[:, 1], -w[:, 0], np.zeros(len(y))]),
        contact_momentum=np.einsum("nij,nj->ni", R, K),
        energy=0.5 * (K * omega).sum(1),
    )
