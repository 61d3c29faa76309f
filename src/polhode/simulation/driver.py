"""`integrate`: the one driver for every run; in blocks, so that it can be watched and stopped.

It knows nothing of what moves. A method says, of its own kind of state: the batch `shape`, how
a state is `tidied` after a step, and which numbers of a moment are `kept`.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
import psutil

from polhode._notices import warn
from polhode._programs import Traced
from polhode._signals import Signals
from polhode.model import InputError
from polhode.model.checks import numbers, positive, shown, whole
from polhode.model.functions import as_float
from polhode.simulation.loop import Block, capacity_for, run_block, run_block_briefly
from polhode.simulation.progress import Progress
from polhode.simulation.status import Status

_BLOCK_SECONDS = 0.1  # between looks at the clock, the progress bar and Ctrl-C
_FIRST_BLOCK = 16_384  # steps
_CAREFUL = 32  # steps from one that failed on, taken by a method's next rung


@dataclass(frozen=True)
class Samples:
    """Rows of `method.kept`, and how the run went."""

    steps: np.ndarray  # step counts of the samples; t = t0 + steps * step
    values: np.ndarray  # (samples, numbers, *batch)
    status: Status
    seconds: float
    iterations: float  # a step, on average
    worst: float  # largest relative error left in a solved step
    failure: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """How far to go, in what steps, and what to keep."""

    step: float
    total: int
    every: int

    @classmethod
    def of(cls, step: float, until: float | None, steps: int | None, every: int) -> Plan:
        """Checked; a warning where `until` is not a whole number of steps."""
        h = positive("step", step)
        total, notice = count_steps(h, until, steps)
        if notice:
            warn(notice)
        return cls(h, total, whole("every", every, 1))

    @property
    def room(self) -> int:
        """Samples at most: the start, every so many, and the last."""
        return self.total // self.every + 2

    def next(self, done: int, budget: int, capacity: int) -> tuple[int, int]:
        """Samples and steps between them for the next call."""
        to_next = min(self.every - done % self.every, self.total - done)
        if to_next < self.every or budget < self.every:
            return 1, min(budget, to_next)
        return min(capacity, budget // self.every, (self.total - done) // self.every), self.every


def count_steps(step: float, until: float | None, steps: int | None) -> tuple[int, str | None]:
    """How many steps, and a notice where `until` is not a whole number of them."""
    if (until is None) == (steps is None):
        raise InputError(f"give either until or steps; got until={until!r}, steps={steps!r}")
    if steps is not None:
        return whole("steps", steps, 0), None
    ratio = positive("until", until) / step
    if ratio > 2**62:
        raise InputError(f"until = {until!r} is {ratio:.3g} steps of {step!r}; at most 2**62 are counted")
    count = round(ratio)
    if abs(count - ratio) <= 1e-9 * max(1.0, ratio):
        return count, None
    count = math.floor(ratio)
    if count == 0:
        raise InputError(f"until = {until!r} is shorter than one step of {step!r}; take a smaller step")
    return count, (
        f"until = {until!r} is not a whole number of steps of {step!r}: the run ends at step {count}, "
        f"t = {count * step:.12g}"
    )


def integrate(
    method: Any,
    system: Any,
    state: Any,
    plan: Plan,
    *,
    sample: Callable[[Any, Any], Any],
    finite: Mapping[str, int],
    later: int,
    first_block: int = _FIRST_BLOCK,
    progress: bool | None,
    signals: Signals,
) -> Samples:
    """From `state`; `sample(state, t)` is `method.kept`, compiled. `finite`: numbers of a sample that must be finite,
    by name, with their places in it. `later`: how many more numbers a sample of one member takes when its dataset is
    made, for the guard of memory. All numbers are float64 arrays already, so that every run calls the same
    compiled program."""
    first = np.asarray(sample(state, 0.0))
    for name, place in finite.items():
        numbers(f"the {name} at the start", first[place])
    h, total = plan.step, plan.total
    saved, capacity = _Saved(plan, first.shape, finite, later), capacity_for(first.shape)
    saved.count, _ = saved.put(np.zeros(1, int), first[None])
    began = time.perf_counter()
    failure: dict[str, Any] = {}
    status, iterations, worst, done = Status.OK, 0, 0.0, 0
    budget = first_block
    ladder = _Ladder(method, system, state, h)
    with Progress(total, f"{method.name}  h = {h:g}", progress) as bar:
        try:
            while done < total:
                if signals.came is not None:
                    status = Status.INTERRUPTED
                    break
                count, stride = plan.next(done, ladder.steps(done, budget), capacity)
                clock = time.perf_counter()
                signals.waiting = True
                block = jax.block_until_ready(
                    ladder.program(done)(system, state, np.int64(done), 0.0, h, np.int64(count), np.int64(stride))
                )
                signals.waiting = False
                spent = time.perf_counter() - clock
                now, iterated, worst_now, ok = jax.device_get((block.done, block.iterations, block.worst, block.ok))
                taken, iterated, worst_now = int(now) - done, int(iterated), float(worst_now)
                filled, bad = saved.take(block, done, taken, stride)
                # No call between these: a KeyboardInterrupt of the user's making finds all of a block, or nothing.
                saved.count, state, done, iterations = filled, block.state, done + taken, iterations + iterated
                worst, fresh = max(worst, worst_now), not signals.keeping
                signals.keep()
                bar.advance(done)
                if not bad and not ok.all() and ladder.climbs(done):
                    continue
                if bad or not ok.all():
                    status, failure = (Status.NOT_FINITE, bad) if bad else _failure(block, done, h)
                    break
                if not fresh:  # the first call may have compiled
                    budget = max(1, int(taken * min(8.0, _BLOCK_SECONDS / max(spent, 1e-6))))
        except KeyboardInterrupt:  # a second signal while waiting, or a handler of the user's own
            status, signals.waiting = Status.INTERRUPTED, False
            signals.came = signals.came or signal.SIGINT
        if saved.counts[saved.count - 1] < done and "what" not in failure:
            saved.count, bad = saved.put(np.array([done]), np.asarray(sample(state, done * h))[None])
            status, failure = (Status.NOT_FINITE, bad) if bad else (status, failure)
    seconds = time.perf_counter() - began
    return Samples(*saved.kept(), status, seconds, iterations / max(done, 1), worst, failure)


class _Ladder:
    """The programs of a method's rungs. A step that one does not solve, and those after it, up to a number that does
    not depend on how fast the machine is, are taken by the next; then the first goes on."""

    def __init__(self, method: Any, system: Any, state: Any, h: float) -> None:
        self._rungs = method.rungs
        self._like = (system, state, np.int64(0), 0.0, h, np.int64(1), np.int64(1))
        self._programs: dict[int, Any] = {}
        self._rung, self._until = 0, 0

    def _at(self, done: int) -> int:
        if done >= self._until:
            self._rung = 0
        return self._rung

    def program(self, done: int) -> Any:
        rung = self._at(done)
        if rung not in self._programs:  # users' functions stay as they were, to the end of the run
            made = run_block_briefly if rung else run_block
            self._programs[rung] = made.prepared(self._rungs[rung], *self._like)
        return self._programs[rung]

    def steps(self, done: int, budget: int) -> int:
        """How many the program of now may take."""
        return min(budget, self._until - done) if self._at(done) else budget

    def climbs(self, done: int) -> bool:
        """Whether there is a rung above the one that failed; if so it takes over."""
        if self._at(done) + 1 == len(self._rungs):
            return False
        self._rung, self._until = self._rung + 1, done + _CAREFUL
        return True


def bytes_needed(plan: Plan, shape: tuple[int, ...], later: int) -> int:
    """What a run takes at most, to its dataset and a saved .nc: samples, their counts, two blocks on their way."""
    row, members = math.prod(shape), math.prod(shape[1:])
    return 8 * (plan.room * (row + 1 + later * members) + 2 * capacity_for(shape) * row)


class _Saved:
    """The samples so far, in arrays that grow no larger than what will be saved."""

    def __init__(self, plan: Plan, shape: tuple[int, ...], finite: Mapping[str, int], later: int) -> None:
        self.plan, self.finite = plan, finite
        room, size = plan.room, bytes_needed(plan, shape, later)
        if size > 2**28 and size > (memory := psutil.virtual_memory().available):
            raise InputError(
                f"saving every {plan.every} of {plan.total} steps needs {size / 2**30:.3g} GiB, with the dataset made "
                f"of them, and this machine has {memory / 2**30:.3g} GiB free; save fewer with a larger `every`"
            )
        self.values = np.empty((room, *shape))
        self.counts = np.empty(room, int)
        self.count = 0

    def take(self, block: Block, before: int, taken: int, stride: int) -> tuple[int, dict[str, Any]]:
        """The samples of a block put behind those that count."""
        if (before + stride) % self.plan.every:
            return self.count, {}
        whole_samples = taken // stride
        return self.put(before + stride * np.arange(1, whole_samples + 1), np.asarray(block.samples)[:whole_samples])

    def put(self, counts: np.ndarray, rows: np.ndarray) -> tuple[int, dict[str, Any]]:
        """How many samples count with these, up to the first that is not finite; and what is wrong with that one."""
        end = self.count + len(rows)
        self.counts[self.count : end], self.values[self.count : end] = counts, rows
        judged = np.isfinite(rows[:, list(self.finite.values())])
        good = judged.all(axis=tuple(range(1, judged.ndim)))
        if good.all():
            return end, {}
        i = int(good.argmin())
        return self.count + i, self._bad(int(counts[i]), rows[i])

    def _bad(self, count: int, row: np.ndarray) -> dict[str, Any]:
        what = next(name for name, place in self.finite.items() if not np.isfinite(row[place]).all())
        values = row[self.finite[what]]
        bad = ~np.isfinite(values)
        return {
            "step": count,
            "t": count * self.plan.step,
            "what": what,
            "value": float(values[bad].flat[0]),
            "members": np.argwhere(bad)[:5].tolist() if bad.ndim else [],
        }

    def kept(self) -> tuple[np.ndarray, np.ndarray]:
        return self.counts[: self.count], self.values[: self.count]


def as_arrays(tree: Any) -> Any:
    """Numbers as float64 arrays, switches as 0 and 1; an error names what is no number, a parameter of a load say.
    What users' functions captured stays as it is, indices too."""

    def known(x: Any) -> bool:
        return isinstance(x, Traced)

    def floats(path: Any, x: Any) -> Any:
        if known(x):
            return x
        try:
            return as_float(x)
        except (TypeError, ValueError) as error:
            place = jax.tree_util.keystr(path[:1]).lstrip(".")  # load, attitude, masses, forces, ...
            raise InputError(f"{place}: numbers are needed; got {shown(x)}: {error}") from error

    return jax.tree_util.tree_map_with_path(floats, tree, is_leaf=known)


def _failure(block: Block, done: int, h: float) -> tuple[Status, dict[str, Any]]:
    bad = ~np.asarray(block.ok)
    converged = np.asarray(block.report.converged)[bad].all()
    detail = {
        "step": done + 1,
        "t": done * h,
        "residual": float(np.asarray(block.report.error)[bad].max()),
        "iterations": int(np.asarray(block.report.iterations)[bad].max()),
        "members": np.argwhere(bad)[:5].tolist() if bad.ndim else [],
    }
    return (Status.NOT_FINITE if converged else Status.NOT_CONVERGED), detail
