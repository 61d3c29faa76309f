"""What a body looks like in a picture; none of it enters the mechanics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Sphere:
    """Radius in m, about the centre of mass."""

    radius: float


@dataclass(frozen=True)
class Disk:
    """A wheel: radius and thickness in m, axis in the body frame."""

    radius: float
    axis: tuple[float, float, float] = (0.0, 1.0, 0.0)
    thickness: float = 0.0


@dataclass(frozen=True)
class Box:
    """Edge lengths in m along the body's axes."""

    size: tuple[float, float, float]


@dataclass(frozen=True)
class Rod:
    """A line between two points of the body frame (m)."""

    a: tuple[float, float, float]
    b: tuple[float, float, float]


@dataclass(frozen=True)
class Cylinder:
    """Radius and height in m, axis in the body frame."""

    radius: float
    height: float
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)


Shape = Any  # one of these, or several in a tuple
