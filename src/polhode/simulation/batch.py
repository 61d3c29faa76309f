"""`Batch`: what every program of a batch has in common: who was lost, and where the call ends."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import jax
import numpy as np

from polhode.algebra.library import library_of
from polhode.simulation.loop import Block
from polhode.solve import Report


class Batch(ABC):
    """Called as the program of one body is."""

    def __init__(self, state: Any) -> None:
        self.shape, self.count = state.shape, math.prod(state.shape)

    @abstractmethod
    def run(self, state: Any, done: Any, t0: Any, h: Any, count: Any, stride: Any) -> tuple[Any, Any, Any, Any, Any]:
        """`count` samples, `stride` steps apart: the state, `Ended` of the members, the largest tally, samples, in
        arrays of numpy or of a GPU, and `OfMembers` if that is known. Members that are lost are NaN from there on."""

    def pace(self, state: Any, done: Any, t0: Any, h: Any) -> float:
        """Seconds of a step from here, as far as that is known before the first call: most that it may be."""
        return math.inf

    @abstractmethod
    def all_here(self, ended: Any) -> bool:
        """Whether no member was lost."""

    def packed(self, ended: Any) -> Any:
        """`Ended` of the members packed, in one array."""
        return np.asarray(ended)

    def __call__(self, state: Any, done: Any, t0: Any, h: Any, count: Any, stride: Any) -> Block:
        """The last members that are left stay where they were when their step failed, and the call ends there."""
        begun = state
        state, ended, tally, samples, seen = self.run(begun, done, t0, h, count, stride)
        taken = int(count * stride)
        if self.all_here(ended):  # most: nothing else is looked at, which would have to come from a GPU
            return Block(state, done + taken, tally, np.asarray(True), Report.explicit(), samples, extremes=seen)
        here, failed, converged, error, iterations = self.packed(ended).reshape(5, *self.shape)
        if not here.any() and not failed.any():  # none was there to take a step
            failed, converged = np.ones(self.shape), np.ones(self.shape)  # what is not finite is not solved either
        if not here.any():
            taken = max(int(failed.max()) - 1, 0)
            state = self.run(begun, done, t0, h, np.int64(1), np.int64(taken))[0] if taken else begun
        failed = np.where(failed > 0, failed, -1).astype(int)
        report = Report(converged > 0, iterations.astype(int), error)
        return Block(state, done + taken, tally, here > 0, report, samples, failed, seen)

    def flat(self, x: Any) -> Any:
        """Numbers of each member, members in one axis; of numbers for all the same for each."""
        rest = np.shape(x)[len(self.shape) :]
        return library_of(x).broadcast_to(x, (*self.shape, *rest)).reshape(self.count, *rest)

    def shaped(self, leaves: list[Any], like: Any, *front: int) -> Any:
        """As a state, axes in front of the members'."""
        tree, depth = jax.tree.structure(like), len(front) + 1
        return jax.tree.unflatten(tree, [x.reshape(*front, *self.shape, *x.shape[depth:]) for x in leaves])
