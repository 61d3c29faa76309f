"""A step that is halved where its equations are not solved, as the paper's algorithm does."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from polhode.multibody.describe.state import State
from polhode.multibody.step.method import Method, Step
from polhode.multibody.system import System
from polhode.solve import Report


def _three_field() -> Method:
    from polhode.multibody.step.three_field import ThreeField  # which halves its steps where it must

    return ThreeField()


@dataclass(frozen=True)
class Halving(Method):
    """Tries h, then twice h/2, then four times h/4, ... until every part is solved, at most `limit` halvings.

    `Step.parts` is the number of parts taken, 1 where nothing was halved; the report is that of
    the parts together. A step that fails in the smallest parts too is reported as not converged."""

    base: Method = field(default_factory=_three_field)
    limit: int = 6
    fast: bool = True  # whether to halve a step in which a body turns by π or more as well, or leave it unsolved

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"halving-{self.base.name}"

    @property
    def summary(self) -> str:
        return f"{self.base.name}, with steps halved where their equations are not solved"

    @property
    def order(self) -> int:  # type: ignore[override]
        return self.base.order

    @property
    def rungs(self) -> tuple[Method, ...]:
        return (*(replace(self, base=base) for base in self.base.rungs[:-1]), self)

    def prepare(self, system: System, state: State, t: Any = 0.0) -> State:
        return self.base.prepare(system, state, t)

    def step(self, system: System, state: State, t: Any, h: Any) -> Step:
        start: State = jax.tree.map(jnp.asarray, state)
        none = Report(jnp.asarray(True), jnp.asarray(0), jnp.asarray(0.0))

        turns = jnp.max(jnp.sum((h * start.omegas) ** 2, axis=-1))
        slow = self.fast | (turns < (0.9 * jnp.pi) ** 2)

        def one(carry: Any) -> Any:
            """The next part; after a failure, from the start again with parts of half the size."""
            now, report, done, parts, spent = carry
            size = h / parts
            result = self.base.step(system, now, t + done * size, size)
            good = result.report.converged & _finite(result.state)
            so_far = report.then(result.report)
            again = ~good & (parts < 2**self.limit) & slow
            keep = jax.tree.map(lambda a, b: jnp.where(again, b, a), result.state, start)
            report = jax.tree.map(lambda a, b: jnp.where(again, b, a), so_far, none)
            stop = ~good & ~again
            report = Report(report.converged & good | again, report.iterations, report.error)
            done = jnp.where(again, 0, jnp.where(stop, parts, done + 1))
            return keep, report, done, jnp.where(again, 2 * parts, parts), spent + result.report.iterations

        def unfinished(carry: Any) -> Any:
            return carry[2] < carry[3]

        first = (start, none, jnp.asarray(0), jnp.asarray(1), jnp.asarray(0))
        now, report, _, parts, spent = lax.while_loop(unfinished, one, first)
        now = replace(now, halvings=start.halvings + (parts > 1))
        return Step(now, Report(report.converged, spent, report.error), parts)


def _finite(state: State) -> Any:
    return jnp.all(jnp.array([jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves(state)]))
