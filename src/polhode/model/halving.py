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
    fails in the smallest parts too is reported as not converged. In a batch every member keeps what the largest parts
    that solve it give, as it would alone."""

    base: Method
    limit: int = 6
    fast: bool = True  # whether to halve a step in which a body turns by π or more as well, or leave it unsolved

    @property
    def name(self) -> str:  # type: ignore[override]
        """halving-METHOD."""
        return f"halving-{self.base.name}"

    @property
    def summary(self) -> str:
        return f"{self.base.name}, with steps halved where their equations are not solved"

    @property
    def paper(self) -> str:  # type: ignore[override]
        """Of the method."""
        return self.base.paper

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """Those of the method."""
        return self.base.traits

    @property
    def rungs(self) -> tuple[Method, ...]:
        return (*(replace(self, base=base) for base in self.base.rungs[:-1]), self)

    def step(self, system: Any, state: Any, t: Any, h: Any) -> Step:
        start: Any = jax.tree.map(jnp.asarray, self.begin(system, state))
        if start.shape:
            return self._step_of_batch(system, start, t, h)
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

    def _step_of_batch(self, system: Any, start: Any, t: Any, h: Any) -> Step:
        """All parts of a size are taken while they are solved in some member that is not done yet; those in which all
        were solved are done, and the others begin again with parts of half the size."""
        none = jax.tree.map(lambda x: jnp.broadcast_to(x, start.shape), Report.explicit())
        slow = jnp.broadcast_to(self.fast | (system.fastest(start) * jnp.abs(h) < 0.9 * jnp.pi), start.shape)
        lost = ~_finite_members(start)  # members of a run that failed before: nothing can be made of them

        def one(carry: Any) -> Any:
            kept, ended, done_with, now, report, done, parts, spent = carry
            size = h / parts
            result = self.base.step(system, now, t + done * size, size)
            spent = spent + jnp.where(done_with, 0, result.report.iterations)
            report = report.then(result.report)
            good = report.converged & _finite_members(result.state)
            report = replace(report, converged=good)
            over = (done + 1 == parts) | ~jnp.any(good & ~done_with)
            last = (parts == 2**self.limit) | ~slow
            new = over & ~done_with & (good | last)
            kept, ended = _where(new, (result.state, report), (kept, ended))
            ended = replace(ended, halvings=jnp.where(new, ended.halvings + (parts > 1), ended.halvings))
            now, report = jax.tree.map(lambda a, b: jnp.where(over, a, b), (start, none), (result.state, report))
            done, parts = jnp.where(over, 0, done + 1), jnp.where(over, 2 * parts, parts)
            return kept, ended, done_with | new, now, report, done, parts, spent

        zero = jnp.zeros(start.shape, int)
        first = (start, replace(none, converged=~lost), lost, start, none, jnp.asarray(0), jnp.asarray(1), zero)
        kept, ended, *_, spent = lax.while_loop(lambda carry: ~jnp.all(carry[2]), one, first)
        return Step(kept, replace(ended, iterations=spent))


def _where(flag: Any, new: Any, old: Any) -> Any:
    """Member by member."""
    return jax.tree.map(lambda a, b: jnp.where(flag, a, b), new, old)


def _finite_members(state: Any) -> Any:
    return jnp.isfinite(sum(jax.tree.leaves(state)))


def _finite(state: Any) -> Any:
    return jnp.all(jnp.array([jnp.all(jnp.isfinite(x)) for x in jax.tree.leaves(state)]))
