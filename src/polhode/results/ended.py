"""What is said of a run that ended before its time."""

from __future__ import annotations

import math
import signal
from collections.abc import Callable
from typing import Any

from polhode._notices import warn
from polhode.simulation import Interrupted, Status, StepError

_FEW = 3  # lost members that are named
_WELL = (Status.OK, Status.STOPPED, Status.CHANGED, Status.INTERRUPTED)


def why_failed(run: Any) -> str:
    """Which step, from when, and why."""
    failure, h, method = run.trajectory.failure, run.step, run.method
    if run.trajectory.status is Status.BROKEN:
        return str(failure["why"])
    if "what" in failure:
        return _where_not_finite(run, failure)
    where = f"{method.name} failed in step {failure['step']}, from t = {failure['t']:.6g} with step {h:g}"
    members = f" (members {failure['members']} of the batch)" if failure["members"] else ""
    at = (run.last_state, float(run.t[-1]), h)
    if cause := run.now.why_failed(*at) or method.why_failed(run.system, *at):
        return f"{where}: {cause}"
    if run.trajectory.status is Status.NOT_FINITE:
        return f"{where}{members}: the new state is not finite. Try a smaller step, or an implicit method"
    return (
        f"{where}{members}: its equations were not solved in {failure['iterations']} iterations; the error left "
        f"is {failure['residual']:.2g} of the unknown. Try a smaller step ({h / 2:g}), or look at the load near there"
    )


def who_was_lost(run: Any) -> str:
    """How many members of a batch, and of the first few which, when and why."""
    total = math.prod(run.members)
    first = "; ".join(f"{list(x.member)} in step {x.step}, t = {x.t:.6g}: {x.why}" for x in run.lost[:_FEW])
    more = f"; and {len(run.lost) - _FEW} more" if len(run.lost) > _FEW else ""
    return (
        f"{run.method.name}: {len(run.lost)} of {total} members of the batch were lost, the others went on (run.lost): "
        f"{first}{more}. Their samples from there on are NaN; try a smaller step for them"
    )


def words(name: str) -> str:
    """A quantity by name, in a sentence."""
    return f"{name} energy" if name in ("kinetic", "potential") else name


def _where_not_finite(run: Any, failure: dict[str, Any]) -> str:
    """Steps that were solved, through where energy or residuals have no value."""
    what, members = words(failure["what"]), failure["members"]
    if failure.get("why"):
        return f"{run.method.name}: {what} at t = {failure['t']:.9g}: {failure['why']}; the samples before are kept"
    where = f"{what} is {failure['value']} at t = {failure['t']:.6g} (step {failure['step']}"
    where = where if what.startswith("event") else f"the {where}"
    where += f"; members {members} of the batch)" if members else ")"
    advice = {
        "kinetic energy": "the motion grew beyond all numbers; try a smaller step, or look at the load near there",
        "potential energy": "the steps were solved, so the forces have a value there and the energy has none: look at "
        "the potential where the motion comes to (the log or sqrt of a negative number, a division by 0)",
    }
    otherwise = "look at the functions of the constraints where the motion comes to"
    why = advice.get(what, "look at its function where the motion comes to" if what.startswith("event") else otherwise)
    kept = f"the samples up to t = {run.t[-1]:.6g} are kept" if len(run.t) else "no sample is before it"
    return f"{run.method.name}: {where}; {kept}. {why[0].upper()}{why[1:]}"


def interrupted_by(run: Any, signum: int, failed: str | None) -> str:
    by = "Ctrl-C" if signum == signal.SIGINT else signal.Signals(signum).name
    how = f" ({failed})" if failed else ", after the last step" if run.ok else ""
    return (
        f"interrupted by {by} at step {run.steps}, t = {run.end_time:.6g}{how}; what was computed is the `run` of this "
        "interrupt (at a prompt or in a notebook: import sys; sys.last_value.run)"
    )


def ended_well(run: Any, signals: Any, otherwise: Callable[[Any], str | None]) -> Any:
    """The run; an error, or a warning, where it did not end as it should. Both errors carry it. `otherwise` says what
    else is wrong with it, of which it is warned where nothing else is."""
    failed = None if run.trajectory.status in _WELL else why_failed(run)
    if signals.came is not None:
        raise Interrupted(interrupted_by(run, signals.came, failed), run, signals.came)
    if failed:
        raise StepError(failed, run)
    if run.lost:
        warn(who_was_lost(run))
    if (wrong := run.energy_gone_wrong() or otherwise(run)) is not None:
        warn(wrong)
    return run
