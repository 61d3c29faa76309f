"""N four-bar windows side by side, exact: 2N + 1 equal uniform rods that move as one pendulum.

In the x-y plane, gravity along -y: N + 1 uprights stand on the ground at x = 0, L, ..., N L, N couplers join their
upper ends. On the branch that goes on through every singular position all uprights turn alike and all couplers
are carried along without turning. With θ the angle of the uprights from hanging,

    T = ½ m L² ((N + 1)/3 + N) θ̇²,   V = -m g L ((N + 1)/2 + N) cos θ,

a physical pendulum, whose motion is elliptic functions (`polhode.references.pendulum`). The rods lie on one line
at θ = ±π/2: there the freedoms are N + 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from polhode.model.checks import InputError, positive
from polhode.references import pendulum


@dataclass(frozen=True)
class Windows:
    windows: int = 2  # N
    length: float = 1.0  # L of each rod, m
    mass: float = 1.0  # m of each rod, kg
    gravity: float = 9.81  # m/s²
    speed: float = 1.0  # of the upper ends at the start, upright, along x, m/s

    def __post_init__(self) -> None:
        for name in ("length", "mass", "gravity"):
            positive(name, getattr(self, name))
        if self.windows < 1 or self.windows != int(self.windows):
            raise InputError(f"windows must be a whole number, 1 or more; got {self.windows!r}")

    @property
    def pendulum(self) -> pendulum.Pendulum:
        """Of the same mass, first and second moment about the pivot."""
        N, L, m = self.windows, self.length, self.mass
        mass = (2 * N + 1) * m
        first, second = m * L * ((N + 1) / 2 + N), m * L**2 * ((N + 1) / 3 + N)
        return pendulum.Pendulum(mass, first / mass, second - first**2 / mass, self.gravity)


class WindowsMotion(NamedTuple):
    """Arrays over the times."""

    angle: np.ndarray  # of the uprights from upright, right-handed about z, rad, not wrapped
    rate: np.ndarray  # rad/s
    corner: np.ndarray  # (x, y) of B0, the upper end of the first upright, m
    energy: np.ndarray  # kinetic and m g y, J


def motion(windows: Windows, times: Any) -> WindowsMotion:
    """The motion at `times` (any real numbers), s."""
    swing = pendulum.motion(windows.pendulum, times, angle=np.pi, rate=-windows.speed / windows.length)
    angle = swing.angle - np.pi
    corner = windows.length * np.stack([-np.sin(angle), np.cos(angle)], -1)
    return WindowsMotion(angle, swing.rate, corner, swing.energy)
