"""Applied forces. Each says, for the bodies it reads, force in space axes and torque in body axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

import jax
import jax.numpy as jnp

from polhode.algebra.arrays import cross, dot, product, skew, turn_back
from polhode.model.checks import InputError, numbers, unknown
from polhode.model.functions import parameters_of
from polhode.model.pytree import Code, Static, replaced, tree
from polhode.multibody.describe.affine import FREE, check_function
from polhode.multibody.describe.bodies import GROUND, Body
from polhode.multibody.describe.views import OfView, View, bodies_used, frame_of


class Applied:
    """Base of every force."""

    conservative: Any = False  # all of it accounted for by `energy`, with no explicit time
    constant: Any = False  # the same force in space axes at all times, and no torque
    along_a_line: Any = False  # between points of two bodies, each pulled as much as the other

    @property
    def bodies(self) -> tuple[str, ...]:
        """The bodies it acts on."""
        raise NotImplementedError

    def bind(self, bodies: Mapping[str, Body]) -> Applied:
        for body in self.bodies:
            if body not in bodies:
                raise InputError(f"{type(self).__name__}: {unknown('body', body, [*bodies, GROUND])}")
        return self

    def traced(self, names: Sequence[str]) -> Applied:
        """The same with users' functions as they are now, among bodies of these names; see `Traced`."""
        return self

    def loads(self, view: View) -> list[tuple[Any, Any]]:
        """(force in space axes, N; torque about the centre of mass in body axes, N m) for each of `bodies`."""
        raise NotImplementedError

    def everywhere(self, masses: Any) -> Any:
        """The same for every body of the system, (N, 6), of these masses, where the force is constant."""
        raise NotImplementedError

    def energy(self, view: View) -> Any:
        """Potential energy (J); 0 for a force that has none. Not asked for where the force is constant: it is
        -Σ f · r."""
        return jnp.asarray(0.0)


@tree
class Gravity(Applied):
    """A uniform field on every body: U = -Σ m g · r.

    g  m/s², space axes"""

    g: Any = (0.0, 0.0, -9.81)
    uses: Static[tuple[str, ...]] = field(default=(), init=False, repr=False)
    conservative = True
    constant = True

    @property
    def bodies(self) -> tuple[str, ...]:
        return self.uses

    def bind(self, bodies: Mapping[str, Body]) -> Applied:
        return replaced(self, g=numbers("gravity", self.g, (3,)), uses=tuple(bodies))

    def everywhere(self, masses: Any) -> Any:
        return jnp.pad(jnp.asarray(masses)[:, None] * self.g, ((0, 0), (0, 3)))


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
    length      where it pulls and pushes nothing, m
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
        # At no distance it grows by |rate|, along the rate itself.
        square = dot(d, d)
        apart = square > 1e-290
        along = dot(d, rate) / jnp.where(apart, square, 1.0) * d
        return self.coefficient * jnp.where(apart, along, rate)


class _OnOne(Applied):
    fn: Any
    body: Any
    frame: Any
    parameters: Any
    among: Any  # all bodies of the system, which numbers count

    def _say(self, *, fn: Any, parameters: Any, by_keyword: Mapping[str, Any], **fields: Any) -> None:
        kind = f"{type(self).__name__} on {fields['body']!r}"
        if callable(fn):
            parameters = parameters_of(kind, fn, parameters, by_keyword)
        elif parameters or by_keyword:
            given = ", ".join(sorted({**(parameters or {}), **by_keyword}))
            raise InputError(f"{kind}: three numbers take no parameters; got {given}")
        for name, value in {**fields, "fn": fn, "parameters": parameters or {}}.items():
            object.__setattr__(self, name, value)

    @property
    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def bind(self, bodies: Mapping[str, Body]) -> Applied:
        super().bind(bodies)
        kind = type(self).__name__
        if self.frame not in ("body", "space"):
            raise InputError(f"{kind} on {self.body!r}: frame must be 'body' or 'space'; got {self.frame!r}")
        if not callable(self.fn):
            value = numbers(f"{kind} on {self.body!r}", self.fn, (3,))
            if value.shape != (3,):
                raise InputError(f"{kind} on {self.body!r} must be 3 numbers; got an array of shape {value.shape}")
            return replaced(self, fn=_constant, parameters={"value": value}, among=tuple(bodies))
        _, shape = bodies_used(self._value, tuple(bodies), self._what)
        if shape != (3,):
            raise InputError(
                f"{kind} on {self.body!r}: its function must return three components; it returned shape {shape}"
            )
        return replaced(self, among=tuple(bodies))

    @property
    def _what(self) -> str:
        return f"{type(self).__name__} on {self.body!r}"

    def traced(self, names: Sequence[str]) -> Applied:
        return replaced(self, fn=OfView.of(self._what, self.fn, names, self.parameters, (3,)))

    def _value(self, view: View) -> Any:
        return jnp.asarray(self.fn(view.among(self.among), **self.parameters), dtype=float)


def _constant(view: View, value: Any) -> Any:
    return value


@tree
class Force(_OnOne):
    """A force (N) at a point of a body: three numbers, or a function of a view that returns three.

    `body` is its name, `at` the point where it acts (m, body axes, from the centre of mass), `frame`
    says in which axes the three numbers are, "space" or "body". Other numbers that the function takes
    are given by name: `Force("cart", lambda view, k: -k * view.position("cart"), k=30.0)`, or in a
    dictionary, `parameters={"k": 30.0}`; changing them compiles nothing."""

    body: Static[str]
    fn: Code[Any]
    at: Any
    frame: Static[str]
    parameters: dict[str, Any]
    among: Static[tuple[str, ...]] = ()

    def __init__(
        self,
        body: str,
        fn: Any,
        at: Any = (0.0, 0.0, 0.0),
        frame: str = "space",
        parameters: Mapping[str, Any] | None = None,
        **by_keyword: Any,
    ) -> None:
        self._say(body=body, fn=fn, at=at, frame=frame, parameters=parameters, by_keyword=by_keyword)

    def bind(self, bodies: Mapping[str, Body]) -> Applied:
        bound: Any = super().bind(bodies)
        return replaced(bound, at=numbers(f"Force on {self.body!r}: at", self.at, (3,)))

    def loads(self, view: View) -> list[tuple[Any, Any]]:
        value = self._value(view)
        local = value if self.frame == "body" else turn_back(view.rotation(self.body), value)
        space = value if self.frame == "space" else view.direction(self.body, value)
        return [(space, cross(self.at, local))]


@tree
class Torque(_OnOne):
    """A torque (N m) on a body: three numbers, or a function of a view that returns three.

    `body` is its name, `frame` says in which axes the three numbers are, "body" (as for the `Torque`
    of one body) or "space". Other numbers that the function takes are given by name, or in a
    dictionary, `parameters=`; changing them compiles nothing."""

    body: Static[str]
    fn: Code[Any]
    frame: Static[str]
    parameters: dict[str, Any]
    among: Static[tuple[str, ...]] = ()

    def __init__(
        self,
        body: str,
        fn: Any,
        frame: str = "body",
        parameters: Mapping[str, Any] | None = None,
        **by_keyword: Any,
    ) -> None:
        self._say(body=body, fn=fn, frame=frame, parameters=parameters, by_keyword=by_keyword)

    def loads(self, view: View) -> list[tuple[Any, Any]]:
        value = self._value(view)
        return [(jnp.zeros(3), value if self.frame == "body" else turn_back(view.rotation(self.body), value))]


@tree
class Potential(Applied):
    """An energy U(view) in J; forces are -dU along displacements in space and rotations in body axes.

    Other numbers that the function takes are given by name: `Potential(lambda view, k: ..., k=30.0)`,
    or in a dictionary, `parameters={"k": 30.0}`; changing them compiles nothing."""

    fn: Code[Callable[..., Any]]
    parameters: dict[str, Any]
    uses: Static[tuple[str, ...]] = ()
    among: Static[tuple[str, ...]] = ()
    conservative = True

    def __init__(self, fn: Callable[..., Any], parameters: Mapping[str, Any] | None = None, **by_keyword: Any) -> None:
        if not callable(fn):
            raise InputError(f"Potential needs a function of a view; got {fn!r}")
        object.__setattr__(self, "fn", fn)
        object.__setattr__(self, "parameters", parameters_of("Potential", fn, parameters, by_keyword))

    @property
    def bodies(self) -> tuple[str, ...]:
        return self.uses

    def bind(self, bodies: Mapping[str, Body]) -> Applied:
        uses, shape = bodies_used(lambda view: self.fn(view, **self.parameters), tuple(bodies), "a Potential")
        if shape != ():
            raise InputError(
                f"the function of a Potential must return one number; it returned an array of shape {shape}"
            )
        return replaced(self, uses=uses, among=tuple(bodies))

    def traced(self, names: Sequence[str]) -> Applied:
        if isinstance(self.fn, OfView):
            return self
        fn = OfView.of("a Potential", self.fn, names, self.parameters, ())
        check_function("the function of a Potential", fn, self.parameters, FREE)
        return replaced(self, fn=fn)

    def energy(self, view: View) -> Any:
        return jnp.asarray(self.fn(view.among(self.among), **self.parameters), dtype=float)

    def loads(self, view: View) -> list[tuple[Any, Any]]:
        r = [view.position(body) for body in self.uses]
        R = [view.rotation(body) for body in self.uses]
        zero = [jnp.zeros(3) for _ in self.uses]

        def energy(shift: Any, turn: Any) -> Any:
            moved = [a + d for a, d in zip(r, shift, strict=True)]
            turned = [A + product(A, skew(d)) for A, d in zip(R, turn, strict=True)]
            at_rest = jnp.zeros(6)
            return self.energy(View(self.uses, lambda i: frame_of(moved[i], turned[i], at_rest), view.t))

        push, twist = jax.grad(energy, argnums=(0, 1))(zero, zero)
        return [(-f, -T) for f, T in zip(push, twist, strict=True)]
