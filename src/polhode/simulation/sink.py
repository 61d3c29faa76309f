"""`Sink`: where samples go that a run does not keep; and `Passing`, samples on their way there."""

from __future__ import annotations

from typing import Any, Protocol

import jax
import numpy as np

from polhode.simulation.loop import capacity_for, numbers_in
from polhode.simulation.plan import Plan
from polhode.simulation.samples import Samples


class Sink(Protocol):
    """It is shown a run after each call of its program, and takes the samples of it."""

    rows: int  # samples of a part: calls end where one is full, so that what is known there does not depend on the rest

    def take(self, walk: Any) -> None:
        """The samples in `walk.saved`, which are forgotten after."""


class Passing(Samples):
    """As many as come from one call."""

    def __init__(self, plan: Plan, state: Any) -> None:
        self.plan = plan
        room = capacity_for(numbers_in(state)) + 2
        leaves, self._tree = jax.tree.flatten(state)
        self._arrays = [np.empty((room, *np.shape(x))) for x in leaves]
        self.counts, self.offsets, self.count = np.empty(room, int), np.zeros(room), 0

    def put(self, counts: np.ndarray, rows: list[np.ndarray], offset: float = 0.0) -> int:
        while self.count + len(counts) > len(self.counts):  # times of their own may be many in one step
            self._arrays = [np.concatenate([x, np.empty_like(x)]) for x in self._arrays]
            self.counts, self.offsets = (np.concatenate([x, np.zeros_like(x)]) for x in (self.counts, self.offsets))
        return super().put(counts, rows, offset)


def steps_to_full(done: int, plan: Plan, rows: int) -> int:
    """Steps after which a part of so many samples is full; without end where samples are at times of their own."""
    if plan.at is not None:
        return plan.total
    parts = (done // plan.every + 1) // rows + 1
    return (parts * rows - 1) * plan.every - done
