"""The physical pendulum, exact for any start, by Jacobi's elliptic functions.

It swings in the x-y plane about the z axis through the origin, gravity along -y. θ is the angle
from hanging: the centre of mass is at l (sin θ, -cos θ). With Ω² = m g l/(J + m l²) and
k² = sin²(θ0/2) + θ0'²/(4Ω²),

    k < 1, swinging:  sin(θ/2) = k sn(Ωt + u0, k),   θ' = 2Ωk cn
    k > 1, turning:   θ/2 = ± am(kΩt + u0, 1/k),      θ' = ± 2Ωk dn.

Whittaker, Analytical Dynamics, 4th ed. (1937).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ellipj, ellipkinc, ellipkm1

from polhode.model.checks import InputError, numbers, positive

_NEAR_SEPARATRIX = 1e-6  # of |k² - 1|: there scipy's ellipj takes a short series, and every motion is ill conditioned


@dataclass(frozen=True)
class Pendulum:
    mass: float = 1.0  # kg
    length: float = 0.5  # l, from the pivot to the centre of mass, m
    inertia: float = 0.02  # J about the centre of mass, kg m²; 0 for a point mass
    gravity: float = 9.81  # m/s², along -y

    def __post_init__(self) -> None:
        for name in ("mass", "length", "gravity"):
            positive(name, getattr(self, name))
        if not self.inertia >= 0:
            raise InputError(f"inertia must be 0 or more; got {self.inertia!r}")

    @property
    def frequency(self) -> float:
        """Ω of small swings, rad/s."""
        m, l = self.mass, self.length
        return float(np.sqrt(m * self.gravity * l / (self.inertia + m * l**2)))


class PendulumMotion(NamedTuple):
    """Arrays over the times."""

    angle: np.ndarray  # θ, rad, not wrapped
    rate: np.ndarray  # θ', rad/s
    acceleration: np.ndarray  # θ'', rad/s²
    position: np.ndarray  # (x, y) of the centre of mass, m, on the last axis
    force: np.ndarray  # (x, y) of the pivot on the body, N, on the last axis
    energy: np.ndarray  # kinetic and m g y, J


def modulus_squared(pendulum: Pendulum, angle: float, rate: float) -> float:
    """k²: below 1 the pendulum swings, above it turns over."""
    return float(np.sin(angle / 2) ** 2 + (rate / (2 * pendulum.frequency)) ** 2)


def period(pendulum: Pendulum, angle: float, rate: float = 0.0) -> float:
    """The time of one full swing, 4K(k)/Ω, or of one turn, 2K(1/k)/(kΩ), s."""
    k2 = _regular(pendulum, angle, rate)
    if k2 < 1:
        return float(4 * ellipkm1(1 - k2) / pendulum.frequency)
    return float(2 * ellipkm1(1 - 1 / k2) / (np.sqrt(k2) * pendulum.frequency))


def motion(pendulum: Pendulum, times: Any, *, angle: float, rate: float = 0.0) -> PendulumMotion:
    """The exact motion at `times` (any real numbers), s, from `angle`, rad, and `rate`, rad/s, at t = 0."""
    t, Omega = numbers("times", times), pendulum.frequency
    k2 = _regular(pendulum, angle, rate)
    k = np.sqrt(k2)
    turns = 2 * np.pi * np.round(angle / (2 * np.pi))
    half = (angle - turns) / 2
    if k2 == 0:
        theta, omega = np.full_like(t, angle), np.zeros_like(t)
    elif k2 < 1:
        u0 = ellipkinc(np.arctan2(np.sin(half), rate / (2 * Omega)), k2)
        sn, cn, _, _ = ellipj(Omega * t + u0, k2)
        theta, omega = turns + 2 * np.arcsin(k * sn), 2 * Omega * k * cn
    else:
        sign = np.sign(rate)
        sn, cn, _, am = ellipj(k * Omega * t + ellipkinc(sign * half, 1 / k2), 1 / k2)
        dn = np.sqrt(cn**2 + (1 - 1 / k2) * sn**2)  # scipy's own loses digits where cn is small
        theta, omega = turns + 2 * sign * am, 2 * Omega * k * sign * dn
    m, l, g = pendulum.mass, pendulum.length, pendulum.gravity
    sin, cos = np.sin(theta), np.cos(theta)
    alpha = -(Omega**2) * sin
    pull = np.stack([alpha * cos - omega**2 * sin, alpha * sin + omega**2 * cos], -1)
    return PendulumMotion(
        angle=theta,
        rate=omega,
        acceleration=alpha,
        position=l * np.stack([sin, -cos], -1),
        force=m * l * pull + np.array([0, m * g]),
        energy=0.5 * (pendulum.inertia + m * l**2) * omega**2 - m * g * l * cos,
    )


def _regular(pendulum: Pendulum, angle: float, rate: float) -> float:
    numbers("start", (angle, rate))
    k2 = modulus_squared(pendulum, angle, rate)
    if abs(k2 - 1) < _NEAR_SEPARATRIX:
        raise InputError(
            f"angle = {angle}, rate = {rate} lies on the separatrix (k² - 1 = {k2 - 1:.1e}; at least "
            f"{_NEAR_SEPARATRIX:.0e} in size is allowed), where the period is infinite; change the start a little"
        )
    return k2
