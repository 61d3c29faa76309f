"""`simulate`: a problem, a body with load and start, or a system; out comes a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from polhode._notices import warn
from polhode._signals import Signals, watched
from polhode.model.checks import InputError, double_precision, numbers, positive, whole
from polhode.model.method import Method
from polhode.model.problem import Problem
from polhode.model.registry import DEFAULTS, method_of
from polhode.multibody import System
from polhode.results.ended import interrupted_by, who_was_lost, why_failed
from polhode.results.rerun import going_on, without_events
from polhode.results.run import Run
from polhode.rotation import RigidBody, Rotation, Start
from polhode.running import first_leg, moved, next_leg, recipe_for
from polhode.simulation import Interrupted, Plan, Progress, Status, StepError
from polhode.simulation.events import Event


def simulate(
    what: RigidBody | Rotation | System | Problem | Run,
    load: Any = None,
    start: Any = None,
    *,
    step: float | None = None,
    method: str | Method | type[Method] | None = None,
    until: float | None = None,
    steps: int | None = None,
    t0: float | None = None,
    every: int | None = None,
    every_seconds: float | None = None,
    times: Sequence[float] | None = None,
    events: Event | Sequence[Event] | None = None,
    on_sample: Callable[[Run], Any] | None = None,
    progress: bool | None = None,
    method_path: str | None = None,
) -> Run:
    """Integrate the rotation of a body under a load from a start, the motion of a system, or a problem; or go on with
    a run.

    what      RigidBody, with its load and start; Rotation(body, load), with a start; System, which brings its own
              forces and start; or a problem, `ph.problem("bicycle", speed=4.6)`, which brings all; or a Run, which
              goes on from its end to a later `until`, or for so many more `steps`, as if it had never stopped
    load      Potential, Torque, a sum of them, or None for free motion
    start     State.of(attitude=..., omega=...) or a State; leading axes are a batch, and so are those of inertia and
              of parameters of the load
    method    a name (`polhode methods` lists them), or a Method of your own; "imidm" for a body and
              "three-field" for a system unless said
    step      length of a step (s)
    until     time to stop at (s); or `steps`, their number
    t0        time at the start (s), 0 unless said
    every     save every so many steps, each of them unless said; the last one is saved too
    every_seconds  or so often
    times     or at these times alone (s): those between steps by a shortened step from the one before, which changes
              nothing of the steps
    events    ph.Event(fn, ...), or several: where a number passes through zero; `run.events` tells when
    on_sample is called with a Run of the new samples after each block of steps, to show or to send them; the run stops
              where it returns True
    progress  show a bar when it takes long: True, False, or None for "on a terminal"
    method_path  `module:name` where a method that is no class with options can be had again, for saved files

    A system that starts a little off its constraints is moved onto them, with a warning; one that starts far off
    is refused, and `multibody.consistent_start` is the way to ask for it.

    A step that fails, or an energy that is not finite, raises StepError; Ctrl-C and SIGTERM raise Interrupted, a
    KeyboardInterrupt, once there are steps to keep. The `run` of both holds everything up to there. A handler of
    another's, asyncio's say, is left in place and does what it does. Of the energy of one body that grew though
    nothing drives it there is a warning.

    A member of a batch that fails is lost, with a warning, and `run.lost` says why: its samples are NaN from there on,
    and the others go on as if it were not there; where none is left there is a StepError. Whatever the other members
    do, one has the same bits. Alone it has the same to round-off only, 1e-14 of its momentum after 200 steps, as XLA
    rounds differently where it computes one number and several at a time.

    For derivatives of a run, and inside jit and vmap, there is `ph.flow`.
    """
    double_precision()
    saving = {"every": every, "every_seconds": every_seconds, "times": times}
    if sum(x is not None for x in saving.values()) > 1:
        raise InputError(f"give one of every, every_seconds and times; got {', '.join(n for n in saving if saving[n])}")
    with watched() as signals:
        if isinstance(what, Run):
            if not (load is None and start is None and t0 is None):
                raise InputError("a run brings its system, start and t0; give simulate(run, until=...)")
            chosen = None if method is None else method_of(method, what.kind)
            leg = next_leg(what, chosen, step)
            if steps is not None:
                steps = leg.begin.done + whole("steps", steps, 1)
            elif until is None:
                until = _last(times)
            plan = _plan(what.step, until, steps, what.t0, {**saving, "every": every or what.every or 1})
            if plan.total <= leg.begin.done or (plan.at and plan.at[0] <= (leg.begin.done, 0.0)):
                raise InputError(f"the run stands at t = {what.t[-1]:g} already; go on to a later time")
            run = _go_on(what, leg, plan, progress, signals, on_sample, events)
        else:
            problem = problem_from(what, load, start)
            problem = problem if t0 is None else replace(problem, t0=t0)
            step = problem.step if step is None else step
            _outside_of_transformations(problem.system, problem.start, problem.t0, step, until)
            if step is None:
                raise InputError("step is missing: give the length of a step (s), simulate(..., step=0.01)")
            if steps is None and until is None:
                until = problem.until if times is None else _last(times)
            plan = _plan(step, until, steps, problem.t0, saving)
            run = _begin(problem, method, plan, progress, method_path, signals, on_sample, events)
    status = run.trajectory.status
    failed = why_failed(run) if status in (Status.NOT_CONVERGED, Status.NOT_FINITE) else None
    if signals.came is not None:
        raise Interrupted(interrupted_by(run, signals.came, failed), run, signals.came)
    if failed:
        raise StepError(failed, run)
    if run.lost:
        warn(who_was_lost(run))
    if (wrong := run.energy_gone_wrong()) is not None:
        warn(wrong)
    return run


def _begin(
    problem: Problem,
    method: Any,
    plan: Plan,
    progress: bool | None,
    path: str | None,
    signals: Signals,
    on_sample: Any,
    events: Any,
) -> Run:
    chosen = method_of(method or problem.method or DEFAULTS[problem.kind], problem.kind)
    bar = Progress(plan.total, f"{chosen.name}  h = {plan.step:g}", progress)
    leg = first_leg(problem, chosen, plan, bar)
    recipe = without_events(recipe_for(problem, chosen, plan, path), events)
    return moved(leg, plan, bar, signals, recipe, on_sample, problem.events if events is None else events)


def _go_on(run: Run, leg: Any, plan: Plan, progress: bool | None, signals: Signals, on_sample: Any, events: Any) -> Run:
    bar = Progress(plan.total, f"{run.method.name}  h = {plan.step:g}", progress)
    recipe = without_events(going_on(run.recipe, plan), events)
    return moved(leg, plan, bar, signals, recipe, on_sample, events)


def _last(times: Any) -> Any:
    if times is None:
        raise InputError("give until, the time to go on to, or steps, how many more")
    asked = numbers("times", times)
    if not asked.size:
        raise InputError("times must be a list of times (s); got none")
    return float(asked.max())


def _plan(step: Any, until: Any, steps: Any, t0: float, saving: dict[str, Any]) -> Plan:
    every, seconds, times = saving["every"], saving["every_seconds"], saving["times"]
    if seconds is not None:
        ratio = positive("every_seconds", seconds) / positive("step", step)
        if round(ratio) >= 1 and abs(ratio - round(ratio)) <= 1e-9 * ratio:
            every, seconds = round(ratio), None
    total = None if until is None else _length(until, t0)
    if total is not None and times is not None:  # the steps go on beyond the last time, if it is between two
        total = positive("step", step) * np.ceil(total / step - 1e-9)
    plan = Plan.of(step, total, steps, 1 if every is None else every)
    if seconds is not None:
        times = t0 + seconds * np.arange(int(plan.total * plan.step / seconds * (1 + 1e-12)) + 1)
    return plan if times is None else plan.saving(times, t0)


def problem_from(what: Any, load: Any = None, start: Any = None) -> Problem:
    """Whatever is given to `simulate`, as a problem."""
    if isinstance(what, Problem):
        if load is not None or start is not None:
            raise InputError("a problem brings its own load and start; give simulate(problem, step=...)")
        return what
    if isinstance(what, System):
        if load is not None or start is not None:
            raise InputError("a System brings its own forces and start; give simulate(system, method=..., step=...)")
        return Problem(what)
    if isinstance(what, Rotation):
        if start is None and load is not None:
            load, start = None, load  # simulate(rotation, start)
        if load is not None:
            raise InputError("a Rotation brings its own load; give simulate(rotation, start, step=...)")
        return Problem(what, start)
    if not isinstance(what, RigidBody):
        raise InputError(
            f"body must be a RigidBody or a multibody.System; got {what!r}. Example: RigidBody(inertia=(5, 5, 1))"
        )
    return Problem(Rotation(what, load), start.on(what) if isinstance(start, Start) else start)


def _length(until: Any, t0: float) -> Any:
    """Of time, from t0 to `until`."""
    if t0 and not until > t0:
        raise InputError(f"until must be later than the start, t0 = {t0:g}; got {until!r}")
    return until - t0 if t0 else until


def _outside_of_transformations(*given: Any) -> None:
    if any(isinstance(x, jax.core.Tracer) for x in jax.tree.leaves(given)):
        raise InputError(
            "simulate runs by itself, not inside of jit, vmap or grad; there, polhode.flow(system, start, method=..., "
            "step=..., steps=...) is the same motion as a pure function"
        )
