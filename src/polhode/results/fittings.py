"""What is drawn between bodies: joints, which sit on one of them, and what reaches from a point to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polhode.drawing.shapes import Coil, Cylinder, Rod, Shape
from polhode.model.checks import InputError, numbers

LINKS = ("spring", "damper", "rod")


@dataclass(frozen=True, eq=False)
class Mark:
    """Shapes of a joint, in the coordinates of the body that it sits `on`, by number; None: in space. It is there
    `until` a time (s) at which it was released, if it was."""

    name: str
    shapes: Sequence[Shape]
    on: int | None = None
    until: float | None = None


@dataclass(frozen=True, eq=False)
class Link:
    """A spring, a damper or a rod, by its `kind`, from `a` to `b`, points in space (n, 3) in m; as wide as `radius`."""

    name: str
    kind: str
    a: np.ndarray
    b: np.ndarray
    radius: float
    until: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in LINKS:
            raise InputError(f"the kind of link {self.name!r} must be one of {', '.join(LINKS)}; got {self.kind!r}")
        for end in ("a", "b"):
            points = numbers(f"{end} of {self.name!r}", getattr(self, end), (3,))
            if points.ndim != 2:
                raise InputError(f"{end} of {self.name!r} must have shape (times, 3); got {points.shape}")
            object.__setattr__(self, end, points)

    @cached_property
    def lengths(self) -> np.ndarray:
        return np.linalg.norm(self.b - self.a, axis=1)

    @cached_property
    def natural(self) -> float:
        """The length in which its shapes are made: that of the middle."""
        return float(np.median(self.lengths)) or float(self.lengths.max()) or self.radius

    @property
    def stretch(self) -> np.ndarray:
        """By how much its shapes are stretched along z."""
        return self.lengths / self.natural

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """From the origin along z."""
        L, r = self.natural, self.radius
        if self.kind == "spring":
            return (Coil(r, L, 8),)
        if self.kind == "damper":
            return Cylinder(r, 0.5 * L, centre=(0, 0, 0.4 * L)), Rod((0, 0, 0), (0, 0, L), 0.3 * r)
        return (Rod((0, 0, 0), (0, 0, L), r),)

    @cached_property
    def quaternions(self) -> np.ndarray:
        """Attitudes whose z points from a to b, (n, 4), each turned from the one before by the shortest way."""
        found, last, way = [], np.array([1.0, 0, 0, 0]), np.array([0.0, 0, 1])
        for length, arm in zip(self.lengths, self.b - self.a, strict=True):
            if length > 0:
                last, way = _product(_between(way, arm / length), last), arm / length
                last = last / np.linalg.norm(last)
            found.append(last)
        return np.array(found)


def _between(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The shortest turn from u to v; of opposite ones, half a turn about some axis across."""
    q = np.array([1.0 + u @ v, *np.cross(u, v)])
    if q[0] < 1e-12:
        across = np.cross(u, np.eye(3)[np.argmin(np.abs(u))])
        q = np.array([0.0, *across])
    return q / np.linalg.norm(q)


def _product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    return np.array([p[0] * q[0] - p[1:] @ q[1:], *(p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:]))])
