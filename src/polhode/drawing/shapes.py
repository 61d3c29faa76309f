"""What a body looks like: shapes in body coordinates (m), for pictures only.

They carry no mass. A body's mass and inertia come from `polhode.rotation.body`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.model.checks import InputError, numbers, positive, whole

Vector = Sequence[float] | np.ndarray  # three numbers; kept as a tuple


class Shape:
    """Base of all shapes; `_keep` stores a checked value in a frozen dataclass."""

    def _keep(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Sphere(Shape):
    """A ball of a `radius` (m) about `centre` (m, body axes), chequered so that its rolling shows."""

    radius: float
    centre: Vector = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        self._keep(radius=positive("radius", self.radius), centre=_point("centre", self.centre))


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """Semi-axes (m) along the body axes from `centre` (m, body axes)."""

    semi_axes: Vector
    centre: Vector = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        self._keep(semi_axes=_lengths("semi_axes", self.semi_axes), centre=_point("centre", self.centre))


@dataclass(frozen=True)
class Disk(Shape):
    """A disk in sectors of two tints; with `spokes`, a wheel: tyre, hub and that many spokes.

    `radius` (m), `axis` and `centre` (m) in body axes. `thickness` (m) zero is the ideal disk; it is drawn 2 % of the
    radius thick, so that its edge can be seen.
    """

    radius: float
    axis: Vector = (0.0, 0.0, 1.0)
    thickness: float = 0.0
    centre: Vector = (0.0, 0.0, 0.0)
    spokes: int = 0

    def __post_init__(self) -> None:
        thickness = numbers("thickness", self.thickness)
        if thickness.shape != () or thickness < 0:
            raise InputError(f"thickness must be one number, zero or more; got {self.thickness!r}")
        if self.spokes in (1, 2):
            raise InputError(f"spokes must be 0 (a solid disk) or at least 3; got {self.spokes}")
        self._keep(
            radius=positive("radius", self.radius),
            axis=_direction("axis", self.axis),
            thickness=float(thickness),
            centre=_point("centre", self.centre),
            spokes=whole("spokes", self.spokes, 0),
        )


@dataclass(frozen=True)
class Box(Shape):
    """Edges `size` (m) along the body axes about `centre` (m, body axes); each pair of opposite faces has its own
    tint."""

    size: Vector
    centre: Vector = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        self._keep(size=_lengths("size", self.size), centre=_point("centre", self.centre))


@dataclass(frozen=True)
class Rod(Shape):
    """A round bar from `a` to `b` (m, body axes), of a `radius` (m)."""

    a: Vector
    b: Vector
    radius: float

    def __post_init__(self) -> None:
        a, b = _point("a", self.a), _point("b", self.b)
        if a == b:
            raise InputError(f"a rod needs two ends that differ; got a = b = {a}")
        self._keep(a=a, b=b, radius=positive("radius", self.radius))


@dataclass(frozen=True)
class Cylinder(Shape):
    """Chequered, of a `radius` (m), `height` (m) along `axis`, half on either side of `centre` (m), in body axes."""

    radius: float
    height: float
    axis: Vector = (0.0, 0.0, 1.0)
    centre: Vector = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        self._keep(
            radius=positive("radius", self.radius),
            height=positive("height", self.height),
            axis=_direction("axis", self.axis),
            centre=_point("centre", self.centre),
        )


@dataclass(frozen=True)
class Coil(Shape):
    """A wire wound `turns` times, with a `radius` (m), about the z axis of the body, from z = 0 to `length` (m): a
    spring."""

    radius: float
    length: float
    turns: int = 8

    def __post_init__(self) -> None:
        radius, length = positive("radius", self.radius), positive("length", self.length)
        self._keep(radius=radius, length=length, turns=whole("turns", self.turns, 1))


@dataclass(frozen=True)
class Axes(Shape):
    """The body frame as arrows of a `length` (m): x red, y green, z blue."""

    length: float

    def __post_init__(self) -> None:
        self._keep(length=positive("length", self.length))


@dataclass(frozen=True)
class Plane(Shape):
    """A plane through `point` (m) with its `normal`, in space axes: the ground, or a slope."""

    point: Vector = (0.0, 0.0, 0.0)
    normal: Vector = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        self._keep(point=_point("point", self.point), normal=_direction("normal", self.normal))


@dataclass(frozen=True)
class Tube(Shape):
    """The wall of a cylinder of a `radius` (m) in space axes, without ends: `point` (m) on its axis, bodies `inside`
    it or outside. It is drawn as far along the axis as the bodies go."""

    radius: float
    axis: Vector = (0.0, 0.0, 1.0)
    point: Vector = (0.0, 0.0, 0.0)
    inside: bool = True

    def __post_init__(self) -> None:
        self._keep(
            radius=positive("radius", self.radius),
            axis=_direction("axis", self.axis),
            point=_point("point", self.point),
        )


def _point(name: str, values: Any) -> tuple[float, ...]:
    array = numbers(name, values, (3,))
    if array.ndim != 1:
        raise InputError(f"{name} must be three numbers; got an array of shape {array.shape}")
    return tuple(array.tolist())


def _lengths(name: str, values: Any) -> tuple[float, ...]:
    lengths = _point(name, values)
    if min(lengths) <= 0:
        raise InputError(f"{name} must be three positive lengths; got {values!r}")
    return lengths


def _direction(name: str, values: Any) -> tuple[float, ...]:
    """Of length 1."""
    vector = _point(name, values)
    length = float(np.linalg.norm(vector))
    if length < 1e-150:
        raise InputError(f"{name} has length zero and so names no direction; along z is (0, 0, 1)")
    return tuple(x / length for x in vector)
