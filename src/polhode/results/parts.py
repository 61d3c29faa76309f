"""Parts of a run: before and after an event that changed its system."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from polhode.model.checks import double_precision
from polhode.model.quantity import Quantity, looked_at


def after_change(run: Any, more: Any, now: Any) -> Any:
    """The run, gone on by this trajectory, in which its system was `now`. States are those of the first system: a row
    that was released has no force."""
    before = run.trajectory
    if not run.changes:
        before = replace(before, states=run.now.matched(before.states, run.now))
    whole = before.then(replace(more, states=run.now.matched(more.states, now)))
    first = len(whole.steps) - len(more.steps)
    kept = tuple((i, system) for i, system in run.changes if i < first and system is not now)
    if run.changes and run.changes[-1][1] is now:
        first = min(first, run.changes[-1][0])
    return replace(run, trajectory=whole, changes=(*kept, (first, now)))


def _parts(run: Any) -> Iterator[tuple[Any, Any, np.ndarray]]:
    """Each: its system, its states, their times."""
    if not run.changes:
        yield run.now, run.state, run.t
        return
    starts = [(0, run.now), *run.changes]
    ends = [first for first, _ in run.changes] + [len(run.t)]
    for (first, system), end in zip(starts, ends, strict=True):
        if first < end:
            states = jax.tree.map(lambda x, part=slice(first, end): x[part], run.state)
            yield system, system.matched(states, run.now), run.t[first:end]


def over_parts(run: Any, looked: Callable[[Any, Any, np.ndarray], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """What is looked at in each part, of (system, states, t), put together."""
    found = [looked(*part) for part in _parts(run)]
    return {name: np.concatenate([part[name] for part in found]) for name in found[0]} if len(found) > 1 else found[0]


def mapped(run: Any, quantities: Sequence[Quantity]) -> dict[str, np.ndarray]:
    """The values of these at every sample."""
    double_precision()
    return over_parts(run, lambda *part: looked_at(quantities, *part))
