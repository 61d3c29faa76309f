"""`integrate`: the one driver for every run; in blocks, so that it can be watched and stopped.

It knows nothing of what moves: states are pytrees, and are kept as they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from polhode._programs import kept_on_disk
from polhode._signals import Signals
from polhode.simulation.events import Watch
from polhode.simulation.extremes import together
from polhode.simulation.plan import Plan
from polhode.simulation.progress import Progress
from polhode.simulation.rungs import Rungs
from polhode.simulation.samples import Samples
from polhode.simulation.samples_on_gpu import samples_of
from polhode.simulation.sink import Passing, Sink
from polhode.simulation.tiles import first_steps
from polhode.simulation.trajectory import Checkpoint, Trajectory
from polhode.simulation.walk import Walk

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
    on_samples: Callable[[Samples, int], Any] | None = None,
    watch: Watch | None = None,
    last: tuple[int, float] | None = None,
    sink: Sink | None = None,
) -> Trajectory:
    """From where `begin` stands, its time counted from t0; the state there is a sample if no step was taken yet. All
    numbers are float64 arrays already, so that every run calls the same compiled program.

    later    says how many more numbers a sample takes when its dataset is made, for the guard of memory
    briefly  how many steps from t0 on are taken by a program that is compiled soon rather than well: by their number
             alone, so that the same steps are taken wherever a run is cut
    rungs    those of a run before of the same method and system
    on_samples  is shown all samples, and which is the first new one, after each block; True stops the run
    watch    looks at every step, and may change the state after one, or stop the run
    last     where the last of the samples is that there were before: steps, and seconds after them
    sink     takes the samples, so that memory does not grow with the run
    """
    ladder = (Rungs(method, system, begin.state, briefly) if rungs is None else rungs).afresh(begin.rung, begin.careful)
    saved = samples_of(plan, begin.state, later, begin.done) if sink is None else Passing(plan, begin.state)
    walk = Walk(system, begin, plan, t0, ladder, saved, signals, watch)
    walk.budget = first_steps(begin.state, first_block)
    walk.on_samples, walk.last, walk.sink = on_samples, last, sink
    began = time.perf_counter()
    with progress as bar:
        walk.go(bar, partial(_wait, method, system))
    counts, states, offsets = walk.saved.kept()
    tally, taken = walk.tally, walk.done - begin.done
    return Trajectory(
        counts,
        states,
        walk.status,
        time.perf_counter() - began,
        tally.iterations / max(taken, 1),
        tally.worst,
        tally.renewals,
        tally.halvings,
        walk.failure,
        offsets,
        walk.checkpoint,
        () if watch is None else tuple(watch.happened),
        tuple(walk.lost),
        walk.change,
        together(walk.extremes) if walk.extremes and watch is None and plan.at is None and sink is None else None,
    )


def _wait(method: Any, system: Any) -> str:
    return f"compiling {method.name} for {_size(system)} ({'once; kept on disk' if kept_on_disk() else 'once'})"


def _size(system: Any) -> str:
    counts = {word: len(system.labels.get(label, ())) for label, word in (("body", "bodies"), ("row", "rows"))}
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "one body"
