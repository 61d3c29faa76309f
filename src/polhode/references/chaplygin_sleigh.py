"""Chaplygin's sleigh: a body on a horizontal plane that slides freely, but for a blade that cannot slip sideways.

The blade touches at A and points along the body axis e1; the centre of mass G lies a ahead of A on
that axis. With v the speed of A along e1, ω the rate of the heading θ, and I = J + ma²,

    v' = a ω²,   I ω' = -m a v ω,   θ' = ω,   (x', y')_A = v (cos θ, sin θ),

so m v² + I ω² = m V² is constant and v = V tanh τ, ω = ±V √(m/I) sech τ, τ = τ0 + κt,
κ = m a V/I: every motion ends straight ahead with G in front. θ turns by √(I/ma²) times the
gudermannian of τ; the path is a quadrature. Chaplygin (1911); Neimark and Fufaev (1972).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from polhode.model.checks import numbers, positive
from polhode.references.ode import solve


@dataclass(frozen=True)
class ChaplyginSleigh:
    mass: float = 1.0  # kg
    inertia: float = 0.1  # J about the vertical through G, kg m²
    offset: float = 0.2  # a, of G ahead of the blade, m

    def __post_init__(self) -> None:
        for name in ("mass", "inertia", "offset"):
            positive(name, getattr(self, name))


@dataclass(frozen=True)
class SleighStart:
    """State at t = 0: blade at (x, y), m; heading, rad; speed of the blade along itself, m/s; omega, rad/s."""

    speed: float = -1.0
    omega: float = 0.5
    heading: float = 0.0
    x: float = 0.0
    y: float = 0.0

    def __post_init__(self) -> None:
        numbers("start", (self.speed, self.omega, self.heading, self.x, self.y))


class SleighMotion(NamedTuple):
    """Arrays over the times."""

    speed: np.ndarray  # v of the blade along e1, m/s
    omega: np.ndarray  # rad/s
    heading: np.ndarray  # θ, rad, from the x axis
    x: np.ndarray  # of the blade, m
    y: np.ndarray
    position: np.ndarray  # (x, y) of the centre of mass, m, on the last axis
    energy: np.ndarray  # kinetic, J


def motion(sleigh: ChaplyginSleigh, start: SleighStart, times: Any) -> SleighMotion:
    """The motion at `times`, s: speeds and heading in closed form, the path by quadrature."""
    m, a = sleigh.mass, sleigh.offset
    I = sleigh.inertia + m * a**2

    def rates(t: Any) -> tuple[Any, Any, Any]:
        if start.omega == 0:
            return start.speed + 0 * t, 0 * t, start.heading + 0 * t
        V = np.hypot(start.speed, start.omega * np.sqrt(I / m))
        tau0 = np.arcsinh(start.speed * np.sqrt(m / I) / abs(start.omega))
        tau, sign = tau0 + m * a * V / I * t, np.sign(start.omega)
        sech = 2 * np.exp(-abs(tau)) / (1 + np.exp(-2 * abs(tau)))
        turn = sign * np.sqrt(I / m) / a * 2 * (np.arctan(np.tanh(tau / 2)) - np.arctan(np.tanh(tau0 / 2)))
        return V * np.tanh(tau), sign * V * np.sqrt(m / I) * sech, start.heading + turn

    def drift(t: float, _: np.ndarray) -> list[float]:
        v, _w, theta = rates(t)
        return [v * np.cos(theta), v * np.sin(theta)]

    x, y = solve(drift, [start.x, start.y], times)
    v, omega, theta = rates(numbers("times", times))
    position = np.stack([x + a * np.cos(theta), y + a * np.sin(theta)], -1)
    return SleighMotion(v, omega, theta, x, y, position, 0.5 * (m * v**2 + I * omega**2))
