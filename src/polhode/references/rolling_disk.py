"""A thin disk that rolls on the horizontal plane z = 0, z up.

Attitude R = Rz(ψ) Rx(θ) Ry(φ), so the axis of the disk is R e2 and θ its inclination from the
vertical plane. With p = -θ', q = ψ' cos θ, r = φ' + ψ' sin θ, A the diametral and C the polar
moment of inertia,

    (A + ma²) p' = A q² tan θ - (C + ma²) q r - m g a sin θ
    A q' = C p r - A p q tan θ
    (C + ma²) r' = ma² p q

and the contact moves by (x', y') = a (r - q tan θ)(cos ψ, sin ψ). Neimark and Fufaev, Dynamics
of Nonholonomic Systems (1972), pp. 55-60; the three-field paper, section 5.2, (58), (59).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from polhode.model.checks import InputError, numbers, positive
from polhode.references.ode import solve


@dataclass(frozen=True)
class RollingDisk:
    mass: float = 1.0  # kg
    radius: float = 1.0  # a, m
    diametral: float = 0.25  # A, kg m²
    polar: float = 0.5  # C, kg m²
    gravity: float = 9.81  # m/s², along -z

    def __post_init__(self) -> None:
        for name in ("mass", "radius", "diametral", "polar", "gravity"):
            positive(name, getattr(self, name))

    @property
    def critical_speed(self) -> float:
        """|r| above which straight upright rolling is stable: r² = A m g a/(C (C + ma²)), rad/s."""
        A, C, m, a = self.diametral, self.polar, self.mass, self.radius
        return float(np.sqrt(A * m * self.gravity * a / (C * (C + m * a**2))))


@dataclass(frozen=True)
class DiskStart:
    """State at t = 0: angles in rad, rates in rad/s, contact point in m."""

    theta: float = 0.0
    psi: float = 0.0
    phi: float = 0.0
    p: float = 0.0
    q: float = 0.0
    r: float = 0.0
    x: float = 0.0
    y: float = 0.0

    def __post_init__(self) -> None:
        numbers("start", (self.theta, self.psi, self.phi, self.p, self.q, self.r, self.x, self.y))
        if not abs(self.theta) < np.pi / 2:
            raise InputError(f"theta = {self.theta} rad: the disk lies flat at ±π/2; give |theta| < π/2")


class DiskMotion(NamedTuple):
    """Arrays over the times; vectors on the last axis."""

    theta: np.ndarray
    psi: np.ndarray
    phi: np.ndarray
    p: np.ndarray
    q: np.ndarray
    r: np.ndarray
    x: np.ndarray  # contact point, m
    y: np.ndarray
    position: np.ndarray  # of the centre, in space axes, m
    velocity: np.ndarray  # of the centre, in space axes, m/s
    attitude: np.ndarray  # R, body to space, shape (..., 3, 3)
    omega: np.ndarray  # in body axes, rad/s
    energy: np.ndarray  # J


def motion(disk: RollingDisk, start: DiskStart, times: Any) -> DiskMotion:
    """The motion at `times`, s, from the reduced equations."""
    m, a, A, C, g = disk.mass, disk.radius, disk.diametral, disk.polar, disk.gravity
    Cm = C + m * a**2

    def rate(_: float, state: np.ndarray) -> list[float]:
        theta, psi, _phi, p, q, r, _x, _y = state
        sin, cos = np.sin(theta), np.cos(theta)
        tan = sin / cos
        roll = r - q * tan
        return [
            -p,
            q / cos,
            roll,
            (A * q**2 * tan - Cm * q * r - m * g * a * sin) / (A + m * a**2),
            (C * p * r - A * p * q * tan) / A,
            m * a**2 * p * q / Cm,
            a * roll * np.cos(psi),
            a * roll * np.sin(psi),
        ]

    s = start
    theta, psi, phi, p, q, r, x, y = solve(rate, (s.theta, s.psi, s.phi, s.p, s.q, s.r, s.x, s.y), times)
    position = np.stack(
        [x + a * np.sin(theta) * np.sin(psi), y - a * np.sin(theta) * np.cos(psi), a * np.cos(theta)], -1
    )
    R = attitude(theta, psi, phi)
    forward = np.stack([np.cos(psi), np.sin(psi), np.zeros_like(psi)], -1)
    velocity = a * (r[:, None] * forward + p[:, None] * R[:, :, 1])
    omega = np.stack([-p * np.cos(phi) - q * np.sin(phi), r, q * np.cos(phi) - p * np.sin(phi)], -1)
    kinetic = 0.5 * ((A + m * a**2) * p**2 + A * q**2 + Cm * r**2)
    energy = kinetic + m * g * a * np.cos(theta)
    return DiskMotion(theta, psi, phi, p, q, r, x, y, position, velocity, R, omega, energy)


def attitude(theta: Any, psi: Any, phi: Any) -> np.ndarray:
    """R = Rz(ψ) Rx(θ) Ry(φ), body to space, on the last two axes."""
    ct, st, cp, sp, cf, sf = np.cos(theta), np.sin(theta), np.cos(psi), np.sin(psi), np.cos(phi), np.sin(phi)
    rows = [
        [cp * cf - sp * st * sf, -sp * ct, cp * sf + sp * st * cf],
        [sp * cf + cp * st * sf, cp * ct, sp * sf - cp * st * cf],
        [-ct * sf, st, ct * cf],
    ]
    return np.stack([np.stack(row, -1) for row in rows], -2)


def steady_spin(disk: RollingDisk, theta: float, q: float) -> float:
    """r of the cyclic motion with constant θ and q: (C + ma²) q r = A q² tan θ - m g a sin θ."""
    if q == 0:
        raise InputError("q = 0 is straight rolling, steady for theta = 0 and any r; give q other than 0")
    m, a = disk.mass, disk.radius
    torque = disk.diametral * q**2 * np.tan(theta) - m * disk.gravity * a * np.sin(theta)
    return float(torque / ((disk.polar + m * a**2) * q))


def legendre(product: float, s: Any) -> tuple[np.ndarray, np.ndarray]:
    """P_n(s) and its derivative for real n(n + 1) = `product`, -0.998 <= s <= 1; n itself may be complex.

    P_n(s) = Σ c_k x^k, x = (1 - s)/2, c_{k+1} = c_k (k(k + 1) - n(n + 1))/(k + 1)²: real for n = -1/2 + iτ.
    """
    x = (1 - numbers("s", s)) / 2
    if (x > 0.999).any() or (x < 0).any():
        raise InputError(
            f"s must lie in -0.998 <= s <= 1; got {s!r}. P_n is singular at s = -1, and its series too slow near it: "
            "keep the disk 4° or more from flat"
        )
    value, slope = np.ones_like(x), np.zeros_like(x)
    c, power, k = 1.0, np.ones_like(x), 0
    ratio = float(x.max(initial=0.0))
    while True:
        c *= (k * (k + 1) - product) / (k + 1) ** 2
        slope += (k + 1) * c * power
        power = power * x
        value += c * power
        k += 1
        # What is left of the slope is a geometric series of this ratio.
        if abs(c) * (k + 1) * ratio**k <= 1e-17 * (1 - ratio) * np.abs(slope).min():
            return value, -slope / 2


def spin_of_inclination(disk: RollingDisk, start: DiskStart, theta: Any) -> tuple[np.ndarray, np.ndarray]:
    """(q, r) as functions of θ along a motion: r = c1 P_n(sin θ) + c2 P_n(-sin θ).

    n(n + 1) = -ma²C/(A(C + ma²)), and q = -((C + ma²)/ma²) dr/dθ.
    """
    ma2 = disk.mass * disk.radius**2
    ratio = (disk.polar + ma2) / ma2
    product = -disk.polar / (disk.diametral * ratio)

    def basis(angle: Any) -> np.ndarray:
        s, cos = np.sin(angle), np.cos(angle)
        (P, dP), (N, dN) = legendre(product, s), legendre(product, -s)
        return np.array([[-ratio * cos * dP, ratio * cos * dN], [P, N]])

    c = np.linalg.solve(basis(start.theta), [start.q, start.r])
    q, r = np.einsum("ij...,j->i...", basis(np.asarray(theta, float)), c)
    return q, r
