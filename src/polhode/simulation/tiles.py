"""`Tiles`: a batch cut into tiles of a fixed width, which stay in cache, on all cores.

One program serves every batch, whatever its size and shape, so a member has the same bits alone in a batch and among a
million others. The last tile is filled up with copies of its last member.
"""

from __future__ import annotations

import math
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from polhode._programs import platform, stored
from polhode.simulation.batch import Batch
from polhode.simulation.extremes import OfMembers, extremes_of_members
from polhode.simulation.loop import capacity_for, numbers_in, run_members

WIDTH = 64  # members; what a step of them makes stays in the first-level cache
_ROOM = 5 * 2**14  # numbers
GROUP = 32  # tiles of a call at most, so that calling takes little of the time
_OF_GPU = 2**15  # members that take as long as one body does elsewhere, at least
_TRIED = 4  # steps of some members, to see how long they take
MANY, LARGE_GROUP = 2**16, 128  # of more members than that a call takes more tiles, to the next sample


def capacity_of(state: Any) -> int:
    """Samples that a call can return: of a batch so few that the loop over a tile is one native function (see
    `_startup`), and that making room for them takes little of the time."""
    numbers, members = numbers_in(state), math.prod(state.shape)
    if not state.shape:
        return capacity_for(numbers)
    if members > MANY:
        return 1
    together = GROUP * WIDTH if members > WIDTH else WIDTH
    return max(1, min(capacity_for(numbers), _ROOM // (numbers // members * together)))


def first_steps(state: Any, steps: int) -> int:
    """Of a run that begins with so many of one body before it looks at the clock."""
    members = math.prod(state.shape)
    if state.shape and platform() == "gpu":
        return max(8, _OF_GPU * steps // members)
    return max(8, steps * WIDTH // max(WIDTH, members))


def growth(state: Any) -> float:
    """How many times as many steps the next call may take, if the last one was that much too short: on a GPU calling
    costs as much as many steps."""
    return 64.0 if state.shape and platform() == "gpu" else 8.0


def slower(state: Any) -> float:
    """How much longer than for one body a run goes on between looks at the clock, the progress bar and Ctrl-C: numbers
    of a batch are put together each time."""
    return min(20.0, 1.0 + numbers_in(state) / 2**20)


def run_tiles_of(
    method: Any, own: tuple[bool, ...], capacity: int, system: Any, begun: Any, t_begun: Any, state: Any, done: Any,
    t0: Any, h: Any, count: Any, stride: Any, tiles: Any,
) -> Any:  # fmt: skip
    """`run_members` of the first so many tiles, which are in front in the states and in the system's `own` numbers; and
    how far they went from where they began."""
    leaves, tree = jax.tree.flatten(system)

    def run(k: Any) -> Any:
        at = lambda x: lax.dynamic_index_in_dim(x, k, keepdims=False)  # noqa: E731
        mine = jax.tree.unflatten(tree, [at(x) if is_own else x for x, is_own in zip(leaves, own, strict=True)])
        end, ended, tally, rows = run_members(
            method, mine, jax.tree.map(at, state), done, t0, h, count, stride, capacity
        )
        t = lambda j: t0 + (done + (j + 1) * stride) * h  # noqa: E731
        went = extremes_of_members(mine, t_begun, jax.tree.map(at, begun), t, count, rows)
        return end, ended, tally, rows if capacity > 1 else None, went  # the only sample is the end

    def next_one(k: Any, so_far: Any) -> Any:
        put = lambda rows, x: lax.dynamic_update_index_in_dim(rows, x, k, 0)  # noqa: E731
        return jax.tree.map(put, so_far, run(k))

    room = jax.tree.leaves(state)[0].shape[0]
    if room == 1:
        return jax.tree.map(lambda x: x[None], run(0))
    empty = jax.tree.map(lambda x: jnp.zeros((room, *x.shape), x.dtype), jax.eval_shape(run, 0))
    return lax.fori_loop(0, tiles, next_one, empty)


run_tiles = stored(run_tiles_of, static=3, widely=True)


@cache
def workers() -> ThreadPoolExecutor:
    """A thread for every core: XLA lets go of Python while it computes."""
    return ThreadPoolExecutor(cores(), "polhode")


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class _Start:
    """Where a run began that goes on from call to call: members of each call, and when."""

    parts: list[Any]
    t: np.float64
    mark: object = field(default_factory=object)


class Tiles(Batch):
    """A batch in tiles. Where it cannot be told which numbers are of each member, it is one tile."""

    def __init__(self, method: Any, system: Any, state: Any) -> None:
        super().__init__(state)
        known = system.own_numbers() if platform() == "cpu" else None
        self._own = tuple(jax.tree.leaves(known)) if known is not None else (False,) * len(jax.tree.leaves(system))
        self._tile = self.shape if known is None else (WIDTH,)
        self._width = self.count if known is None else WIDTH
        tiles = -(-self.count // self._width)
        self._room = 1 if tiles == 1 else LARGE_GROUP if self.count > MANY else GROUP
        self._capacity = capacity_of(state)
        calls = -(-tiles // self._room)
        calls = min(-(-calls // cores()) * cores(), tiles)  # as many for every core
        self._each = -(-tiles // calls) * self._width  # members of a call
        self._starts = range(0, self.count, self._each)
        self._last: Any = (None, [], None)
        leaves, tree = jax.tree.flatten(system)
        flat = [self.flat(x) if is_own else x for x, is_own in zip(leaves, self._own, strict=True)]
        self._systems = [
            jax.tree.unflatten(
                tree, [self._piece(x, first) if is_own else x for x, is_own in zip(flat, self._own, strict=True)]
            )
            for first in self._starts
        ]
        piece = jax.tree.map(lambda x: self._piece(self.flat(x), 0), state)
        like = (self._systems[0], piece, 0.0, piece, np.int64(0), 0.0, 0.0, np.int64(1), np.int64(1), np.int64(1))
        self._program = run_tiles.prepared(method, self._own, self._capacity, *like)

    def run(self, state: Any, done: Any, t0: Any, h: Any, count: Any, stride: Any) -> tuple[Any, Any, Any, Any, Any]:
        """`Ended` is one array for every call, in tiles."""
        last, parts, begun = self._last
        if state is not last:
            parts, begun = None, None
        flat = state if parts else jax.tree.map(self.flat, state)
        start = begun or _Start([None] * len(self._starts), np.float64(t0 + done * h))
        wide = [np.shape(x)[len(self.shape) :] for x in jax.tree.leaves(state)]
        ends = self._room_for(1, wide)
        samples = self._room_for(int(count), wide) if self._capacity > 1 else ends

        def call(k: int) -> tuple[Any, ...]:
            first = self._starts[k]
            members = min(self._each, self.count - first)
            place, tiles = slice(first, first + members), -(-members // self._width)
            mine = parts[k] if parts else jax.tree.map(lambda x: self._piece(x, first), flat)
            start.parts[k] = mine if begun is None else start.parts[k]
            numbers = (done, t0, h, count, stride, np.int64(tiles))
            new = self._program(self._systems[k], start.parts[k], start.t, mine, *numbers)
            end, how, tally, rows, went = jax.block_until_ready(new)
            for whole, x in zip(ends, jax.tree.leaves(end), strict=True):
                whole[0, place] = self._joined(x, 0)[:members]
            for whole, x in zip(samples, jax.tree.leaves(rows), strict=False):  # no rows: the only sample is the end
                whole[:, place] = self._joined(np.asarray(x)[:tiles, : int(count)], 1)[:, :members]
            return (
                end,
                np.asarray(how)[:tiles],
                np.asarray(tally)[:tiles].max(axis=0),
                np.asarray(went)[:tiles].max(axis=0),
            )

        calls = range(len(self._starts))
        new = [call(0)] if len(calls) == 1 else list(workers().map(call, calls))
        end, ended, tally, most = zip(*new, strict=True)
        whole = self.shaped([x[0] for x in ends], state)
        self._last = (whole, end, start)  # cut already, where the run goes on from there
        seen = OfMembers(start.mark, *np.max(most, axis=0).tolist())
        return whole, ended, np.max(tally, axis=0), self.shaped(samples, state, int(count)), seen

    def pace(self, state: Any, done: Any, t0: Any, h: Any) -> float:
        """From a few steps of some members: a call with all of a large batch takes as long as several steps."""
        calls = len(self._starts)
        if calls == 1:
            return super().pace(state, done, t0, h)
        some = jax.tree.map(lambda x: self._piece(self.flat(x), 0), state)
        numbers = (done, t0, h, np.int64(1), np.int64(_TRIED), np.int64(self._each // self._width))
        began = time.perf_counter()
        jax.block_until_ready(self._program(self._systems[0], some, np.float64(t0), some, *numbers))
        return (time.perf_counter() - began) / _TRIED * calls / cores()

    def all_here(self, ended: Any) -> bool:
        return all(how[:, 0].all() for how in ended)

    def packed(self, ended: Any) -> Any:
        return np.concatenate([self._joined(how, 1) for how in ended], axis=1)[:, : self.count]

    def _room_for(self, samples: int, wide: list[tuple[int, ...]]) -> list[np.ndarray]:
        """Arrays for the numbers of all members, of numbers so wide each, as parts of one: memory that is new comes
        in larger pieces then, which takes less time."""
        sizes = [samples * self.count * math.prod(rest) for rest in wide]
        parts = np.split(np.empty(sum(sizes)), np.cumsum(sizes)[:-1])
        return [x.reshape(samples, self.count, *rest) for x, rest in zip(parts, wide, strict=True)]

    def _joined(self, x: Any, behind: int) -> np.ndarray:
        """Tiles as one axis, behind some others."""
        x = np.moveaxis(np.asarray(x), 0, behind)
        depth = behind + 1 + len(self._tile)
        return x.reshape(*x.shape[:behind], -1, *x.shape[depth:])

    def _piece(self, x: Any, first: int) -> np.ndarray:
        """Numbers of the members of the call that begins with this one, in tiles; the last one is filled up."""
        mine = x[first : first + self._each]
        piece = np.empty((self._room * self._width, *mine.shape[1:]))
        piece[: len(mine)], piece[len(mine) : self._each], piece[self._each :] = mine, mine[-1], 0.0
        return piece.reshape(self._room, *self._tile, *mine.shape[1:])
