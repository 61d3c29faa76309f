"""`Joint`: the rows of a joint between two bodies, or a body and the ground.

A joint is a choice among three kinds of rows. With anchors s and triads (x, y, z) fixed in
either body, and d the vector from the anchor on a to the anchor on b, they are
closure d = 0, sliding d · x_a = 0, and perpendicularity x_a · z_b = 0. The rows of closure, and so
its force, are on the axes of space. The triads, `triad_a` in the axes of a, begin as the axes of space, or
have the axis of the joint as their z.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from polhode.algebra import Vec3
from polhode.model.checks import InputError, numbers
from polhode.model.pytree import Static, replaced, tree
from polhode.multibody.describe.bodies import GROUND, Body
from polhode.multibody.describe.constraints import Constraint, _no_body
from polhode.multibody.describe.views import View

X, Y, Z = 0, 1, 2

# What the descriptions of joints have in common.
BODIES = """
    a, b        names of the two bodies, or "ground" for one of them
    name        of the joint, for errors and the rows of results; made of its kind and bodies unless given"""
POINT = f"""{BODIES}
    at          the point where they are joined: m, space axes, where the bodies start; or instead of it
    at_a, at_b  that point as seen from either body: m, body axes, from the centre of mass of a and of b
                ("ground": space axes, from the origin)"""
DIRECTION = """
    axis        a direction of any length: space axes, as the bodies start; fixed in a from then on"""


class Projection(NamedTuple):
    """One row, as numbers: see `rows.joint_rows`."""

    at_a: Any = (0.0, 0.0, 0.0)
    at_b: Any = (0.0, 0.0, 0.0)
    turns: Any = (0.0, 0.0, 0.0)
    fixed: Any = (0.0, 0.0, 0.0)
    moves: float = 1.0
    stretch: float = 0.0
    length: float = 0.0


class Joint(Constraint):
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
        for body in (self.a, self.b):
            if not isinstance(body, str):
                kind = type(self).__name__
                raise InputError(f"{kind} takes the names of two bodies, {kind}('rod', 'ground', ...); got {body!r}")
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

    def _second(self, triad: np.ndarray, name: str) -> np.ndarray:
        return triad

    def _triad(self, name: str) -> np.ndarray:
        """Columns x, y, z in space, z along the axis."""
        if self.axis is None:
            if self.needs_axis:
                raise InputError(f"joint {name!r} needs an axis, three numbers in space axes: axis=(0, 0, 1)")
            return np.eye(3)
        return triad_about(unit(f"joint {name!r}: axis", self.axis))

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
            rows += [*d] if self.closed else [d.dot(self._axis(view, "a", i)) for i in self.slides]
        return rows + [self._axis(view, "a", i).dot(self._axis(view, "b", j)) for i, j in self.perpendicular]

    def driven(self) -> list[Constraint]:
        """Rows of its own besides those in closed form, the last ones."""
        return []

    def projections(self) -> list[Projection]:
        """Its rows in closed form."""
        points = Projection(self.at_a, self.at_b)
        if self.closed:
            rows = [points._replace(fixed=axis) for axis in np.eye(3)]
        else:
            rows = [points._replace(turns=self.triad_a[:, i]) for i in self.slides]
        return rows + [
            Projection(at_b=self.triad_b[:, j], turns=self.triad_a[:, i], moves=0.0) for i, j in self.perpendicular
        ]

    def _axis(self, view: View, side: str, i: int) -> Vec3:
        body, triad = (self.a, self.triad_a) if side == "a" else (self.b, self.triad_b)
        return view.frame(body).direction(triad[:, i])


@tree
class AboutAxis(Joint):
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


def _rotation(body: str, bodies: Mapping[str, Body]) -> np.ndarray:
    return np.eye(3) if body == GROUND else bodies[body].rotation


def _local(body: str, point: np.ndarray, bodies: Mapping[str, Body]) -> np.ndarray:
    """A point in space, in the axes of a body from its centre of mass."""
    return point if body == GROUND else bodies[body].rotation.T @ (point - bodies[body].position)


def unit(name: str, value: Any) -> np.ndarray:
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
