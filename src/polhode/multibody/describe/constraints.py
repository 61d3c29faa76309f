"""Constraints: φ(q, t) = 0 on positions, ψ(q, ϑ, t) = 0 on velocities; all else by differentiation.

A constraint says φ, ψ, or both; rows of φ come first. The rows A, the rates φ' and their
derivatives follow by automatic differentiation, for a user's function as for a built-in one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import jax.numpy as jnp

from polhode.model.checks import InputError, unknown
from polhode.model.functions import parameters_of
from polhode.model.pytree import Code, Static, replaced, tree
from polhode.multibody.describe.affine import AFFINE, FREE, check_function
from polhode.multibody.describe.bodies import GROUND, Body
from polhode.multibody.describe.views import OfView, View, bodies_used


class Constraint:
    """Base of every constraint. `holonomic` rows of φ, then `nonholonomic` rows of ψ."""

    name: Any
    holonomic: Any = 0
    nonholonomic: Any = 0
    rheonomic: Any = False  # whether φ or ψ may depend on time, or ψ not vanish at rest

    can_be_singular: Any = False

    @property
    def bodies(self) -> tuple[str, ...]:
        """The bodies it reads, the ground left out."""
        raise NotImplementedError

    def bind(self, bodies: Mapping[str, Body]) -> Constraint:
        """Complete, once the bodies and where they start are known."""
        for body in self.bodies:
            if body not in bodies:
                raise _no_body(self, body, bodies)
        return self

    def traced(self, names: Sequence[str]) -> Constraint:
        """The same with users' functions as they are now, among bodies of these names; see `Traced`."""
        return self

    def phi(self, view: View) -> Any:
        """(holonomic,) numbers that stay zero, in m or rad."""
        raise NotImplementedError

    def psi(self, view: View) -> Any:
        """(nonholonomic,) numbers that stay zero, linear or affine in the velocities, in m/s or rad/s."""
        raise NotImplementedError

    def singular(self, view: View) -> Any:
        """How near its rows are to having no meaning: 0 there, 1 far away."""
        return jnp.asarray(1.0)

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each row."""
        count = self.holonomic + self.nonholonomic
        return (self.name,) if count == 1 else tuple(f"{self.name}.{i}" for i in range(count))


def _no_body(constraint: Constraint, body: str, bodies: Mapping[str, Body]) -> InputError:
    if body == GROUND:
        return InputError(f"{type(constraint).__name__} {constraint.name!r} is of one body that moves; got the ground")
    return InputError(f"{type(constraint).__name__} {constraint.name!r}: {unknown('body', body, [*bodies, GROUND])}")


class _FromFunction(Constraint):
    fn: Any
    parameters: Any
    uses: Any
    among: Any  # all bodies of the system, which numbers count
    velocities: ClassVar[int]  # how it may depend on them
    rheonomic = True

    def __init__(
        self, fn: Callable[..., Any], name: str, parameters: Mapping[str, Any] | None = None, **by_keyword: Any
    ) -> None:
        kind = f"{type(self).__name__} {name!r}"
        if not callable(fn):
            raise InputError(f"{kind} needs a function of a view; got {fn!r}")
        object.__setattr__(self, "fn", fn)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "parameters", parameters_of(kind, fn, parameters, by_keyword))

    @property
    def bodies(self) -> tuple[str, ...]:
        return self.uses or ()

    def _call(self, view: View) -> Any:
        return jnp.atleast_1d(jnp.asarray(self.fn(view.among(self.among), **self.parameters), dtype=float))

    def traced(self, names: Sequence[str]) -> Any:
        def rows(view: View, **parameters: Any) -> Any:
            return jnp.atleast_1d(jnp.asarray(self.fn(view, **parameters), dtype=float))

        if isinstance(self.fn, OfView):
            return self
        shape = (self.holonomic + self.nonholonomic,)
        fn = OfView.of(self._what, rows, names, self.parameters, shape)
        check_function(f"the function of {self._what}", fn, self.parameters, self.velocities)
        return replaced(self, fn=fn)

    @property
    def _what(self) -> str:
        return f"{type(self).__name__} {self.name!r}"

    def _bound(self, bodies: Mapping[str, Body], kind: str) -> Any:
        uses, shape = bodies_used(self._call, tuple(bodies), self._what)
        if not uses:
            raise InputError(f"{type(self).__name__} {self.name!r}: its function asks the view for no body")
        if len(shape) != 1:
            raise InputError(
                f"{type(self).__name__} {self.name!r}: its function must return a number or a list of numbers; it "
                f"returned an array of shape {shape}"
            )
        return replaced(self, uses=uses, among=tuple(bodies), **{kind: shape[0]})


@tree
class Holonomic(_FromFunction):
    """φ(view) = 0: one number or several (m, rad) of positions, rotations and `view.t`.

    Other numbers that the function takes are given by name: `Holonomic(circle, "wire", radius=2.0)`,
    or in a dictionary, `parameters={"radius": 2.0}`; changing them compiles nothing."""

    fn: Code[Callable[..., Any]]
    name: Static[str]
    parameters: dict[str, Any]
    uses: Static[tuple[str, ...] | None] = None
    among: Static[tuple[str, ...]] = ()
    holonomic: Static[int] = 0
    velocities: ClassVar[int] = FREE
    __init__ = _FromFunction.__init__

    def bind(self, bodies: Mapping[str, Body]) -> Constraint:
        return self._bound(bodies, "holonomic")

    def phi(self, view: View) -> Any:
        return self._call(view)


@tree
class Nonholonomic(_FromFunction):
    """ψ(view) = 0: one number or several (m/s, rad/s), linear or affine in the velocities.

    Other numbers that the function takes are given by name or as `parameters`, as for `Holonomic`."""

    fn: Code[Callable[..., Any]]
    name: Static[str]
    parameters: dict[str, Any]
    uses: Static[tuple[str, ...] | None] = None
    among: Static[tuple[str, ...]] = ()
    nonholonomic: Static[int] = 0
    velocities: ClassVar[int] = AFFINE
    __init__ = _FromFunction.__init__

    def bind(self, bodies: Mapping[str, Body]) -> Constraint:
        return self._bound(bodies, "nonholonomic")

    def psi(self, view: View) -> Any:
        return self._call(view)
