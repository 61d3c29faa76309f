"""`Force` and `Torque` on one body: three numbers, or a function of a view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp

from polhode.algebra.arrays import cross, turn_back
from polhode.model.checks import InputError, numbers
from polhode.model.functions import parameters_of
from polhode.model.pytree import Code, Static, replaced, tree
from polhode.multibody.describe.applied import Applied
from polhode.multibody.describe.bodies import Body
from polhode.multibody.describe.views import OfView, View, bodies_used


class _OnOne(Applied):
    """What forces and torques on one body have in common."""

    fn: Any
    body: Any
    frame: Any
    parameters: Any
    among: Any  # the names of all bodies of the system: a view may call a body by its number among them

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
        """Complete, once the bodies are known."""
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
