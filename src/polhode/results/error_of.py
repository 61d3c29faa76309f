"""`error_of`: an estimate of the error of a run, from the same motion in other steps."""

from __future__ import annotations

import math
from typing import Any

from polhode._signals import Signals, watched
from polhode.accuracy import ErrorEstimate, Repeated, estimated
from polhode.model.checks import InputError
from polhode.results.sending import Lost
from polhode.simulation import Status


def error_of(run: Any, progress: bool | None) -> ErrorEstimate:
    if isinstance(run.system, Lost) or isinstance(run.now, Lost) or isinstance(run.method, Lost):
        raise InputError("this run was sent from another process without its system; ask where it was made")
    end = run.trajectory.end
    if end is None or run.begun is None or run.trajectory.status in (Status.NOT_CONVERGED, Status.NOT_FINITE):
        raise InputError(
            f"this run ended before its time, at step {run.steps}, t = {run.end_time:g}: "
            f"{run.trajectory.status.value}. An error is estimated of runs whose steps were all solved"
        )
    if run.lost:
        raise InputError(
            f"{len(run.lost)} members of this batch were lost, member {list(run.lost[0].member)} in step "
            f"{run.lost[0].step}: errors are estimated of a batch without them"
        )
    if run.trajectory.events:
        raise InputError(
            f"this run had {len(run.trajectory.events)} events, and the runs that its error is estimated from would "
            "not: simulate without them, for as long as the motion is the same"
        )
    if not end.done:
        raise InputError("this run has no steps yet, and so no error")
    steps = end.done
    with watched() as signals:
        again = repeated(run, steps * run.step, steps // math.gcd(steps, 4), signals, progress)
        return estimated(again, steps)


def repeated(run: Any, length: float, grid: int, signals: Signals, progress: bool | None) -> Repeated:
    """The motion of a run, as far as it has begun: for so long (s), in steps whose number is a multiple of `grid`."""
    stepped = run.now if getattr(run.now, "axes", None) is None else run.now.principal
    return Repeated(run.method, stepped, run.begun, run.t0, length, grid, signals, progress)
