"""`Revolute`: a hinge, free or driven by a function of time.

Its rows turn with a, so of two bodies let b be the one that spins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from polhode._programs import Traced, traced
from polhode.model.checks import InputError
from polhode.model.functions import failures_named
from polhode.model.pytree import Code, Static, replaced, tree
from polhode.multibody.describe.bodies import GROUND, Body
from polhode.multibody.describe.constraints import Constraint
from polhode.multibody.describe.joint import DIRECTION, POINT, AboutAxis, X, Y, Z
from polhode.multibody.describe.views import View


class OfTime(Traced):
    """A function of time."""

    def __call__(self, t: Any) -> Any:
        return self.evaluate(t)


@tree
class Revolute(AboutAxis):
    __doc__ = f"""A hinge: b turns about an axis of a: one freedom, or none where it is driven.
{POINT}{DIRECTION}
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
        """Five, and one for its drive."""
        return 5 + (self.angle is not None)

    @property
    def rheonomic(self) -> bool:
        """Whether it is driven."""
        return self.angle is not None

    def traced(self, names: Sequence[str]) -> Constraint:
        return replaced(self, angle=_traced(self.angle))

    @property
    def labels(self) -> tuple[str, ...]:
        return super().labels + ((f"{self.name}.angle",) if self.angle is not None else ())

    def phi(self, view: View) -> Any:
        return super().phi(view) + [row for drive in self.driven() for row in drive.phi(view)]

    def driven(self) -> list[Constraint]:
        """What drives it: one row, unless nothing does."""
        if self.angle is None:
            return []
        return [Drive(self.a, self.b, self.triad_a, self.triad_b, self.angle, f"{self.name}.angle")]


@tree
class Drive(Constraint):
    """The angle of a hinge less that of its drive, brought within half a turn either way, so that it is zero in one
    place only."""

    a: Static[str]
    b: Static[str]
    triad_a: Any
    triad_b: Any
    angle: Code[Callable[[Any], Any]]
    name: Static[str]
    holonomic = 1
    rheonomic = True

    @property
    def bodies(self) -> tuple[str, ...]:
        return tuple(name for name in (self.a, self.b) if name != GROUND)

    def traced(self, names: Sequence[str]) -> Constraint:
        return replaced(self, angle=_traced(self.angle))

    def phi(self, view: View) -> Any:
        x_b = view.frame(self.b).direction(self.triad_b[:, X])
        cosine, sine = (view.frame(self.a).direction(self.triad_a[:, i]).dot(x_b) for i in (X, Y))
        f = self.angle(view.t)
        c, s = jnp.cos(f), jnp.sin(f)
        return [jnp.arctan2(sine * c - cosine * s, cosine * c + sine * s)]


def _traced(angle: Any) -> Any:
    if angle is None or isinstance(angle, OfTime):
        return angle
    return OfTime(*traced(lambda t: jnp.asarray(angle(t), dtype=float), np.zeros(()), of=(angle,)))
