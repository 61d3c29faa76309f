"""`integrate`: the one driver for every run; in blocks, so that it can be watched and stopped.

It knows nothing of what moves: states are pytrees, and are kept as they are.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import jax
import numpy as np

from polhode._programs import kept_on_disk
from polhode._signals import Signals
from polhode.simulation.loop import Block, Tally, capacity_for, numbers_in
from polhode.simulation.plan import Plan
from polhode.simulation.progress import Progress
from polhode.simulation.rungs import Rungs
from polhode.simulation.samples import Samples
from polhode.simulation.status import Status
from polhode.simulation.trajectory import Checkpoint, Trajectory

_BLOCK_SECONDS = 0.1  # between looks at the clock, the progress bar and Ctrl-C
FIRST_BLOCK = 16_384  # steps


def integrate(
    method: Any,
    system: Any,
    begin: Checkpoint,
    plan: Plan,
    *,
    t0: float = 0.0,
    later: Callable[[], int] = lambda: 0,
    first_block: int = FIRST_BLOCK,
    briefly: int = 0,
    progress: Progress,
    signals: Signals,
    rungs: Rungs | None = None,
    on_samples: Callable[[Any], Any] | None = None,
) -> Trajectory:
    """From where `begin` stands, its time counted from t0; the state there is a sample if no step was taken yet. All
    numbers are float64 arrays already, so that every run calls the same compiled program.

    later    says how many more numbers a sample takes when its dataset is made, for the guard of memory
    briefly  how many steps from t0 on are taken by a program that is compiled soon rather than well: by their number
             alone, so that the same steps are taken wherever a run is cut
    rungs    those of a run before of the same method and system
    on_samples  is shown (counts, offsets, states) of new samples after each block, and stops the run by returning True
    """
    h, total, state, done = plan.step, plan.total, begin.state, begin.done
    saved, capacity = Samples(plan, state, later, done), capacity_for(numbers_in(state))
    began = time.perf_counter()
    failure: dict[str, Any] = {}
    status, tally, budget, shown = Status.OK, Tally(0, 0.0, 0, 0), first_block, 0
    ladder = (Rungs(method, system, state, briefly) if rungs is None else rungs).afresh(begin.rung, begin.careful)

    def between(after: int, upto: int) -> Block | None:
        """Samples at times of their own, of the step that the run has come to. What failed, if one did."""
        for count, offset in plan.due(after, upto):
            block = None if not offset else ladder.shortened(system, state, done, t0 + done * h, offset)
            if block is not None and not np.asarray(block.ok).all():
                return block
            saved.add(count, offset, state if block is None else block.state)
        return None

    def show() -> bool:
        """Whether who is shown the new samples wants no more."""
        nonlocal shown
        if on_samples is None or shown == saved.count:
            return False
        new = slice(shown, saved.count)
        shown = saved.count
        said = on_samples((saved.counts[new], saved.offsets[new], jax.tree.map(lambda x: x[new], saved.states)))
        return isinstance(said, bool | np.bool_) and bool(said)

    if done == 0 and plan.at is None:
        saved.add(0, 0.0, state)
    with progress as bar:
        try:
            between(done - 1, done)
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
                whole = taken // stride
                filled = saved.take(done + stride * np.arange(1, whole + 1), block.samples) if whole else saved.count
                # No call between these: a KeyboardInterrupt of the user's making finds all of a block, or nothing.
                before, saved.count, state, done, tally, fresh = (
                    done,
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
                failed = between(before, done) if ok.all() else block
                if failed is not None:
                    status, failure = _failure(failed, done, t0, h)
                    break
                if show():
                    status = Status.STOPPED
                    break
                if not fresh:  # the first call may have compiled
                    budget = max(1, int(taken * min(8.0, _BLOCK_SECONDS / max(spent, 1e-6))))
        except KeyboardInterrupt:  # a second signal while waiting, or a handler of the user's own
            status, signals.waiting = Status.INTERRUPTED, False
            signals.came = signals.came or signal.SIGINT
        if plan.at is None and (not saved.count or saved.counts[saved.count - 1] < done):
            saved.add(done, 0.0, state)
            show()
    seconds = time.perf_counter() - began
    counts, states, offsets = saved.kept()
    return Trajectory(
        counts,
        states,
        status,
        seconds,
        tally.iterations / max(done - begin.done, 1),
        tally.worst,
        tally.renewals,
        tally.halvings,
        failure,
        offsets,
        Checkpoint(jax.tree.map(np.asarray, state), done, 0.0, *ladder.stands),
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
