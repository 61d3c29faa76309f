"""A knife edge (a skate) on an inclined plane, touching under its centre of mass: a closed form.

Axes of the plane: x down the slope, y across, n = x × y away from it; the slope is α. The blade
points along (cos θ, sin θ) and cannot slip sideways, so the velocity is v (cos θ, sin θ) and

    θ' = ω constant,   v' = g sin α cos θ.

With S = g sin α, Δ = ωt, μ = θ0 + Δ/2 and c = (sin θ - sin θ0)/ω = t cos μ sinc(Δ/2),

    v = v0 + S c,   x = x0 + v0 c + ½ S c²,
    y = y0 + v0 t sin μ sinc(Δ/2) + S t² [(Δ - sin Δ)/(2Δ²) + ¼ sin 2μ sinc²(Δ/2)],

regular at ω = 0. Started at rest it does not run down: it moves along a cycloid, across the
slope. Bloch, Nonholonomic Mechanics and Control (2003), ch. 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from polhode.model.checks import InputError, numbers, positive

_SERIES_BELOW = 0.1  # of |Δ|: above, Δ - sin Δ has lost three digits at most


@dataclass(frozen=True)
class KnifeEdge:
    mass: float = 1.0  # kg
    inertia: float = 0.1  # about the normal of the plane through the centre of mass, kg m²
    slope: float = np.pi / 6  # α, rad
    gravity: float = 9.81  # m/s²

    def __post_init__(self) -> None:
        positive("mass", self.mass)
        positive("inertia", self.inertia)
        if not 0 <= self.slope <= np.pi / 2:
            raise InputError(f"slope = {self.slope} rad; give an angle from 0 (level) to π/2 (upright)")

    @property
    def gravity_vector(self) -> np.ndarray:
        """In the axes (x, y, n) of the plane, m/s²."""
        return self.gravity * np.array([np.sin(self.slope), 0.0, -np.cos(self.slope)])


@dataclass(frozen=True)
class KnifeStart:
    """State at t = 0: (x, y) on the plane, m; heading θ, rad; speed along the blade, m/s; omega, rad/s."""

    speed: float = 0.0
    omega: float = 1.0
    heading: float = 0.0
    x: float = 0.0
    y: float = 0.0

    def __post_init__(self) -> None:
        numbers("start", (self.speed, self.omega, self.heading, self.x, self.y))


class KnifeMotion(NamedTuple):
    """Arrays over the times."""

    x: np.ndarray  # down the slope, m
    y: np.ndarray  # across, m
    heading: np.ndarray  # θ, rad
    speed: np.ndarray  # along the blade, m/s
    side_force: np.ndarray  # of the plane on the blade, along (-sin θ, cos θ), N
    energy: np.ndarray  # kinetic and -m g sin α x, J


def _excess(delta: np.ndarray) -> np.ndarray:
    """(Δ - sin Δ)/Δ²."""
    small = np.abs(delta) < _SERIES_BELOW
    d = np.where(small, 1.0, delta)
    s = delta**2
    series = delta / 6 * (1 - s / 20 * (1 - s / 42 * (1 - s / 72 * (1 - s / 110))))
    return np.where(small, series, (d - np.sin(d)) / d**2)


def motion(edge: KnifeEdge, start: KnifeStart, times: Any) -> KnifeMotion:
    """The exact motion at `times` (any real numbers), s."""
    t = numbers("times", times)
    S = edge.gravity * np.sin(edge.slope)
    delta = start.omega * t
    mu, theta = start.heading + delta / 2, start.heading + delta
    sinc = np.sinc(delta / (2 * np.pi))
    c = t * np.cos(mu) * sinc
    v = start.speed + S * c
    x = start.x + start.speed * c + 0.5 * S * c**2
    y = start.y + start.speed * t * np.sin(mu) * sinc
    y = y + S * t**2 * (0.5 * _excess(delta) + 0.25 * np.sin(2 * mu) * sinc**2)
    side = edge.mass * (v * start.omega + S * np.sin(theta))
    energy = 0.5 * (edge.mass * v**2 + edge.inertia * start.omega**2) - edge.mass * S * x
    return KnifeMotion(x, y, theta, v, side, energy)
