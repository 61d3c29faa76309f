"""A rattleback: an ellipsoid whose axes of inertia are turned from its axes of shape, on z = 0, z up.

In body axes (those of the shape), with γ the vertical, D = diag(a², b², c²), the centre of the
ellipsoid h above the centre of mass, and ρ the arm from the centre of mass to the contact,

    ρ = h e3 - Dγ/√(γ·Dγ),   v = ρ × ω,   γ' = γ × ω,
    J ω' + ω × Jω = ρ × F,   F = m (v' + ω × v + g γ).

Kane and Levinson, Int. J. Non-Linear Mech. 17 (1982) 175-186. With the defaults, a spin of
-5 rad/s starts to rattle, stops, and turns back; one of +5 rad/s goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from polhode.model.checks import InputError, numbers, positive, unit_quaternion
from polhode.references import attitude
from polhode.references.ode import solve


@dataclass(frozen=True)
class Rattleback:
    mass: float = 1.0  # kg
    semi_axes: tuple[float, float, float] = (0.2, 0.03, 0.02)  # a, b, c of the ellipsoid, m
    offset: float = 0.01  # h, of the centre of the ellipsoid above the centre of mass, m
    moments: tuple[float, float, float] = (2e-4, 1.6e-3, 1.7e-3)  # Jxx, Jyy, Jzz about the centre of mass, kg m²
    product: float = -2e-5  # Jxy, the element of the matrix, kg m²
    gravity: float = 9.81  # m/s², along -z

    def __post_init__(self) -> None:
        positive("mass", self.mass)
        for name in ("semi_axes", "moments"):
            values = numbers(name, getattr(self, name), (3,))
            if (values <= 0).any():
                raise InputError(f"{name} must be three positive numbers; got {getattr(self, name)!r}")
        principal = np.linalg.eigvalsh(self.inertia)
        if principal[0] <= 0 or principal[2] > principal[:2].sum() * (1 + 1e-12):
            raise InputError(
                f"no body has the inertia {self.inertia.tolist()}: its principal moments {principal} must be "
                "positive, each at most the sum of the others; make the product smaller"
            )

    @property
    def inertia(self) -> np.ndarray:
        """J about the centre of mass in body axes, kg m²."""
        J = np.diag(self.moments).astype(float)
        J[0, 1] = J[1, 0] = self.product
        return J


@dataclass(frozen=True)
class RattlebackStart:
    """State at t = 0: attitude as quaternion (w, x, y, z), body to space; ω in body axes, rad/s; (x, y) of G, m."""

    omega: tuple[float, float, float] = (0.0, 0.0, -5.0)
    quaternion: tuple[float, float, float, float] = (np.cos(0.005), np.sin(0.005), 0.0, 0.0)
    x: float = 0.0
    y: float = 0.0


class RattlebackMotion(NamedTuple):
    """Arrays over the times; vectors on the last axis."""

    quaternion: np.ndarray  # (w, x, y, z), body to space
    attitude: np.ndarray  # R, body to space, (..., 3, 3)
    omega: np.ndarray  # body axes, rad/s
    spin: np.ndarray  # vertical component of ω, rad/s
    position: np.ndarray  # of the centre of mass, space axes, m
    velocity: np.ndarray  # of the centre of mass, space axes, m/s
    contact: np.ndarray  # contact point, space axes, m
    force: np.ndarray  # of the ground on the body, space axes, N
    energy: np.ndarray  # J


Law = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]


def _law(stone: Rattleback) -> Law:
    """The function of (γ, ω) that gives (ρ, v, ω', F), all in body axes."""
    m, g, J = stone.mass, stone.gravity, stone.inertia
    D, centre = np.square(stone.semi_axes), np.array([0, 0, stone.offset])
    cross = attitude.cross_matrix

    def law(gamma: np.ndarray, omega: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        W, Dg = cross(omega), D * gamma
        Dg_rate = -D * (W @ gamma)
        n2 = gamma @ Dg
        n = np.sqrt(n2)
        rho = centre - Dg / n
        rho_rate = (Dg * (gamma @ Dg_rate / n2) - Dg_rate) / n
        S = cross(rho)
        v = S @ omega
        known = m * (W @ (v - rho_rate) + g * gamma)
        alpha = np.linalg.solve(J - m * (S @ S), S @ known - W @ (J @ omega))
        return rho, v, alpha, known + m * (S @ alpha)

    return law


def motion(stone: Rattleback, start: RattlebackStart, times: Any) -> RattlebackMotion:
    """The motion at `times`, s; the ground is taken to hold the body: see that force[..., 2] stays positive."""

    law = _law(stone)

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        q, omega = y[:4], y[4:7]
        R = attitude.matrix(q)
        _rho, v, alpha, _F = law(R[2], omega)
        return np.concatenate([attitude.rate(q, omega), alpha, (R @ v)[:2]])

    q0 = unit_quaternion("quaternion", start.quaternion)
    y = solve(rate, [*q0, *numbers("omega", start.omega, (3,)), start.x, start.y], times).T
    R, omega = attitude.matrix(y[:, :4]), y[:, 4:7]
    rows = [law(r[2], w) for r, w in zip(R, omega, strict=True)]
    rho, v, _, F = (np.array(part) for part in zip(*rows, strict=True))
    arm, velocity, force = (np.einsum("nij,nj->ni", R, part) for part in (rho, v, F))
    position = np.column_stack([y[:, 7:9], -arm[:, 2]])
    kinetic = 0.5 * (stone.mass * (v**2).sum(1) + np.einsum("ni,ij,nj->n", omega, stone.inertia, omega))
    return RattlebackMotion(
        quaternion=y[:, :4] / np.linalg.norm(y[:, :4], axis=1)[:, None],
        attitude=R,
        omega=omega,
        spin=(R[:, 2] * omega).sum(1),
        position=position,
        velocity=velocity,
        contact=position + arm,
        force=force,
        energy=kinetic + stone.mass * stone.gravity * position[:, 2],
    )
