"""Rolling: wheels and spheres on planes and cylinders, and the knife edge.

Each contact keeps its height (one row of φ) and lets its material point not slip (two
rows of ψ, along directions fixed in the surface); the normal velocity is φ' and needs no row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np

from polhode.algebra import Vec3
from polhode.model.checks import InputError, numbers, positive
from polhode.model.pytree import Static, replaced, tree
from polhode.multibody.describe.bodies import Body
from polhode.multibody.describe.constraints import Constraint
from polhode.multibody.describe.joint import triad_about, unit
from polhode.multibody.describe.views import View, vec

STEEPEST = 1e-6  # a wheel whose axis comes nearer to the normal than this (rad) has no point of contact


class Contact(NamedTuple):
    """Of a wheel or a sphere with a plane, as numbers: see `rows.wheel_rows`."""

    radius: Any
    axis: Any
    normal: Any
    point: Any
    tangents: Any
    thin: float


class _OneBody(Constraint):
    body: Any

    @property
    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def bind(self, bodies: Mapping[str, Body]) -> Constraint:
        name = self.name or f"{type(self).__name__.lower()} {self.body}"
        named: Any = replaced(self, name=name)
        return super(_OneBody, named).bind(bodies)


class _Rolling(_OneBody):
    """A row of φ that keeps the contact, and two of ψ that let it not slip."""

    row_labels: ClassVar[tuple[str, str, str]]

    @property
    def holonomic(self) -> int:
        return 1

    @property
    def nonholonomic(self) -> int:
        return 2

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"{self.name}.{row}" for row in self.row_labels)


class _OnPlane(_Rolling):
    """Contact with the plane through `point` with unit `normal`, which points to the body's side."""

    row_labels: ClassVar = ("height", "slip 1", "slip 2")

    point: Any
    normal: Any
    tangents: Any

    def bind(self, bodies: Mapping[str, Body]) -> Constraint:
        named: Any = super().bind(bodies)
        normal = unit(f"{named.name!r}: normal", self.normal)
        return replaced(
            named,
            radius=np.asarray(positive(f"{named.name!r}: radius", named.radius)),
            normal=normal,
            point=numbers(f"{named.name!r}: point", self.point, (3,)),
            tangents=triad_about(normal)[:, :2].T,
        )

    def arm(self, view: View) -> Vec3:
        """From the centre of the body to the point of contact (m, space axes)."""
        raise NotImplementedError

    def phi(self, view: View) -> Any:
        return [(view.frame(self.body).r + self.arm(view) - vec(self.point)).dot(vec(self.normal))]

    def psi(self, view: View) -> Any:
        body = view.frame(self.body)
        slip = body.v + body.spin().cross(self.arm(view))
        return [slip.dot(vec(self.tangents[0])), slip.dot(vec(self.tangents[1]))]


@tree
class RollingDisk(_OnPlane):
    """A thin wheel rolls on a plane, without slipping; its centre is the centre of mass.

    body    name of the body
    radius  m
    axis    about which the wheel turns: body axes, any length
    normal  of the plane, on the side of the wheel: space axes, any length
    point   of the plane: m, space axes
    name    for errors and the rows of results; made of its kind and body unless given

    With n = R axis and the normal k: u = k - n(n·k), contact at r - radius u/|u|."""

    body: Static[str]
    radius: Any
    axis: Any = (0.0, 1.0, 0.0)
    normal: Any = (0.0, 0.0, 1.0)
    point: Any = (0.0, 0.0, 0.0)
    name: Static[str] = ""
    tangents: Any = field(default=None, init=False, repr=False)
    can_be_singular = True

    def bind(self, bodies: Mapping[str, Body]) -> Constraint:
        bound: Any = super().bind(bodies)
        bound = replaced(bound, axis=unit(f"{bound.name!r}: axis", self.axis))
        steep = np.linalg.norm(np.cross(bodies[self.body].rotation @ bound.axis, bound.normal))
        if steep < STEEPEST:
            raise InputError(
                f"{bound.name!r}: the axis of the wheel stands along the normal of the plane, so the wheel lies flat "
                "and has no point of contact; tilt the wheel"
            )
        return bound

    def arm(self, view: View) -> Vec3:
        n, k = view.frame(self.body).direction(self.axis), vec(self.normal)
        u = k - n * n.dot(k)
        return u * (-self.radius / jnp.sqrt(u.norm2()))

    def contact(self) -> Contact:
        """The same rows in closed form."""
        return Contact(self.radius, self.axis, self.normal, self.point, self.tangents, 1.0)

    def singular(self, view: View) -> Any:
        return view.frame(self.body).direction(self.axis).cross(vec(self.normal)).norm()


@tree
class RollingSphere(_OnPlane):
    """A sphere rolls on a plane, without slipping; its centre is the centre of mass.

    body    name of the body
    radius  m
    normal  of the plane, on the side of the sphere: space axes, any length
    point   of the plane: m, space axes
    name    for errors and the rows of results; made of its kind and body unless given"""

    body: Static[str]
    radius: Any
    normal: Any = (0.0, 0.0, 1.0)
    point: Any = (0.0, 0.0, 0.0)
    name: Static[str] = ""
    tangents: Any = field(default=None, init=False, repr=False)

    def arm(self, view: View) -> Vec3:
        return vec(self.normal) * -self.radius

    def contact(self) -> Contact:
        """The same rows in closed form."""
        return Contact(self.radius, self.normal, self.normal, self.point, self.tangents, 0.0)


@tree
class SphereOnCylinder(_Rolling):
    """A sphere rolls on a cylinder, without slipping; its centre is the centre of mass.

    body      name of the body
    radius    of the sphere, m
    cylinder  radius of the cylinder, m
    axis      of the cylinder: space axes, any length
    point     of that axis: m, space axes
    inside    whether the sphere rolls inside the cylinder, or outside
    name      for errors and the rows of results; made of its kind and body unless given"""

    row_labels: ClassVar = ("distance", "slip along", "slip around")

    body: Static[str]
    radius: Any
    cylinder: Any
    axis: Any = (0.0, 0.0, 1.0)
    point: Any = (0.0, 0.0, 0.0)
    inside: Static[bool] = True
    name: Static[str] = ""

    def bind(self, bodies: Mapping[str, Body]) -> Constraint:
        named: Any = super().bind(bodies)
        radius = positive(f"{named.name!r}: radius", self.radius)
        cylinder = positive(f"{named.name!r}: cylinder", self.cylinder)
        if self.inside and radius >= cylinder:
            raise InputError(
                f"{named.name!r}: a sphere of radius {radius:g} does not fit in a cylinder of radius {cylinder:g}"
            )
        axis = unit(f"{named.name!r}: axis", self.axis)
        point = numbers(f"{named.name!r}: point", self.point, (3,))
        return replaced(named, radius=np.asarray(radius), cylinder=np.asarray(cylinder), axis=axis, point=point)

    def _outward(self, view: View) -> tuple[Vec3, Any]:
        """The unit vector from the cylinder's axis to the centre, and their distance."""
        axis = vec(self.axis)
        d = view.frame(self.body).r - vec(self.point)
        d = d - axis * d.dot(axis)
        rho = jnp.sqrt(d.norm2())
        return d / rho, rho

    def phi(self, view: View) -> Any:
        return [self._outward(view)[1] - (self.cylinder - self.radius if self.inside else self.cylinder + self.radius)]

    def psi(self, view: View) -> Any:
        e1, _ = self._outward(view)
        body, axis = view.frame(self.body), vec(self.axis)
        slip = body.v + body.spin().cross(e1 * (self.radius if self.inside else -self.radius))
        return [slip.dot(axis), slip.dot(axis.cross(e1))]


@tree
class KnifeEdge(_OneBody):
    """A point of a body does not move across a blade.

    body    name of the body
    at      the point: m, body axes, from the centre of mass
    normal  the direction in which it does not move: body axes, any length
    name    for errors and the rows of results; made of its kind and body unless given"""

    body: Static[str]
    at: Any = (0.0, 0.0, 0.0)
    normal: Any = (0.0, 1.0, 0.0)
    name: Static[str] = ""

    nonholonomic = 1

    def bind(self, bodies: Mapping[str, Body]) -> Constraint:
        named: Any = super().bind(bodies)
        at = numbers(f"{named.name!r}: at", self.at, (3,))
        return replaced(named, at=at, normal=unit(f"{named.name!r}: normal", self.normal))

    def psi(self, view: View) -> Any:
        body = view.frame(self.body)
        return [body.point_velocity(self.at).dot(body.direction(self.normal))]
