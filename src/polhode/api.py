"""`simulate`: a problem, a body with load and start, or a system; out comes a run."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import jax
import numpy as np

from polhode._signals import Signals, watched
from polhode.asked import last_of, length_within, moment_of, outside_of_transformations, plan_of
from polhode.device import called_on, quickest
from polhode.given import problem_from
from polhode.leg import Leg
from polhode.members import by_steps, family_of
from polhode.model.checks import InputError, double_precision, whole
from polhode.model.family import Problems
from polhode.model.method import Method
from polhode.model.problem import Problem
from polhode.model.registry import DEFAULTS, method_of
from polhode.multibody import System
from polhode.prepared import problem_like
from polhode.results.rerun import going_on, without_events
from polhode.results.run import Run
from polhode.rotation import RigidBody, Rotation
from polhode.running import first_leg, moved, next_leg, recipe_for
from polhode.simulation import Plan, Progress, Status
from polhode.simulation.events import Event
from polhode.step_choice import step_within
from polhode.turning import ended_well


def simulate(
    what: RigidBody | Rotation | System | Problem | Problems | Run,
    load: Any = None,
    start: Any = None,
    *,
    step: float | Sequence[float] | None = None,
    tolerance: float | None = None,
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
    out: str | Path | None = None,
    force: bool = False,
    resume: bool = False,
    stop_if: str | None = None,
    sentinels: bool = True,
    device: str | None = None,
) -> Run:
    """Integrate the rotation of a body under a load from a start, the motion of a system, or a problem; or go on with
    a run.

    what      RigidBody, with its load and start; Rotation(body, load), with a start; System, which brings its own
              forces and start; or a problem, `ph.problem("bicycle", speed=4.6)`, which brings all; or a batch of
              problems, `ph.problem("bicycle", speed=[4.0, 4.6])` or `ph.batch(...)`, which gives a Family of runs; or
              a Run, which goes on from its end to a later `until`, or for so many more `steps`, as if it had never
              stopped
    load      Potential, Torque, a sum of them, or None for free motion
    start     State.of(attitude=..., omega=...) or a State; leading axes are a batch, and so are those of inertia and
              of parameters of the load
    method    a name (`polhode methods` lists them), or a Method of your own; "imidm" for a body and
              "three-field" for a system unless said
    step      length of a step (s); of several, `step=[0.1, 0.05]`, a Family of runs with each
    tolerance or the error at the end that is allowed (rad, and of the momentum; of a system rad, and of its size): the
              step is chosen by the order of the method, from runs that take three to five times as many steps as this
              one; `run.error_estimate()` says what it came to. Refused where they do not show that order
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
    device    "cpu" or "gpu": where to compute; where JAX would by itself unless said. Without one it is an error
    method_path  `module:name` where a method that is no class with options can be had again, for saved files
    out       a folder `.zarr` to write to while the run goes on: samples are not kept in memory, and whatever ends the
              process, `ph.resume(out)` goes on with the same bits. One that is there is replaced only with `force`, and
              gone on with, if it is this very run, with `resume`. Members of a batch of problems are written beside it
              until all have ended, and the same call goes on with them
    stop_if   a condition that ends the run at the first sample for which it holds, "energy.drift > 1e-6"
    sentinels whether what the method promises is looked for at every sample; a promise that is broken by more than
              round-off ends the run with a StepError

    A system that starts a little off its constraints is moved onto them, with a warning; one that starts far off
    is refused, and `multibody.consistent_start` is the way to ask for it.

    A step that fails, or an energy that is not finite, raises StepError; Ctrl-C and SIGTERM raise Interrupted, a
    KeyboardInterrupt, once there are steps to keep. The `run` of both holds everything up to there. A handler of
    another's, asyncio's say, is left in place and does what it does. Of the energy of one body that grew though
    nothing drives it there is a warning.

    A member of a batch that fails is lost, with a warning, and `run.lost` says why: its samples are NaN from there on,
    and the others go on as if it were not there; where none is left there is a StepError. A batch runs on all cores.
    Whatever the other members do, and however many they are, one has the same bits. Without axes of a batch it has the
    same to round-off only, 1e-14 of its momentum after 200 steps, as XLA rounds differently where it computes one
    number and several at a time.

    For derivatives of a run, and inside jit and vmap, there is `ph.flow`.
    """
    if (device := device or quickest(what, load, start)) is not None:
        return cast(Run, called_on(device, simulate, locals()))
    double_precision()
    if on_sample is not None and not callable(on_sample):
        raise InputError(f"on_sample is a function of a Run; got {on_sample!r}")
    if isinstance(what, Run) and _is_list(step):
        raise InputError(f"a run goes on with its own steps, of {what.step:g} s; got {step!r}")
    if isinstance(what, Problems) or (_is_list(step) and not isinstance(what, Run)):
        how: dict[str, Any] = {"method": method, "until": until, "steps": steps, "t0": t0, "every": every}
        how |= {"every_seconds": every_seconds, "times": times, "events": events, "on_sample": on_sample}
        how |= {"method_path": method_path, "tolerance": tolerance, "stop_if": stop_if, "sentinels": sentinels}
        several = _several(what, load, start, step, how)
        if out is not None:
            return cast(Run, _module("kept").family(simulate, several, how, progress, Path(out), force))
        return cast(Run, family_of(simulate, several, how, progress))  # it has what a Run has, of all of them
    saving = {"every": every, "every_seconds": every_seconds, "times": times}
    if (every is not None) + (every_seconds is not None) + (times is not None) > 1:
        raise InputError(
            f"give one of every, every_seconds and times; got {', '.join(n for n in saving if saving[n] is not None)}"
        )
    asked, begun = (stop_if, sentinels), None
    with watched() as signals:
        if isinstance(what, Run):
            if out is not None:
                raise InputError("a run goes on in memory; one that is written goes on with polhode.resume(path)")
            what = what.in_memory()
            if not (load is None and start is None and t0 is None):
                raise InputError("a run brings its system, start and t0; give simulate(run, until=...)")
            chosen = None if method is None else method_of(method, what.kind)
            if tolerance is not None:
                raise InputError(f"a run goes on with its own steps, of {what.step:g} s; give no tolerance")
            leg = next_leg(what, chosen, step)
            if steps is not None:
                steps = leg.begin.done + whole("steps", steps, 1)
            elif until is None:
                until = last_of(times)
            if all(x is None for x in saving.values()):  # as before
                saving |= {"every": what.every or None, "every_seconds": what.every_seconds}
            plan = plan_of(what.step, until, steps, what.t0, saving)
            stands = what.t0 + leg.begin.done * what.step + leg.begin.offset
            if plan.seconds is not None and plan.at is not None:  # they are counted from t0; the first ones are past
                plan = replace(plan, at=tuple(at for at in plan.at if at > (leg.begin.done, leg.begin.offset)))
            if plan.total <= leg.begin.done or (plan.at and plan.at[0] <= (leg.begin.done, leg.begin.offset)):
                raise InputError(
                    f"the run stands at t = {stands:g} already; go on to a later time, at least to its next step, "
                    f"t = {what.t0 + (leg.begin.done + 1) * what.step:g}"
                )
            run = _go_on(what, leg, plan, progress, signals, on_sample, events, asked)
        else:
            problem, mark = problem_like(what, load, start)
            problem = problem if t0 is None else replace(problem, t0=moment_of("t0", t0))
            given, step = step, problem.step if step is None else step
            outside_of_transformations((problem.system, problem.start) if mark is None else (), step, until)
            if steps is None and until is None:
                until = problem.until if times is None else last_of(times)
            chosen = method_of(method or problem.method or DEFAULTS[problem.kind], problem.kind)
            estimate = None
            if tolerance is not None:
                if out is not None:
                    raise InputError("with a tolerance a run is saved when it has ended, run.save(path); give no out")
                _check_actions(problem.events if events is None else events)
                length = length_within(tolerance, given, steps, until, problem.t0, saving)
                step, estimate = step_within(problem, chosen, tolerance, length, signals, progress)
            if step is None:
                raise InputError(
                    "step is missing: give the length of a step (s), simulate(..., step=0.01), or a tolerance"
                )
            plan = plan_of(step, until, steps, problem.t0, saving)
            beside = (progress, method_path, signals, on_sample, events)
            if out is not None:
                run = _module("kept").kept(problem, chosen, plan, Path(out), (force, resume), *asked, *beside)
            else:
                run, begun = _begin(problem, mark, chosen, plan, *beside, asked)
            if estimate is not None and run.trajectory.status is Status.OK:
                run = replace(run, estimate=estimate)
    return ended_well(run, signals, begun)


def _module(name: str) -> Any:
    """One that takes its time to import."""
    return importlib.import_module(f"polhode.{name}")


def _begin(
    problem: Problem,
    mark: Any,
    chosen: Method,
    plan: Plan,
    progress: bool | None,
    path: str | None,
    signals: Signals,
    on_sample: Any,
    events: Any,
    asked: tuple[str | None, bool],
) -> tuple[Run, Leg]:
    """The run, and how it began."""
    bar = Progress(plan.total, f"{chosen.name}  h = {plan.step:g}", progress)
    leg = first_leg(problem, mark, chosen, plan, bar)
    recipe = partial(recipe_for, problem, chosen, plan, path, events)
    events = problem.events if events is None else events
    return moved(leg, plan, bar, signals, recipe, on_sample, events, asked), leg


def _go_on(
    run: Run, leg: Any, plan: Plan, progress: bool | None, signals: Signals, on_sample: Any, events: Any, asked: Any
) -> Run:
    bar = Progress(plan.total, f"{run.method.name}  h = {plan.step:g}", progress)
    recipe = without_events(going_on(run.recipe, plan), events)  # now: it would keep the run before in memory
    return moved(leg, plan, bar, signals, recipe, on_sample, events, asked)


def _check_actions(events: Any) -> None:
    for event in [events] if isinstance(events, Event) else events or ():
        if getattr(event, "action", None) is not None:
            raise InputError(
                f"the error of a run that event {event.name!r} changes is not estimated; give a step, no tolerance"
            )


def _several(what: Any, load: Any, start: Any, step: Any, how: dict[str, Any]) -> Problems:
    """A batch of problems, or of one with several steps."""
    if not isinstance(what, Problems):
        return by_steps(problem_from(what, load, start), step)
    if load is not None or start is not None:
        raise InputError("problems bring their own load and start; give simulate(problems, step=...)")
    if _is_list(step):
        raise InputError(f"a batch of problems takes one step; got {np.size(step)}: run it once with each")
    how["step"] = step
    return what


def _is_list(step: Any) -> bool:
    return isinstance(step, list | tuple) or (isinstance(step, np.ndarray | jax.Array) and step.ndim > 0)
