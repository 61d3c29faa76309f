"""A step that is halved where its equations are not solved, as the paper's algorithm does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from polhode.model.combinator import Combinator
from polhode.model.method import Method, Step
from polhode.model.traits import Traits
from polhode.solve import Report


@dataclass(frozen=True)
class Halving(Combinator):
    """Tries h, then twice h/2, then four times h/4, ... until every part is solved, at most `limit` halvings.

    The report is that of the parts together, and counts the step as halved where there are more than one. A step that
    fails in the smallest parts too is reported as not converged. Members of a batch are halved together."""

    base: Method
    limit: int = 6
    fast: bool = True  # whether to halve a step in which a body turns by π or more as well, or leave it unsolved

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"halving-{self.base.name}"

    @property
    def summary(self) -> str:
        return f"{self.base.name}, with steps halved where their equations are not solved"

    @property
    def paper(self) -> str:  # type: ignore[override]
        return self.base.paper

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        return self.base.traits

    @property
    def rungs(self) -> tuple[Method, ...]:
        return (*(replace(self, base=base) for base in self.base.rungs[:-1]), self)

    def step(self, system: Any, state: Any, t: Any, h: Any) -> Step:
        start: Any = jax.tree.map(jnp.asarray, self.begin(system, state))
        none = jax.tree.map(lambda x: jnp.broadcast_to(x, start.shape), Report.explicit())
        slow = self.fast | (system.fastest(start) * jnp.abs(h) < 0.9 * jnp.pi)

        def one(carry: Any) -> Any:
            """The next part; after a failure, from the start again with parts of half the size."""
            now, report, done, parts, spent = carry
            size = h / parts
            result = self.base.step(system, now, t + done * size, size)
            good = jnp.all(result.report.converged) & _finite(result.state)
            so_far = report.then(result.report)
            again = ~good & (parts < 2**self.limit) & slow
            keep = jax.tree.map(lambda a, b: jnp.where(again, b, a), result.state, start)
            report = jax.tree.map(lambda a, b: jnp.where(again, b, a), so_far, none)
            stop = ~good & ~again
            report = replace(report, converged=report.converged & good | again)
            done = jnp.where(again, 0, jnp.where(stop, parts, done + 1))
            return keep, report, done, jnp.where(again, 2 * parts, parts), spent + jnp.max(result.report.iterations)

        def unfinished(carry: Any) -> Any:
            return carry[2] < carry[3]

        first = (start, none, jnp.asarray(0), jnp.asarray(1), jnp.asarray(0))
        now, report, _, parts, spent = lax.while_loop(unfinished, one, first)
        spent, halved = (jnp.broadcast_to(x, start.shape) for x in (spent, (parts > 1).astype(int)))
        return Step(now, replace(report, iterations=spent, halvings=report.halvings + halved))


def _finite(state: Any) -> Any:
    return jnp.all(jnp.array([jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves(state)]))
