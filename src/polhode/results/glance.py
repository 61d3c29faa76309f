"""A glance at all samples: whether there is anything to look into.

What is looked for are the promises of sentinels, quantities without a value, and an energy that grew, by the same
rules as everywhere; only where there is something, it is looked at sample by sample who it is and what. Samples of a
large batch are looked at in one program and where they are: on a GPU they stay there; on a CPU some members of them
after the other, on all cores, so that what is made of their samples stays in cache.
"""

from __future__ import annotations

import math
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
from polhode.simulation.extremes import LEAST
from polhode.simulation.tiles import workers

# Numbers in all samples, from which on it takes less time than to look at them one by one: each size is compiled.
_MANY = {"cpu": 2**23, "gpu": 2**16}
# On a CPU of so many members, and numbers in their samples, some after the other: so many numbers, a power of 2 of
# members and of samples, so that few sizes are compiled.
_LARGE, _NUMBERS, _AT_ONCE = 2**12, 2**20, 2**17


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
    """False also where it was not looked at, of one body, runs that are small, or of more than one system. `first`:
    samples from which on it began, if it is not its own first one."""
    kept = run.trajectory
    if run.kind != "rotation" or not len(kept.steps) or run.changes or any(event.acted for event in run.events):
        return False
    if run.renewals or run.halvings or not (run.members or any(map(on_gpu, jax.tree.leaves(kept.states)))):
        return False
    numbers, members = sum(x.size for x in jax.tree.leaves(kept.states)), math.prod(run.members)
    own = run.now.own_numbers() if platform() == "cpu" and members >= _LARGE and numbers >= _NUMBERS else None
    if own is None and numbers < _MANY.get(platform(), 2**16):
        return False
    first = jax.tree.map(lambda x: x[:1], kept.states if first is None else first)
    if own is None:
        return bool(_glance(run.method, run.now, first, kept.states, kept.steps * 1.0, run.t))
    return _nothing_wrong_in_parts(run, own, first, numbers // (members * len(kept.steps)))


def _nothing_wrong_in_parts(run: Any, own: Any, first: Any, numbers: int) -> bool:
    """The same of some members after the other, each with so many numbers. The last ones may be looked at twice, and
    the last sample is, up to a power of 2."""
    kept, shape, members = run.trajectory, run.members, math.prod(run.members)
    samples = 1 << (len(kept.steps) - 1).bit_length()
    each = min(members, 1 << max(6, (_AT_ONCE // (samples * numbers)).bit_length() - 1))
    which = np.minimum(np.arange(samples), len(kept.steps) - 1)
    times = kept.steps[which] * 1.0, run.t[which]
    leaves, tree = jax.tree.flatten((run.now, first, kept.states, *times))
    system, states = jax.tree.leaves(own), len(jax.tree.leaves(first))
    # Of each: axes in front of the members', None where it has none of theirs; and whether all samples are in front.
    axes = [*(0 if is_own else None for is_own in system), *[1] * (2 * states), None, None]
    whole = len(system) + states

    def flat(x: Any, front: int) -> Any:
        rest = x.shape[front + len(shape) :]
        return np.broadcast_to(x, (*x.shape[:front], *shape, *rest)).reshape(*x.shape[:front], members, *rest)

    leaves = [x if front is None else flat(x, front) for x, front in zip(leaves, axes, strict=True)]

    def part(begin: int) -> Any:
        here = slice(begin, begin + each)
        mine = [x if f is None else x[:, here] if f else x[here] for x, f in zip(leaves, axes, strict=True)]
        if samples > len(kept.steps):
            mine[whole : whole + states] = [x[which] for x in mine[whole : whole + states]]
        return jax.tree.unflatten(tree, mine)

    program = _glance.prepared(run.method, *part(0))
    starts = (min(begin, members - each) for begin in range(0, members, each))
    return all(workers().map(lambda begin: bool(program(*part(begin))), starts))


@stored(static=1, widely=True)
def _glance(method: Any, system: Any, first: Any, states: Any, steps: Any, t: Any) -> Any:
    seen = Seen(method, system, states, steps, t)
    there = jnp.isfinite(sum(jax.tree.leaves(states)))
    fine = ~(there & ~jnp.isfinite(seen["kinetic"] + seen["potential"])).any() & ~grew(seen)
    look = Look(seen, slice(0, len(steps)), {}, started(Seen(method, system, first, steps[:1], t[:1])))
    for promise in promises_of(seen, thorough=False):
        fine &= ~promise.seen(look)[0].any()
    size = seen["kinetic"].max(axis=0) + jnp.ptp(seen["potential"], axis=0)
    moves = sum(jnp.abs(x).max(axis=0) for x in states.momentum) > 0.0
    return fine & ~(moves & (size < LEAST)).any()  # of which XLA makes nothing
