"""A glance at the samples of several runs of systems of one structure, in one program: in which of them there is
nothing to look into, by the rules of `glance`. The others are looked at one by one."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from polhode._programs import stored
from polhode.results.glance import Seen
from polhode.results.judgement import grew
from polhode.results.look import Look
from polhode.results.sentinels import promises_of
from polhode.results.sizes import size_of

_AT_A_TIME = 1024  # members
_JUDGED = ("kinetic", "potential", "slip", "gap")


def nothing_wrong_in(
    method: Any, system: Any, own: tuple[bool, ...], states: Any, steps: np.ndarray, t: np.ndarray
) -> np.ndarray:
    """Of each member: its axis is the first one of states, with samples behind, and of numbers of the system that are
    its `own`. There are programs for 1, 2, 4, ... samples and members."""
    leaves, tree = jax.tree.flatten(system)
    count = len(jax.tree.leaves(states)[0])
    rows = np.minimum(np.arange(_power(len(steps))), len(steps) - 1)  # the last one again
    found = np.zeros(count, bool)
    width = min(_power(count), _AT_A_TIME)
    for first in range(0, count, width):
        which = np.minimum(np.arange(first, first + width), count - 1)
        mine = jax.tree.unflatten(tree, [x[which] if is_own else x for x, is_own in zip(leaves, own, strict=True)])
        some = jax.tree.map(lambda x, which=which: x[which][:, rows], states)
        fine = np.asarray(_glances(method, own, mine, some, steps[rows] * 1.0, t[rows]))
        found[first : first + width] = fine[: count - first]
    return found


def _power(count: int) -> int:
    """Of two, no less."""
    return 1 << (count - 1).bit_length()


@stored(static=2, briefly=True)
def _glances(method: Any, own: tuple[bool, ...], system: Any, states: Any, steps: Any, t: Any) -> Any:
    leaves, tree = jax.tree.flatten(system)

    def one(mine: list[Any], state: Any) -> Any:
        left = iter(mine)
        now = jax.tree.unflatten(tree, [next(left) if is_own else x for x, is_own in zip(leaves, own, strict=True)])
        return _fine(Seen(method, now.replaced(observables=(), traces=()), state, steps, t, "system"))

    return jax.vmap(one, in_axes=(0, 0))([x for x, is_own in zip(leaves, own, strict=True) if is_own], states)


def _fine(seen: Seen) -> Any:
    values = [seen[name] for name in _JUDGED if name in seen]
    fine = jnp.isfinite(sum(values)).all() & ~grew(seen)
    kinetic, energy = seen["kinetic"], seen["energy"]
    largest = lax.cummax(jnp.maximum(kinetic, abs(seen["potential"])))
    drifts = {"energy": abs(energy - energy[0]) / size_of(abs(energy[0]), largest)}
    look = Look(seen, slice(0, len(seen.steps)), drifts, {})
    for promise in promises_of(seen, thorough=False):
        fine &= ~promise.seen(look)[0].any()
    return fine
