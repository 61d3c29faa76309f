"""Samples of a batch that stay on the GPU where they were computed, as long as there is room for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._programs import platform
from polhode.algebra.library import on_gpu
from polhode.simulation.loop import numbers_in
from polhode.simulation.plan import Plan
from polhode.simulation.samples import Samples

_SHARE = 0.25  # of the free memory of the GPU: putting samples together takes as much again, looking at them too


def free_memory() -> int | None:
    """Bytes that JAX may still take on its device; None where it does not say."""
    known = jax.devices()[0].memory_stats() or {}
    return known["bytes_limit"] - known.get("bytes_in_use", 0) if "bytes_limit" in known else None


def samples_of(plan: Plan, state: Any, later: Callable[[], int], before: int) -> Samples:
    """Of a run that begins in this state, after so many steps."""
    if state.shape and platform() != "cpu":
        free = free_memory()
        if free is not None and 8 * plan.room * numbers_in(state) <= _SHARE * free:
            return SamplesOnGpu(plan, state, later, before)
    return Samples(plan, state, later, before)


class SamplesOnGpu(Samples):
    """Rows in lists, put together where they are looked at; numpy's, where a program on the way gave such."""

    def _make_room(self, room: int, like: list[Any]) -> None:
        self._rows: list[list[Any]] = [[] for _ in like]
        self._filled = 0

    def _put(self, rows: list[Any], end: int) -> None:
        if self._filled > self.count:  # what a call left whose end nobody saw
            states = self.between(0, self.count) if self.count else None
            self._rows = [[x] for x in jax.tree.leaves(states)] if self.count else [[] for _ in rows]
        for kept, new in zip(self._rows, rows, strict=True):
            kept.append(new)
        self._filled = end

    def between(self, first: int, end: int) -> Any:
        if self._rows and len(self._rows[0]) > 1:
            self._rows = [[x] for x in _joined(self._rows)]
        joined = [rows[0] for rows in self._rows]
        whole = (first, end) == (0, self._filled)
        return jax.tree.unflatten(self._tree, joined if whole else [x[first:end] for x in joined])


def _joined(rows: list[list[Any]]) -> list[Any]:
    """In one program, where they are JAX's."""
    ours = any(map(on_gpu, rows[0]))
    return _concatenated(rows) if ours else [np.concatenate(some) for some in rows]


@jax.jit
def _concatenated(rows: list[list[Any]]) -> list[Any]:
    return [jnp.concatenate(some) for some in rows]
