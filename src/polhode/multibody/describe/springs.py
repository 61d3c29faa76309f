"""`Spring` and `Damper`: forces along the line between points of two bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from polhode.algebra.arrays import cross, dot, turn_back
from polhode.model.checks import InputError, numbers
from polhode.model.pytree import Static, replaced, tree
from polhode.multibody.describe.applied import Applied
from polhode.multibody.describe.bodies import GROUND, Body
from polhode.multibody.describe.views import View

_ROUND_OFF = 1e-12  # of lengths


class _Between(Applied):
    """A force along the line from a point of a to a point of b."""

    a: Any
    b: Any
    at_a: Any
    at_b: Any
    scalars: Any = ()  # the names of its other numbers
    along_a_line = True

    @property
    def bodies(self) -> tuple[str, ...]:
        return tuple(name for name in (self.a, self.b) if name != GROUND)

    def bind(self, bodies: Mapping[str, Body]) -> Applied:
        super().bind(bodies)
        kind = type(self).__name__
        if self.a == self.b:
            raise InputError(f"{kind} joins {self.a!r} to itself; it needs two bodies, or one and {GROUND!r}")
        given = {name: numbers(f"{kind}: {name}", getattr(self, name), (3,)) for name in ("at_a", "at_b")}
        given |= {name: numbers(f"{kind}: {name}", getattr(self, name)) for name in self.scalars}
        return replaced(self, **given)

    def _apart(self, view: View) -> Any:
        """From the point of a to the point of b, space axes."""
        return view.point(self.b, self.at_b) - view.point(self.a, self.at_a)

    def _pull(self, view: View) -> Any:
        """The force on a, space axes; that on b is its opposite."""
        raise NotImplementedError

    def loads(self, view: View) -> list[tuple[Any, Any]]:
        force = self._pull(view)
        ends = ((self.a, self.at_a, force), (self.b, self.at_b, -force))
        return [(f, cross(s, turn_back(view.rotation(body), f))) for body, s, f in ends if body != GROUND]


@tree
class Spring(_Between):
    """A spring between a point of a and a point of b: U = ½ stiffness (distance - length)².

    a, b        names of the two bodies, or "ground" for one of them
    stiffness   N/m
    length      where it pulls and pushes nothing, m; a spring that has one may not start with its ends at one point,
                where it pushes in no direction rather than in another
    at_a, at_b  its ends: m, body axes, from the centre of mass of a and of b ("ground": space axes, from the origin)"""

    a: Static[str]
    b: Static[str]
    stiffness: Any
    length: Any = 0.0
    at_a: Any = (0.0, 0.0, 0.0)
    at_b: Any = (0.0, 0.0, 0.0)
    conservative = True
    scalars = ("stiffness", "length")

    def _pull(self, view: View) -> Any:
        # k d (1 - length/|d|), so that a spring of no length may pass through zero
        d = self._apart(view)
        short = jnp.where(self.length == 0.0, 0.0, self.length / _root(dot(d, d)))
        return self.stiffness * (1.0 - short) * d

    def look(self, view: View) -> None:
        length, end = float(self.length), np.asarray(view.point(self.b, self.at_b))
        apart = np.linalg.norm(np.asarray(self._apart(view)))
        if length != 0.0 and apart <= _ROUND_OFF * (abs(length) + np.abs(end).max()):
            raise InputError(
                f"Spring between {self.a!r} and {self.b!r} starts with its ends at one point, {apart:.2g} m apart: of "
                f"length {length:g} m, it pushes there, but in no direction rather than in another. Move a body, or an "
                "end (at_a, at_b), by a little; or give length=0"
            )

    def energy(self, view: View) -> Any:
        d = self._apart(view)
        return 0.5 * self.stiffness * (_root(dot(d, d)) - self.length) ** 2


def _root(x: Any) -> Any:
    """√x with a finite derivative at zero."""
    return jnp.sqrt(jnp.maximum(x, 1e-300))


@tree
class Damper(_Between):
    """A damper between a point of a and a point of b: a force of -c times the rate of their distance.

    a, b         names of the two bodies, or "ground" for one of them
    coefficient  c, N s/m
    at_a, at_b   its ends: m, body axes, from the centres of mass of a and b ("ground": space axes, from the origin)"""

    a: Static[str]
    b: Static[str]
    coefficient: Any
    at_a: Any = (0.0, 0.0, 0.0)
    at_b: Any = (0.0, 0.0, 0.0)
    scalars = ("coefficient",)

    def _pull(self, view: View) -> Any:
        d = self._apart(view)
        rate = view.point_velocity(self.b, self.at_b) - view.point_velocity(self.a, self.at_a)
        # Where the points coincide, their distance grows by |rate|, along the rate itself.
        square = dot(d, d)
        apart = square > 1e-290
        along = dot(d, rate) / jnp.where(apart, square, 1.0) * d
        return self.coefficient * jnp.where(apart, along, rate)
