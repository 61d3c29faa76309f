"""What an animation shows: bodies that move, lines they leave behind, and what they stand on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polhode.drawing.shapes import Plane, Shape, Tube
from polhode.model.checks import InputError, numbers, unit_quaternion
from polhode.results.fittings import Link, Mark

Surface = Plane | Tube


@dataclass(frozen=True, eq=False)
class Actor:
    """A rigid body that is drawn: `positions` (n, 3) of the body's origin in space (m), `quaternions`
    (n, 4) as w, x, y, z from body to space, and its shapes in body coordinates."""

    name: str
    positions: np.ndarray
    quaternions: np.ndarray
    shapes: Sequence[Shape]

    def __post_init__(self) -> None:
        object.__setattr__(self, "positions", _rows(f"positions of {self.name!r}", self.positions, 3))
        quaternions = _rows(f"quaternions of {self.name!r}", self.quaternions, 4)
        object.__setattr__(self, "quaternions", unit_quaternion(f"quaternions of {self.name!r}", quaternions))
        shapes = tuple(self.shapes) if isinstance(self.shapes, Sequence) else (self.shapes,)
        if not shapes:
            raise InputError(f"{self.name!r} has no shapes; Axes(length) draws just its frame")
        for shape in shapes:
            if not isinstance(shape, Shape) or isinstance(shape, Surface):
                raise InputError(
                    f"a shape of {self.name!r} must be one of polhode.drawing.shapes "
                    f"(Sphere, Ellipsoid, Disk, Box, Rod, Cylinder, Coil, Axes); got {shape!r}"
                )
        object.__setattr__(self, "shapes", shapes)


@dataclass(frozen=True, eq=False)
class Trail:
    """A line in space that grows with time: `points` (n, 3) in m, one for each time of the scene."""

    name: str
    points: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", _rows(f"points of {self.name!r}", self.points, 3))


@dataclass(frozen=True, eq=False)
class Scene:
    """`times` (n,) in s, growing. `ground` is a Plane, a Tube, or several. `up` is "z", "-z" where z points
    down (vehicles), or another axis."""

    times: np.ndarray
    bodies: Sequence[Actor]
    ground: Surface | Sequence[Surface] | None = None
    paths: Sequence[Trail] = ()
    up: str = "z"
    title: str = "polhode"
    joints: Sequence[Mark] = ()
    links: Sequence[Link] = ()

    def __post_init__(self) -> None:
        times = numbers("times", self.times)
        if times.ndim != 1 or not len(times):
            raise InputError(f"times must be a list of at least one number; got an array of shape {times.shape}")
        if (np.diff(times) <= 0).any():
            i = int(np.argmax(np.diff(times) <= 0))
            raise InputError(f"times must grow; got {times[i]:g} s and then {times[i + 1]:g} s at place {i + 1}")
        object.__setattr__(self, "times", times)
        if not self.bodies:
            raise InputError("a scene needs at least one body; got none")
        for actor in self.bodies:
            _same("positions", actor.name, actor.positions, times)
            _same("quaternions", actor.name, actor.quaternions, times)
        for trail in self.paths:
            _same("points", trail.name, trail.points, times)
        for link in self.links:
            _same("a", link.name, link.a, times)
            _same("b", link.name, link.b, times)
        for mark in self.joints:
            if mark.on is not None and not 0 <= mark.on < len(self.bodies):
                raise InputError(f"joint {mark.name!r} sits on body {mark.on}; there are {len(self.bodies)}, from 0 on")
        if not all(isinstance(surface, Surface) for surface in self.surfaces):
            raise InputError(
                f"ground must be a Plane(point, normal), a Tube(radius, axis, point), several of them, or None; got "
                f"{self.ground!r}"
            )
        upwards(self.up)

    @property
    def surfaces(self) -> tuple[Surface, ...]:
        """What `ground` says, as a list."""
        if self.ground is None:
            return ()
        return tuple(self.ground) if isinstance(self.ground, Sequence) else (self.ground,)


def upwards(up: str) -> np.ndarray:
    """The direction that "z", "-z" or another axis names."""
    axes: dict[str, np.ndarray] = {}
    for axis, direction in zip("xyz", np.eye(3), strict=True):
        axes |= {axis: direction, f"-{axis}": -direction}
    if up not in axes:
        raise InputError(f"up must be one of {', '.join(axes)}; got {up!r}")
    return axes[up]


def largest_turns(actor: Actor, kept: np.ndarray) -> float:
    """The largest angle (rad) a body turns between two frames that are kept, summed over the samples between.

    A viewer turns by the shortest way, which shows less than the truth from π on.
    """
    q = actor.quaternions
    half = np.arccos(np.clip(np.abs(np.sum(q[1:] * q[:-1], axis=1)), 0.0, 1.0))
    total = np.concatenate(([0.0], np.cumsum(2 * half)))
    return float(np.diff(total[kept]).max(initial=0.0))


def _rows(name: str, values: object, columns: int) -> np.ndarray:
    array = numbers(name, values, (columns,))
    if array.ndim != 2:
        raise InputError(
            f"{name} must have shape (times, {columns}); got {array.shape}; of a batch, animate one member at a time"
        )
    return array


def _same(what: str, name: str, rows: np.ndarray, times: np.ndarray) -> None:
    if len(rows) != len(times):
        raise InputError(
            f"{what} of {name!r} must have one row for each of the {len(times)} times; got {len(rows)} rows"
        )
