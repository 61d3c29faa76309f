"""A flyball governor with springs and dampers for couplers, in minimal coordinates; gravity along -z.

A shaft turns freely about z. Two rods with balls at their ends hang on hinges at its top, a to either side, at an
angle β below the horizontal, and mirror each other; a slider at height s turns with the shaft. A spring with a damper
joins the middle of each rod to the slider, a to that side. The angle of the shaft is cyclic, J(β) φ̇ = p, so that

    2 I β̈ = ½ J' φ̇² - ∂V/∂β - 2 F ∂l/∂β,   m s̈ = -∂V/∂s - 2 F ∂l/∂s,   F = K (l - l0) + C l̇

with I of a rod and its ball about the hinge, l the length of a spring, V of the weight. With the library's K and C
these are stiff (rates of 2e4 and 20 1/s beside swings of 6 rad/s), and the explicit solver takes short steps.

Data: IFToMM Library of Computational Benchmark Problems, "Stiff flyball governor" (A05 of González, Dopico, Luaces,
Cuadrado 2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, hypot, sin
from typing import Any, NamedTuple

import numpy as np

from polhode.references.ode import solve


@dataclass(frozen=True)
class Governor:
    stiffness: float = 8e5  # K of each spring, N/m
    damping: float = 4e4  # C of each damper, N s/m
    rest: float = 0.5  # l0, m
    length: float = 1.0  # of shaft and rods, m
    width: float = 0.01  # of their square section, m
    cube: float = 0.1  # side of the slider, m; the hinges and the springs are half of it from the axis
    density: float = 3000.0  # kg/m³
    ball: float = 5.0  # a point mass, kg
    gravity: float = 9.81  # m/s²

    @property
    def rod(self) -> float:
        """Mass of the shaft or of a rod, kg."""
        return self.density * self.length * self.width**2

    @property
    def slider(self) -> float:
        """Mass, kg."""
        return self.density * self.cube**3


@dataclass(frozen=True)
class GovernorStart:
    angle: float = np.pi / 6  # β, rad
    height: float = 0.5  # s, m
    spin: float = 2 * np.pi  # φ̇, rad/s


class GovernorMotion(NamedTuple):
    """Arrays over the times."""

    angle: np.ndarray  # β, rad
    height: np.ndarray  # s, m
    spin: np.ndarray  # φ̇, rad/s
    turn: np.ndarray  # φ, rad
    energy: np.ndarray  # kinetic, of weight and springs, J
    lost: np.ndarray  # in the dampers, J


def about_shaft(governor: Governor, angle: Any) -> Any:
    """J(β) of all about the axis of the shaft, kg m²."""
    g = governor
    L, a, m = g.length, g.cube / 2, g.rod
    along, across = m * g.width**2 / 6, m * (L**2 + g.width**2) / 12
    c, s = np.cos(angle), np.sin(angle)
    rod = along * s**2 + across * c**2 + m * (a + L / 2 * c) ** 2 + g.ball * (a + L * c) ** 2
    return along + g.slider * g.cube**2 / 6 + 2 * rod


def motion(governor: Governor, start: GovernorStart, times: Any) -> GovernorMotion:
    """The motion at `times`, s, from `start` at t = 0."""
    g = governor
    L, a, m, K, C, l0 = g.length, g.cube / 2, g.rod, g.stiffness, g.damping, g.rest
    along, across = m * g.width**2 / 6, m * (L**2 + g.width**2) / 12
    I = across + m * L**2 / 4 + g.ball * L**2
    weight = g.gravity * (m * L / 2 + g.ball * L)
    p = float(about_shaft(g, start.angle)) * start.spin
    fixed = along + g.slider * g.cube**2 / 6

    def law(_: float, y: np.ndarray) -> list[float]:
        beta, s, beta_rate, s_rate, _turn, _lost = y.tolist()
        cb, sb = cos(beta), sin(beta)
        near, far = a + L / 2 * cb, a + L * cb
        J = fixed + 2 * (along * sb * sb + across * cb * cb + m * near * near + g.ball * far * far)
        slope = 2 * sb * (2 * (along - across) * cb - m * L * near - 2 * g.ball * L * far)
        x, z = L / 2 * cb, L - L / 2 * sb - s
        l = hypot(x, z)
        by_beta, by_s = -L / 2 * (x * sb + z * cb) / l, -z / l
        l_rate = by_beta * beta_rate + by_s * s_rate
        F = K * (l - l0) + C * l_rate
        spin = p / J
        return [
            beta_rate,
            s_rate,
            (0.25 * slope * spin * spin + weight * cb - F * by_beta) / I,
            -g.gravity - 2 * F * by_s / g.slider,
            spin,
            2 * C * l_rate * l_rate,
        ]

    beta, s, beta_rate, s_rate, turn, lost = solve(law, [start.angle, start.height, 0.0, 0.0, 0.0, 0.0], times)
    J = about_shaft(g, beta)
    stretch = np.hypot(L / 2 * np.cos(beta), L - L / 2 * np.sin(beta) - s) - l0
    kinetic = 0.5 * p**2 / J + I * beta_rate**2 + 0.5 * g.slider * s_rate**2
    # heights of the centres of mass: shaft L/2, rods and balls below the hinges at L
    potential = g.gravity * (m * L / 2 + 2 * (m + g.ball) * L + g.slider * s) - 2 * weight * np.sin(beta)
    return GovernorMotion(beta, s, p / J, turn, kinetic + potential + K * stretch**2, lost)
