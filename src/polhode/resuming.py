"""`resume`: a run that was written as it went, goes on from where it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from polhode._signals import watched
from polhode.asked import plan_of
from polhode.given import problem_from
from polhode.inputs.job import job_of
from polhode.model.checks import InputError, whole
from polhode.model.registry import method_of
from polhode.results.grown import Planned, grown
from polhode.results.opened import check_grown, opened
from polhode.results.stored import StoredRun
from polhode.simulation import Plan, Status
from polhode.turning import ended_well
from polhode.writing import gone_on, writing_of


def resume(
    path: str | Path,
    what: Any = None,
    load: Any = None,
    start: Any = None,
    *,
    until: float | None = None,
    steps: int | None = None,
    method: Any = None,
    events: Any = None,
    on_sample: Callable[[Any], Any] | None = None,
    stop_if: str | None = None,
    sentinels: bool | None = None,
    progress: bool | None = None,
    trust: bool = False,
) -> StoredRun:
    """Go on with a run that `simulate(..., out=path)` wrote, as if it had never stopped; one that has come to its end,
    to a later time.

    path   the folder
    what   what `simulate` was given, with load and start; not needed where the folder says it: of built-in problems
           and input files
    until  a later time to stop at (s); or `steps`, how many more
    events, method  those it had, where they were made in Python
    stop_if, sentinels  as it had them, unless said
    trust  import the module that the folder names as that of its method
    """
    path = Path(path)
    check_grown(path)
    with opened(path) as tree, watched() as signals:
        known = tree.attributes  # as they are now
        saved, begun_with = grown(known, path)
        problem, chosen, method_path = _what(path, known, what, load, start, method, trust)
        if events is None:
            events = problem.events or None
        names = [event.name for event in ([events] if hasattr(events, "fn") else events or ())]
        if names != begun_with:
            raise InputError(
                f"{str(path)!r} was begun with the events {begun_with}, and goes on with those; got {names}: "
                "give events=[...]"
            )
        problem = replace(problem, t0=float(known["t0"]))
        plan = _plan(path, known, saved, problem.t0, until, steps, sentinels)
        if stop_if is None and not known["finished"]:
            stop_if = known["stop_if"] or None
        looked = bool(known["sentinels"]) if sentinels is None else sentinels
        about = (plan, stop_if, looked, progress, method_path, signals, on_sample, events)
        run = gone_on(writing_of(problem, chosen, *about), tree, path)
    return ended_well(run, signals)


def _what(path: Path, known: dict[str, Any], what: Any, load: Any, start: Any, method: Any, trust: bool) -> Any:
    """The problem, the method, and where a method of the user's can be had again."""
    if what is not None:
        problem = problem_from(what, load, start)
        return problem, method_of(method or known["method"], problem.kind), None
    if not known.get("recipe"):
        raise InputError(
            f"{str(path)!r} does not say of what it is a run ({known.get('recipe_meaning')}); give what simulate was "
            "given: polhode.resume(path, body, load, start)"
        )
    job = job_of(str(path), trust=trust)
    (chosen, _), *_ = job.chosen()
    return job.problem, chosen, job.known_as(chosen)


def _plan(
    path: Path, known: dict[str, Any], saved: Planned, t0: float, until: Any, steps: Any, sentinels: bool | None
) -> Plan:
    seconds, step, total, done = saved.seconds, saved.step, saved.total, int(known["steps"])
    regardless = known["status"] == Status.BROKEN.name and sentinels is False
    if known["finished"] and known["status"] not in (Status.OK.name, Status.STOPPED.name) and not regardless:
        raise InputError(
            f"{str(path)!r} cannot go on from step {done}: {Status[known['status']].value}. {known.get('why', '')}"
        )
    further = until is not None or steps is not None
    if known["finished"] and not further and not regardless:
        raise InputError(f"{str(path)!r} has come to its end, step {done}; to go on, give a later --until, or until=")
    if further and saved.at is not None:
        raise InputError(
            f"{str(path)!r} has samples at times that were given one by one; it ends with the last of them"
        )
    if steps is not None:
        steps = done + whole("steps", steps, 1)
    if not further:
        steps = total
    saving = {"every": None if seconds else saved.every, "every_seconds": seconds, "times": None}
    plan = plan_of(step, until, steps, t0, saving)
    if saved.at is not None:
        return replace(plan, at=tuple((n, float.fromhex(offset)) for n, offset in saved.at))
    if further and plan.total <= done:
        raise InputError(f"{str(path)!r} stands at t = {t0 + done * step:g} already; go on to a later time")
    return plan
