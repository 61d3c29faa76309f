"""A glance at all samples: whether there is anything to look into.

What is looked for are the promises of sentinels, quantities without a value, and an energy that grew, by the same
rules as everywhere; only where there is something, it is looked at sample by sample who it is and what. Samples of a
large batch are looked at in one program and where they are: on a GPU they stay there. Those of one body in one pass
by numpy, some at a time, which takes no longer than to look for what has no value alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._programs import platform, stored
from polhode.algebra.library import on_gpu
from polhode.model.quantity import Quantity
from polhode.results.gauges import started
from polhode.results.judgement import grew
from polhode.results.look import Look
from polhode.results.sentinels import promises_of
from polhode.results.surely import Few

# Numbers in all samples, from which on it takes less time than to look at them one by one: each size is compiled.
_MANY = {"cpu": 2**23, "gpu": 2**16}
_EACH = 2**14  # samples of one body at a time: what is made of them stays in the cache


@dataclass(frozen=True)
class Seen:
    """A run as far as sentinels look at it, inside of a program."""

    method: Any
    now: Any
    state: Any
    steps: Any
    t: Any
    kind: str = "rotation"

    @property
    def trajectory(self) -> Seen:
        return self

    @cached_property
    def quantities(self) -> dict[str, Quantity]:
        return {q.name: q for q in self.now.quantities}

    def __contains__(self, name: object) -> bool:
        return name in self.quantities

    def __getitem__(self, name: str) -> Any:
        q = self.quantities[name]
        if q.made_of:
            return sum(self[part] for part in q.made_of)
        of: Any = q.of
        return of(self.now, self.state, self.t) if q.whole else jax.vmap(partial(of, self.now))(self.state, self.t)


def nothing_wrong(run: Any, first: Any = None) -> bool:
    """False also where it was not looked at, of runs that are small, or of more than one system. `first`: samples
    from which on it began, if it is not its own first one."""
    kept = run.trajectory
    if run.kind != "rotation" or not len(kept.steps) or run.changes or any(event.acted for event in run.events):
        return False
    if run.renewals or run.halvings:
        return False
    if not run.members and first is None and not any(map(on_gpu, jax.tree.leaves(kept.states))):
        return len(kept.steps) >= _EACH and _nothing_wrong_with_one(run)
    if sum(x.size for x in jax.tree.leaves(kept.states)) < _MANY.get(platform(), 2**16):
        return False
    first = jax.tree.map(lambda x: x[:1], kept.states if first is None else first)
    return bool(_glance(run.method, run.now, first, kept.states, kept.steps * 1.0, run.t))


def _nothing_wrong_with_one(run: Any) -> bool:
    kept, of = run.trajectory, {name: q.of for name, q in run.quantities.items()}
    potentials = None if run.quantities["potential"].whole else run["potential"]
    promises, seen = promises_of(run, thorough=False), []
    gauges: dict[str, Any] = {}
    with np.errstate(all="ignore"):
        for first in range(0, len(kept.steps), _EACH):
            rows = slice(first, first + _EACH)
            some = jax.tree.map(lambda x: x[rows], kept.states)  # noqa: B023
            kinetic = of["kinetic"](run.known, some, None)
            potential = of["potential"](run.known, some, None) if potentials is None else potentials[rows]
            energy = kinetic + potential
            if not gauges:
                one = jax.tree.map(lambda x: x[:1], some)
                momentum = of["spatial_momentum"](run.known, one, None)
                gauges, most = started({"energy": energy, "spatial_momentum": momentum}), kinetic[0]
            few, steps = Few(some.attitude, some.momentum, energy, gauges), kept.steps[first]
            if not all(p.surely is not None and p.surely(few, p.most(steps)) for p in promises):
                return False
            seen.append((energy.min(), energy.max(), potential.min(), potential.max()))
    (low, _, least, _), (_, high, _, largest) = np.min(seen, axis=0), np.max(seen, axis=0)
    start = gauges["energy.start"]
    return bool(np.isfinite([low, high]).all() and max(high - start, start - low) <= most + (largest - least))


@stored(static=1)
def _glance(method: Any, system: Any, first: Any, states: Any, steps: Any, t: Any) -> Any:
    seen = Seen(method, system, states, steps, t)
    there = jnp.isfinite(sum(jax.tree.leaves(states)))
    fine = ~(there & ~jnp.isfinite(seen["kinetic"] + seen["potential"])).any() & ~grew(seen)
    look = Look(seen, slice(0, len(steps)), {}, started(Seen(method, system, first, steps[:1], t[:1])))
    for promise in promises_of(seen, thorough=False):
        fine &= ~promise.seen(look)[0].any()
    return fine
