"""`integrate`: the one driver for every run; in blocks, so that it can be watched and stopped.

It knows nothing of what moves: states are pytrees, and are kept as they are.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import jax
import numpy as np

from polhode._programs import kept_on_disk
from polhode._signals import Signals
from polhode.simulation.loop import Block, Tally, capacity_for, numbers_in, run_block, run_block_briefly
from polhode.simulation.plan import Plan
from polhode.simulation.progress import Progress
from polhode.simulation.samples import Samples
from polhode.simulation.status import Status

_BLOCK_SECONDS = 0.1  # between looks at the clock, the progress bar and Ctrl-C
FIRST_BLOCK = 16_384  # steps
_CAREFUL = 32  # steps from one that failed on, taken by a method's next rung


@dataclass(frozen=True)
class Trajectory:
    """States of a run, and how it went."""

    steps: np.ndarray  # step counts of the samples; t = t0 + steps * step
    states: Any  # samples in front
    status: Status
    seconds: float
    iterations: float  # a step, on average
    worst: float  # largest relative error left in a solved step
    renewals: int = 0
    halvings: int = 0
    failure: dict[str, Any] = field(default_factory=dict)

    def cut(self, count: int, status: Status, failure: dict[str, Any]) -> Trajectory:
        """The first so many samples."""
        states = jax.tree.map(lambda x: x[:count], self.states)
        return replace(self, steps=self.steps[:count], states=states, status=status, failure=failure)


def integrate(
    method: Any,
    system: Any,
    state: Any,
    plan: Plan,
    *,
    t0: float = 0.0,
    later: Callable[[], int] = lambda: 0,
    first_block: int = FIRST_BLOCK,
    briefly: int = 0,
    progress: Progress,
    signals: Signals,
    rungs: Rungs | None = None,
) -> Trajectory:
    """From `state` at t0. All numbers are float64 arrays already, so that every run calls the same compiled program.

    later    says how many more numbers a sample takes when its dataset is made, for the guard of memory
    briefly  how many steps from t0 on are taken by a program that is compiled soon rather than well: by their number
             alone, so that the same steps are taken wherever a run is cut
    rungs    those of a run before of the same method and system"""
    h, total = plan.step, plan.total
    saved, capacity = Samples(plan, state, later), capacity_for(numbers_in(state))
    saved.count = saved.put(np.zeros(1, int), jax.tree.map(lambda x: np.asarray(x)[None], state))
    began = time.perf_counter()
    failure: dict[str, Any] = {}
    status, tally, done = Status.OK, Tally(0, 0.0, 0, 0), 0
    budget = first_block
    ladder = Rungs(method, system, state, briefly) if rungs is None else rungs.afresh()
    with progress as bar:
        try:
            while done < total:
                if signals.came is not None:
                    status = Status.INTERRUPTED
                    break
                count, stride = plan.next(done, ladder.steps(done, budget), capacity)
                clock = time.perf_counter()
                signals.waiting = True
                numbers = (system, state, np.int64(done), t0, h, np.int64(count), np.int64(stride))
                with bar.waiting(partial(_wait, method, system)) if ladder.is_new(done) else nullcontext():
                    block = jax.block_until_ready(ladder.program(done)(*numbers))
                signals.waiting = False
                spent = time.perf_counter() - clock
                ok = np.asarray(block.ok)
                taken, new_tally = int(block.done) - done, _together(tally, block.tally)
                filled = saved.take(block, done, taken, stride)
                # No call between these: a KeyboardInterrupt of the user's making finds all of a block, or nothing.
                saved.count, state, done, tally, fresh = (
                    filled,
                    block.state,
                    done + taken,
                    new_tally,
                    not signals.keeping,
                )
                signals.keep()
                bar.advance(done)
                if not ok.all() and ladder.climbs(done):
                    continue
                if not ok.all():
                    status, failure = _failure(block, done, t0, h)
                    break
                if not fresh:  # the first call may have compiled
                    budget = max(1, int(taken * min(8.0, _BLOCK_SECONDS / max(spent, 1e-6))))
        except KeyboardInterrupt:  # a second signal while waiting, or a handler of the user's own
            status, signals.waiting = Status.INTERRUPTED, False
            signals.came = signals.came or signal.SIGINT
        if saved.counts[saved.count - 1] < done:
            saved.count = saved.put(np.array([done]), jax.tree.map(lambda x: np.asarray(x)[None], state))
    seconds = time.perf_counter() - began
    return Trajectory(
        *saved.kept(),
        status,
        seconds,
        tally.iterations / max(done, 1),
        tally.worst,
        tally.renewals,
        tally.halvings,
        failure,
    )


def _wait(method: Any, system: Any) -> str:
    return f"compiling {method.name} for {_size(system)} ({'once; kept on disk' if kept_on_disk() else 'once'})"


def _size(system: Any) -> str:
    counts = {word: len(system.labels.get(label, ())) for label, word in (("body", "bodies"), ("row", "rows"))}
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "one body"


def _together(a: Tally, b: Tally) -> Tally:
    return Tally(
        a.iterations + int(b.iterations),
        max(a.worst, float(b.worst)),
        a.renewals + int(b.renewals),
        a.halvings + int(b.halvings),
    )


class Rungs:
    """The programs of a method's rungs. A step that one does not solve, and those after it, up to a number that does
    not depend on how fast the machine is, are taken by the next; then the first goes on. Rungs above the first, and
    the first `briefly` steps, are compiled soon; all others well."""

    def __init__(self, method: Any, system: Any, state: Any, briefly: int = 0) -> None:
        self._rungs, self._briefly = method.rungs, briefly
        self._like = (system, state, np.int64(0), 0.0, 0.0, np.int64(1), np.int64(1))
        self._programs: dict[tuple[int, bool], Any] = {}
        self._rung, self._until = 0, 0

    def afresh(self) -> Rungs:
        """From the first rung on, with the programs there are."""
        self._rung, self._until = 0, 0
        return self

    def _at(self, done: int) -> int:
        if done >= self._until:
            self._rung = 0
        return self._rung

    def program(self, done: int) -> Any:
        rung = self._at(done)
        soon = rung > 0 or done < self._briefly
        if (rung, soon) not in self._programs:  # users' functions stay as they were, to the end of the run
            made = run_block_briefly if soon else run_block
            self._programs[rung, soon] = made.prepared(self._rungs[rung], *self._like)
        return self._programs[rung, soon]

    def is_new(self, done: int) -> bool:
        """Whether the program of now was not called yet in this run."""
        rung = self._at(done)
        return (rung, rung > 0 or done < self._briefly) not in self._programs

    def steps(self, done: int, budget: int) -> int:
        """How many the program of now may take."""
        if self._at(done):
            return min(budget, self._until - done)
        return min(budget, self._briefly - done) if done < self._briefly else budget

    def climbs(self, done: int) -> bool:
        """Whether there is a rung above the one that failed; if so it takes over."""
        if self._at(done) + 1 == len(self._rungs):
            return False
        self._rung, self._until = self._rung + 1, done + _CAREFUL
        return True


def _failure(block: Block, done: int, t0: float, h: float) -> tuple[Status, dict[str, Any]]:
    bad = ~np.asarray(block.ok)
    converged = np.asarray(block.report.converged)[bad].all()
    detail = {
        "step": done + 1,
        "t": t0 + done * h,
        "residual": float(np.asarray(block.report.error)[bad].max()),
        "iterations": int(np.asarray(block.report.iterations)[bad].max()),
        "members": np.argwhere(bad)[:5].tolist() if bad.ndim else [],
    }
    return (Status.NOT_FINITE if converged else Status.NOT_CONVERGED), detail
