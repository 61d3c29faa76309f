"""`Potential`: forces that follow from an energy, a function of a view, by automatic differentiation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from polhode.algebra.arrays import product, skew
from polhode.model.checks import InputError
from polhode.model.functions import parameters_of
from polhode.model.pytree import Code, Static, replaced, tree
from polhode.multibody.describe.affine import FREE, check_function
from polhode.multibody.describe.applied import Applied
from polhode.multibody.describe.bodies import Body
from polhode.multibody.describe.views import OfView, View, bodies_used, frame_of


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
        """Complete, once the bodies that its function asks for are known."""
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
