"""The benchmark bicycle of Meijaard, Papadopoulos, Ruina, Schwab, Proc. R. Soc. A 463 (2007) 1955-1982: its data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polhode.model.checks import InputError, positive

BODIES = ("rear wheel", "rear frame", "front frame", "front wheel")


@dataclass(frozen=True)
class Bicycle:
    """Table 1 of Meijaard et al. (2007). Positions (x, z) and inertias in the upright, straight bicycle; SI units."""

    wheelbase: float = 1.02  # w
    trail: float = 0.08  # c
    tilt: float = np.pi / 10  # λ, of the steer axis
    gravity: float = 9.81  # along +z
    rear_radius: float = 0.3
    rear_mass: float = 2.0
    rear_inertia: tuple[float, float] = (0.0603, 0.12)  # Ixx = Izz, Iyy
    frame_position: tuple[float, float] = (0.3, -0.9)
    frame_mass: float = 85.0
    frame_inertia: tuple[float, float, float, float] = (9.2, 11.0, 2.8, 2.4)  # Ixx, Iyy, Izz, Ixz
    fork_position: tuple[float, float] = (0.9, -0.7)
    fork_mass: float = 4.0
    fork_inertia: tuple[float, float, float, float] = (0.05892, 0.06, 0.00708, -0.00756)  # Ixx, Iyy, Izz, Ixz
    front_radius: float = 0.35
    front_mass: float = 3.0
    front_inertia: tuple[float, float] = (0.1405, 0.28)  # Ixx = Izz, Iyy

    def __post_init__(self) -> None:
        for name in ("wheelbase", "rear_radius", "front_radius", "rear_mass", "frame_mass", "fork_mass", "front_mass"):
            positive(name, getattr(self, name))
        if not abs(self.tilt) < np.pi / 2:
            raise InputError(f"tilt = {self.tilt} rad: the steer axis must point down; give |tilt| < π/2")

    @property
    def masses(self) -> np.ndarray:
        return np.array([self.rear_mass, self.frame_mass, self.fork_mass, self.front_mass])

    @property
    def inertias(self) -> np.ndarray:
        """About the centres of mass, in the axes of the upright bicycle, shape (4, 3, 3), in the order of `BODIES`."""
        wheels = [(xx, yy, xx, 0.0) for xx, yy in (self.rear_inertia, self.front_inertia)]
        moments = [wheels[0], self.frame_inertia, self.fork_inertia, wheels[1]]
        return np.array([[[xx, 0, xz], [0, yy, 0], [xz, 0, zz]] for xx, yy, zz, xz in moments])
