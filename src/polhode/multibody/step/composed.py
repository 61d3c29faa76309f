"""Compositions of a symmetric step with itself, to order 4, 6 or 8."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import jax.numpy as jnp
from jax import lax

from polhode.methods.composition import TRIPLE4, Weights
from polhode.multibody.describe.state import State
from polhode.multibody.step.method import Method, Step
from polhode.multibody.step.three_field import ThreeField
from polhode.multibody.system import System
from polhode.solve import Report


@dataclass(frozen=True)
class Composed(Method):
    """Steps of γ₁h, γ₂h, ... of a symmetric second-order method, one after the other.

    The multipliers that it returns are those of the last of these steps, half of γh back:
    of second order, whatever the order of the motion."""

    weights: Weights = TRIPLE4
    base: Method = field(default_factory=ThreeField)

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{self.weights.name}-{self.base.name}"

    @property
    def summary(self) -> str:
        return f"{len(self.weights.fractions)} steps of {self.base.name} in one"

    @property
    def paper(self) -> str:  # type: ignore[override]
        return self.weights.paper

    @property
    def order(self) -> int:  # type: ignore[override]
        return self.weights.order

    @property
    def rungs(self) -> tuple[Method, ...]:
        return tuple(replace(self, base=base) for base in self.base.rungs)

    def prepare(self, system: System, state: State, t: Any = 0.0) -> State:
        return self.base.prepare(system, state, t)

    def step(self, system: System, state: State, t: Any, h: Any) -> Step:
        def part(carry: Any, fraction: Any) -> Any:
            state, report, t, parts = carry
            result = self.base.step(system, state, t, fraction * h)
            return (result.state, report.then(result.report), t + fraction * h, parts + result.parts), None

        start = (state, Report.explicit(), jnp.asarray(t, dtype=float), jnp.asarray(0))
        (state, report, _, parts), _ = lax.scan(part, start, jnp.array(self.weights.fractions))
        return Step(state, report, parts)
