"""Joints between two bodies, or a body and the ground.

Each is a choice among three kinds of rows, with anchors s and triads (x, y, z) fixed in
either body and d the way from the anchor on a to the anchor on b:
closure d = 0, sliding d · x_a = 0, and perpendicularity x_a · z_b = 0. The rows of closure, and so
its force, are on the axes of space; in a part of the system that floats on those of a.

Let b be the part that spins: the rows of a revolute joint turn with a.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from polhode._programs import Traced, traced
from polhode.algebra import Vec3
from polhode.model.checks import InputError, numbers
from polhode.model.functions import failures_named
from polhode.model.pytree import Code, Static, replaced, tree
from polhode.multibody.describe.bodies import GROUND, Body
from polhode.multibody.describe.constraints import Constraint, _no_body
from polhode.multibody.describe.views import View

X, Y, Z = 0, 1, 2
_ALIGNED = ((X, Y), (Y, Z), (Z, X))  # all three: the triads coincide


_BODIES = """
    a, b        names of the two bodies, or "ground" for one of them
    name        of the joint, for errors and the rows of results; made of its kind and bodies unless given"""
_POINT = f"""{_BODIES}
    at          the point where they are joined: m, space axes, where the bodies start; or instead of it
    at_a, at_b  that point as seen from either body: m, body axes, from the centre of mass of a and of b
                ("ground": space axes, from the origin)"""
_DIRECTION = """
    axis        a direction of any length: space axes, as the bodies start; fixed in a from then on"""


class _Joint(Constraint):
    """Rows from the class variables: `closed` (d = 0), `slides` (axes of a that d is
    perpendicular to) and `perpendicular` (axis of a, axis of b)."""

    closed: ClassVar[bool] = True
    slides: ClassVar[tuple[int, ...]] = ()
    perpendicular: ClassVar[tuple[tuple[int, int], ...]] = ()
    needs_axis: ClassVar[bool] = False

    a: Any
    b: Any
    at: Any
    axis: Any
    at_a: Any
    at_b: Any
    triad_a: Any
    triad_b: Any
    afloat: Any  # set by the system, in which it is: closure on the axes of a

    @property
    def bodies(self) -> tuple[str, ...]:
        return tuple(name for name in (self.a, self.b) if name != GROUND)

    @property
    def holonomic(self) -> int:
        return 3 * self.closed + len(self.slides) + len(self.perpendicular)

    @property
    def labels(self) -> tuple[str, ...]:
        rows = [*("xyz" if self.closed else ()), *(f"slide {'xyz'[i]}" for i in self.slides)]
        rows += [f"{'xyz'[i]} ⟂ {'xyz'[j]}" for i, j in self.perpendicular]
        return tuple(f"{self.name}.{row}" for row in rows)

    def bind(self, bodies: Mapping[str, Body]) -> Constraint:
        name = self.name or f"{type(self).__name__.lower()} {self.a}-{self.b}"
        joint: Any = replaced(self, name=name)
        for body in (self.a, self.b):
            if body != GROUND and body not in bodies:
                raise _no_body(joint, body, bodies)
        if self.a == self.b:
            raise InputError(f"joint {name!r} joins {self.a!r} to itself; it needs two bodies, or one and {GROUND!r}")
        triad = self._triad(name)
        at_a, at_b = self._anchors(name, bodies)
        return replaced(
            joint,
            at=None,
            axis=None,
            at_a=at_a,
            at_b=at_b,
            triad_a=_rotation(self.a, bodies).T @ triad,
            triad_b=_rotation(self.b, bodies).T @ self._second(triad, name),
        )

    def floating(self) -> Constraint:
        return replaced(self, afloat=True)

    def _second(self, triad: np.ndarray, name: str) -> np.ndarray:
        return triad

    def _triad(self, name: str) -> np.ndarray:
        """Columns x, y, z in space, z along the axis."""
        if self.axis is None:
            if self.needs_axis:
                raise InputError(f"joint {name!r} needs an axis, three numbers in space axes: axis=(0, 0, 1)")
            return np.eye(3)
        return triad_about(_unit(f"joint {name!r}: axis", self.axis))

    def _anchors(self, name: str, bodies: Mapping[str, Body]) -> tuple[np.ndarray, np.ndarray]:
        if (self.at is None) == (self.at_a is None) or (self.at_a is None) != (self.at_b is None):
            raise InputError(
                f"joint {name!r}: give either at=, a point in space where the bodies start, or both at_a= and at_b=, "
                "the anchors in body axes"
            )
        if self.at is None:
            return numbers("at_a", self.at_a, (3,)), numbers("at_b", self.at_b, (3,))
        at = numbers(f"joint {name!r}: at", self.at, (3,))
        return _local(self.a, at, bodies), _local(self.b, at, bodies)

    def phi(self, view: View) -> Any:
        rows: list[Any] = []
        if self.closed or self.slides:
            d = view.frame(self.b).point(self.at_b) - view.frame(self.a).point(self.at_a)
            axes = (X, Y, Z) if self.closed else self.slides
            rows += [*d] if self.closed and not self.afloat else [d.dot(self._axis(view, "a", i)) for i in axes]
        return rows + [self._axis(view, "a", i).dot(self._axis(view, "b", j)) for i, j in self.perpendicular]

    def _axis(self, view: View, side: str, i: int) -> Vec3:
        body, triad = (self.a, self.triad_a) if side == "a" else (self.b, self.triad_b)
        return view.frame(body).direction(triad[:, i])


def _rotation(body: str, bodies: Mapping[str, Body]) -> np.ndarray:
    return np.eye(3) if body == GROUND else bodies[body].rotation


def _local(body: str, point: np.ndarray, bodies: Mapping[str, Body]) -> np.ndarray:
    """A point in space, in the axes of a body from its centre of mass."""
    return point if body == GROUND else bodies[body].rotation.T @ (point - bodies[body].position)


def _unit(name: str, value: Any) -> np.ndarray:
    vector = numbers(name, value, (3,))
    length = np.linalg.norm(vector)
    if length < 1e-150:
        raise InputError(f"{name} has length zero and so names no direction; got {value!r}")
    return vector / length


def triad_about(z: np.ndarray) -> np.ndarray:
    """A right-handed triad with this third column."""
    x = np.cross(np.eye(3)[(int(np.argmax(np.abs(z))) + 1) % 3], z)
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


@tree
class Ball(_Joint):
    __doc__ = f"""A point of a stays on a point of b: three freedoms.
{_POINT}"""

    a: Static[str]
    b: Static[str]
    at: Any = None
    name: Static[str] = ""
    at_a: Any = None
    at_b: Any = None
    axis: Any = field(default=None, init=False, repr=False)
    triad_a: Any = field(default=None, init=False, repr=False)
    triad_b: Any = field(default=None, init=False, repr=False)
    afloat: Static[bool] = field(default=False, init=False, repr=False)


@tree
class Fixed(Ball):
    __doc__ = f"""b is part of a, as the two start: no freedom.
{_POINT}"""

    perpendicular: ClassVar[Any] = _ALIGNED


@tree
class _AboutAxis(_Joint):
    """A joint that needs an axis."""

    needs_axis: ClassVar = True

    a: Static[str]
    b: Static[str]
    at: Any = None
    axis: Any = None
    name: Static[str] = ""
    at_a: Any = None
    at_b: Any = None
    triad_a: Any = field(default=None, init=False, repr=False)
    triad_b: Any = field(default=None, init=False, repr=False)
    afloat: Static[bool] = field(default=False, init=False, repr=False)


class OfTime(Traced):
    """A function of time."""

    def __call__(self, t: Any) -> Any:
        return self.evaluate(t)


@tree
class Revolute(_AboutAxis):
    __doc__ = f"""A hinge: b turns about an axis of a: one freedom, or none where it is driven.
{_POINT}{_DIRECTION}
    angle       a function of time (s) that drives the hinge: rad by which b has turned about the axis against a
                since the start, right-handed, so that angle(0) is 0, or some whole turns; its rate there is that of
                the start. Where angle(0) is something else, `consistent_start` turns b there"""

    perpendicular: ClassVar[Any] = ((X, Z), (Y, Z))

    angle: Code[Callable[[Any], Any] | None] = None

    def bind(self, bodies: Mapping[str, Body]) -> Constraint:
        bound: Any = super().bind(bodies)
        angle = self.angle
        if angle is None:
            return bound
        if not callable(angle):
            raise InputError(f"joint {bound.name!r}: angle must be a function of time; got {angle!r}")
        with failures_named(f"joint {bound.name!r} (its angle)", "given the time as one number"):
            shape = jax.eval_shape(lambda t: jnp.asarray(angle(t), dtype=float), 0.0).shape
        if shape != ():
            raise InputError(f"joint {bound.name!r}: angle must return one number; it returned shape {shape}")
        return bound

    @property
    def holonomic(self) -> int:
        return 5 + (self.angle is not None)

    @property
    def rheonomic(self) -> bool:
        return self.angle is not None

    def traced(self, names: Sequence[str]) -> Constraint:
        if self.angle is None or isinstance(self.angle, OfTime):
            return self
        angle = OfTime(*traced(lambda t: jnp.asarray(self.angle(t), dtype=float), np.zeros(())))  # type: ignore[misc]
        return replaced(self, angle=angle)

    @property
    def labels(self) -> tuple[str, ...]:
        return super().labels + ((f"{self.name}.angle",) if self.angle is not None else ())

    def phi(self, view: View) -> Any:
        rows = super().phi(view)
        if self.angle is None:
            return rows
        # What is left between the angle and its drive, within half a turn either way: zero in one place only.
        x_b, f = self._axis(view, "b", X), self.angle(view.t)
        cosine, sine = self._axis(view, "a", X).dot(x_b), self._axis(view, "a", Y).dot(x_b)
        c, s = jnp.cos(f), jnp.sin(f)
        return [*rows, jnp.arctan2(sine * c - cosine * s, cosine * c + sine * s)]


@tree
class Universal(_AboutAxis):
    __doc__ = f"""A cross of two shafts: `axis`, fixed in a, stays perpendicular to `axis_b`, fixed in b: two freedoms.
{_POINT}{_DIRECTION}
    axis_b      the same for b, perpendicular to `axis`; one is chosen unless given"""

    perpendicular: ClassVar[Any] = ((Z, X),)

    axis_b: Any = None

    def bind(self, bodies: Mapping[str, Body]) -> Constraint:
        bound: Any = super().bind(bodies)
        return replaced(bound, axis_b=None)

    def _second(self, triad: np.ndarray, name: str) -> np.ndarray:
        if self.axis_b is None:
            return triad
        x = _unit(f"joint {name!r}: axis_b", self.axis_b)
        tilt = float(x @ triad[:, Z])
        if abs(tilt) > 1e-8:
            raise InputError(f"joint {name!r}: axis and axis_b must be perpendicular; the cosine between is {tilt:.3g}")
        return np.column_stack([x, np.cross(triad[:, Z], x), triad[:, Z]])


@tree
class Prismatic(_AboutAxis):
    __doc__ = f"""b slides along an axis of a without turning: one freedom.
{_POINT}; on the line along which b slides{_DIRECTION}"""

    closed: ClassVar = False
    slides: ClassVar[Any] = (X, Y)
    perpendicular: ClassVar[Any] = _ALIGNED


@tree
class Cylindrical(Prismatic):
    __doc__ = f"""b slides along an axis of a and turns about it: two freedoms.
{_POINT}; on the axis{_DIRECTION}"""

    perpendicular: ClassVar[Any] = ((X, Z), (Y, Z))


@tree
class Planar(Prismatic):
    __doc__ = f"""b moves in a plane of a, normal to `axis`, and turns about the normal: three freedoms.
{_POINT}; in the plane{_DIRECTION}"""

    slides: ClassVar[Any] = (Z,)
    perpendicular: ClassVar[Any] = ((X, Z), (Y, Z))


@tree
class Distance(_Joint):
    __doc__ = f"""A rod of fixed length between a point of a and a point of b: five freedoms, φ = (d · d - L²)/2L.
{_BODIES}
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
    afloat: Static[bool] = field(default=False, init=False, repr=False)

    @property
    def holonomic(self) -> int:
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
        length = np.linalg.norm(ends[1] - ends[0]) if self.length is None else float(self.length)
        if not length > 0:
            raise InputError(f"distance {bound.name!r}: its length must be positive; it is {length:g} at the start")
        return replaced(bound, length=np.asarray(length))

    def phi(self, view: View) -> Any:
        d = view.frame(self.b).point(self.at_b) - view.frame(self.a).point(self.at_a)
        return [(d.norm2() - self.length**2) / (2.0 * self.length)]
