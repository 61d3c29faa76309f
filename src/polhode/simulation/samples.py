"""The samples of a run, in arrays that grow no larger than what will be saved, and the memory they take."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import psutil

from polhode.algebra.library import on_gpu
from polhode.model.checks import InputError
from polhode.simulation.loop import capacity_for
from polhode.simulation.plan import Plan
from polhode.simulation.tiles import workers

_FEW = 2**17  # numbers in all samples that no machine is too small for
_MANY = 2**20  # numbers of one sample


def bytes_needed(plan: Plan, numbers: int, later: int) -> int:
    """What a run takes at most, to its dataset and a saved .nc: samples, their counts, two blocks on their way."""
    return 8 * (plan.room * (numbers + 1 + later) + 2 * capacity_for(numbers) * numbers)


def held(state: Any) -> Any:
    """As it is kept: in arrays of numpy, or where it is, if that is a GPU."""
    leaves = jax.tree.leaves(state)
    return state if held_of(leaves) is leaves else jax.tree.map(_held, state)


def held_of(leaves: list[Any]) -> list[Any]:
    """The same of arrays: these, where they are numpy's."""
    for x in leaves:
        if type(x) is not np.ndarray and type(x) is not np.float64:
            return [_held(x) for x in leaves]
    return leaves


def _held(x: Any) -> Any:
    return x if on_gpu(x) else np.asarray(x)


class Samples:
    """Those so far. The first `count` of the arrays count."""

    _between = False  # whether some were between steps
    _large = False  # of so many numbers that putting one by takes a while

    def __init__(self, plan: Plan, state: Any, later: Callable[[], int], before: int = 0) -> None:
        self.plan = plan
        leaves, self._tree = jax.tree.flatten(state)
        room, numbers = plan.room - (before // plan.every if plan.at is None else 0), sum([x.size for x in leaves])
        size = bytes_needed(plan, numbers, later()) if room * numbers > _FEW else 0
        if size > 2**28 and size > (memory := psutil.virtual_memory().available):
            raise InputError(
                f"saving every {plan.every} of {plan.total} steps needs {size / 2**30:.3g} GiB, with the dataset made "
                f"of them, and this machine has {memory / 2**30:.3g} GiB free; save fewer with a larger `every`"
            )
        self._large = numbers > _MANY
        self._make_room(room, leaves)
        self.counts, self.offsets, self.count = np.empty(room, int), np.zeros(room), 0

    def _make_room(self, room: int, like: list[Any]) -> None:
        shapes = [x.shape for x in like]
        if shapes.count(()) == len(like):  # in one piece
            self._arrays = list(np.empty((len(like), room)))
        else:
            self._arrays = [np.empty((room, *shape)) for shape in shapes]

    def take(self, done: int, stride: int, number: int, states: Any) -> int:
        """How many count with those of so many states, the first of them `stride` steps after `done`, that are
        saved."""
        every = self.plan.every
        if self.plan.at is not None:
            return self.count
        counts = np.arange(done + stride, done + stride * number + 1, stride)
        rows: Any = slice(0, number)
        if done % every or stride % every:
            rows = np.flatnonzero(counts % every == 0)
            if not len(rows):
                return self.count
            counts = counts[rows]
        return self.put(counts, [x[rows] for x in held_of(jax.tree.leaves(states))])

    def add(self, count: int, offset: float, state: Any) -> None:
        """One."""
        self.count = self.put(np.array([count]), [x[None] for x in held_of(jax.tree.leaves(state))], offset)

    @property
    def last(self) -> tuple[int, float] | None:
        """Where the last one is: steps, and seconds after them."""
        n = self.count
        return (int(self.counts[n - 1]), float(self.offsets[n - 1])) if n else None

    def put(self, counts: np.ndarray, rows: list[Any], offset: float = 0.0) -> int:
        """How many samples count with these, the arrays of their states."""
        end = self.count + len(counts)
        self.counts[self.count : end] = counts
        self.offsets[self.count : end] = offset
        self._between = self._between or offset != 0.0
        self._put(rows, end)
        return end

    def _put(self, rows: list[Any], end: int) -> None:
        where, pairs = slice(self.count, end), zip(self._arrays, rows, strict=True)
        if self._large:  # on all cores: memory that is new takes its time
            list(workers().map(lambda pair: operator.setitem(pair[0], where, pair[1]), pairs))
            return
        for place, new in pairs:
            place[where] = new

    def kept(self) -> tuple[np.ndarray, Any, np.ndarray | None]:
        """Counts, states and offsets."""
        offsets = self.offsets[: self.count]
        between = self._between and offsets.any()
        return self.counts[: self.count], self.between(0, self.count), offsets if between else None

    def between(self, first: int, end: int) -> Any:
        """The states of these."""
        return jax.tree.unflatten(self._tree, [x[first:end] for x in self._arrays])
