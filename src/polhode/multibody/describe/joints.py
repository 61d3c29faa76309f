"""The joints that nothing drives: ball, fixed, universal, prismatic, cylindrical, planar, and a rod of fixed length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from polhode.model.checks import InputError, positive
from polhode.model.pytree import Static, replaced, tree
from polhode.multibody.describe.bodies import GROUND, Body
from polhode.multibody.describe.constraints import Constraint
from polhode.multibody.describe.joint import BODIES, DIRECTION, POINT, AboutAxis, Joint, Projection, X, Y, Z, unit
from polhode.multibody.describe.views import View

_ALIGNED = ((X, Y), (Y, Z), (Z, X))  # all three: the triads coincide


@tree
class Ball(Joint):
    __doc__ = f"""A point of a stays on a point of b: three freedoms.
{POINT}"""

    a: Static[str]
    b: Static[str]
    at: Any = None
    name: Static[str] = ""
    at_a: Any = None
    at_b: Any = None
    axis: Any = field(default=None, init=False, repr=False)
    triad_a: Any = field(default=None, init=False, repr=False)
    triad_b: Any = field(default=None, init=False, repr=False)


@tree
class Fixed(Ball):
    __doc__ = f"""b is part of a, as the two start: no freedom.
{POINT}"""

    perpendicular: ClassVar[Any] = _ALIGNED


@tree
class Universal(AboutAxis):
    __doc__ = f"""A cross of two shafts: `axis`, fixed in a, stays perpendicular to `axis_b`, fixed in b: two freedoms.
{POINT}{DIRECTION}
    axis_b      the same for b, perpendicular to `axis`; one is chosen unless given"""

    perpendicular: ClassVar[Any] = ((Z, X),)

    axis_b: Any = None

    def bind(self, bodies: Mapping[str, Body]) -> Constraint:
        bound: Any = super().bind(bodies)
        return replaced(bound, axis_b=None)

    def _second(self, triad: np.ndarray, name: str) -> np.ndarray:
        if self.axis_b is None:
            return triad
        x = unit(f"joint {name!r}: axis_b", self.axis_b)
        tilt = float(x @ triad[:, Z])
        if abs(tilt) > 1e-8:
            raise InputError(f"joint {name!r}: axis and axis_b must be perpendicular; the cosine between is {tilt:.3g}")
        return np.column_stack([x, np.cross(triad[:, Z], x), triad[:, Z]])


@tree
class Prismatic(AboutAxis):
    __doc__ = f"""b slides along an axis of a without turning: one freedom.
{POINT}; on the line along which b slides{DIRECTION}"""

    closed: ClassVar = False
    slides: ClassVar[Any] = (X, Y)
    perpendicular: ClassVar[Any] = _ALIGNED


@tree
class Cylindrical(Prismatic):
    __doc__ = f"""b slides along an axis of a and turns about it: two freedoms.
{POINT}; on the axis{DIRECTION}"""

    perpendicular: ClassVar[Any] = ((X, Z), (Y, Z))


@tree
class Planar(Prismatic):
    __doc__ = f"""b moves in a plane of a, normal to `axis`, and turns about the normal: three freedoms.
{POINT}; in the plane{DIRECTION}"""

    slides: ClassVar[Any] = (Z,)
    perpendicular: ClassVar[Any] = ((X, Z), (Y, Z))


@tree
class Distance(Joint):
    __doc__ = f"""A rod of fixed length between a point of a and a point of b: five freedoms, φ = (d · d - L²)/2L.
{BODIES}
    at_a, at_b  the ends: m, body axes, from the centre of mass of a and of b ("ground": space axes, from the origin)
    length      of the rod, m: that between the ends as the bodies start unless given"""

    a: Static[str]
    b: Static[str]
    at_a: Any = (0.0, 0.0, 0.0)
    at_b: Any = (0.0, 0.0, 0.0)
    length: Any = None
    name: Static[str] = ""
    at: Any = field(default=None, init=False, repr=False)
    axis: Any = field(default=None, init=False, repr=False)
    triad_a: Any = field(default=None, init=False, repr=False)
    triad_b: Any = field(default=None, init=False, repr=False)

    @property
    def holonomic(self) -> int:
        """One: the distance."""
        return 1

    @property
    def labels(self) -> tuple[str, ...]:
        return (self.name,)

    def bind(self, bodies: Mapping[str, Body]) -> Constraint:
        bound: Any = super().bind(bodies)
        ends = [
            np.asarray(s) if body == GROUND else bodies[body].position + bodies[body].rotation @ s
            for body, s in ((self.a, bound.at_a), (self.b, bound.at_b))
        ]
        if self.length is not None:
            return replaced(bound, length=np.asarray(positive(f"distance {bound.name!r}: its length", self.length)))
        length = np.linalg.norm(ends[1] - ends[0])
        if not length > 0:
            raise InputError(f"distance {bound.name!r}: its length must be positive; it is {length:g} at the start")
        return replaced(bound, length=np.asarray(length))

    def phi(self, view: View) -> Any:
        d = view.frame(self.b).point(self.at_b) - view.frame(self.a).point(self.at_a)
        return [(d.norm2() - self.length**2) / (2.0 * self.length)]

    def projections(self) -> list[Projection]:
        length = float(self.length)
        return [Projection(self.at_a, self.at_b, stretch=1.0 / length, length=length)]
