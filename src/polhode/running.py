"""A run from its start, or from where another stands, to its judgement."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np

from polhode._notices import warn
from polhode._programs import unchanged
from polhode._signals import Signals
from polhode.algebra.library import on_gpu
from polhode.leg import Leg
from polhode.model.checks import InputError, numbers
from polhode.model.halving import Halving
from polhode.model.method import Method
from polhode.model.problem import Problem
from polhode.model.pytree import changed
from polhode.prepared import ground_mark, grounds, leg_mark, legs
from polhode.results.checks import Overseer
from polhode.results.ended import words
from polhode.results.parts import after_change
from polhode.results.rerun import recipe_of, without_events
from polhode.results.room import later
from polhode.results.run import Run
from polhode.results.sending import Lost
from polhode.rotation.loads import Load
from polhode.simulation import Checkpoint, Plan, Progress, Status, Trajectory, integrate
from polhode.simulation.driver import FIRST_BLOCK
from polhode.simulation.events import Watch
from polhode.simulation.rungs import Rungs, briefly
from polhode.simulation.samples import Samples, held
from polhode.simulation.sink import Sink
from polhode.watching import Change, watch_of

_FIRST_BLOCKS = {"rotation": FIRST_BLOCK, "system": 512}  # steps; those of a system cost a hundred times as much
_AT_A_TIME = 4096  # samples


def first_leg(problem: Problem, mark: Any, method: Method, plan: Plan, bar: Progress) -> Leg:
    """`mark`: what tells the problem from others, if that can be told."""
    known = leg_mark(mark, problem.t0, method)
    leg = legs.get(known, lambda: _alike(known, problem, method, plan, bar))
    same = leg.known.get((plan.step, plan.apart))
    if same is None:
        same = changed(leg, run=changed(leg.run, step=plan.step, every=plan.apart))
        leg.know((plan.step, plan.apart), same)
    return same


def _alike(mark: Any, problem: Problem, method: Method, plan: Plan, bar: Progress) -> Leg:
    """As another one of the same body and load, whose programs it has, if there was such."""
    ground = ground_mark(mark)
    leg = _first_leg(problem, method, plan, bar, grounds.known(ground))
    grounds.get(ground, lambda: leg)
    return leg


def _first_leg(problem: Problem, method: Method, plan: Plan, bar: Progress, like: Leg | None) -> Leg:
    system, t0 = problem.system, float(problem.t0)
    if like is None:
        with bar.waiting(lambda: "preparing the start"), unchanged():
            now, state = system.begun(problem.start, t0)
        method.check(now)
    else:
        now, state = like.now, system.started(problem.start)
    now.look(state, t0)
    state = jax.tree.map(_kept, state)  # runs of the same start share it
    run = Run(system, method, plan.step, _nothing(state), now, None, t0, plan.apart, begun=state)
    begun = Leg(run, Checkpoint(state), now).begun(state)
    if begun is not state:
        leg = Leg(run, Checkpoint(begun), now)
        run = changed(run, trajectory=_nothing(leg.seen(begun)), begun=begun)
    if system.kind == "system":  # of one body `look` has seen them
        for name in run.judged:
            numbers(f"the {words(name)} at the start", run[name][0])
    leg = Leg(run, Checkpoint(begun), now)
    ladder = Rungs(method, leg.stepped, begun, briefly(leg.stepped)) if like is None else like.ladder
    return changed(leg, ladder=ladder)


def _kept(x: Any) -> Any:
    """Numbers that nobody changes."""
    if not isinstance(x, np.ndarray):
        return x
    x = x.copy()
    x.flags.writeable = False
    return x


def next_leg(run: Run, method: Any, step: Any) -> Leg:
    """From the end of a run."""
    if isinstance(run.system, Lost) or isinstance(run.now, Lost):
        raise InputError("this run was sent from another process without its system; go on where it was made")
    if method is not None and method != run.method:
        raise InputError(f"this run was made with {run.method.name}; it goes on with that, got {method.name}")
    if step is not None and step != run.step:
        raise InputError(f"this run was made with steps of {run.step!r} s; it goes on with those, got {step!r}")
    if run.trajectory.end is None or run.trajectory.status in (Status.NOT_CONVERGED, Status.NOT_FINITE):
        raise InputError(
            f"this run cannot go on from step {run.steps}, t = {run.end_time:g}: {run.trajectory.status.value}. Start "
            "again with a smaller step or another method"
        )
    return Leg(run, run.trajectory.end, run.changes[-1][1] if run.changes else run.now)


def _changed(run: Run, change: Change) -> Leg:
    """From where an event made another system of it."""
    end = run.trajectory.end
    leg = Leg(run, Checkpoint(change.state, end.done, end.offset), change.now)  # type: ignore[union-attr]
    run.method.check(change.now)
    return changed(leg, begin=changed(leg.begin, state=leg.begun(change.state)))


def moved(
    leg: Leg,
    plan: Plan,
    bar: Progress,
    signals: Signals,
    recipe: Callable[[], dict[str, Any] | None] | dict[str, Any] | None,
    on_sample: Callable[[Run], Any] | None = None,
    events: Any = None,
    asked: tuple[str | None, bool] = (None, True),
) -> Run:
    """To the end of the plan. `asked`: a condition on which to stop, and whether there are sentinels."""
    watch, size = watch_of(events, leg), partial(later, leg.run)
    acting = watch is not None and any(event.action is not None for event in watch.events)
    overseer = Overseer(leg.run, *asked, on_sample, acting) if any(asked) else None
    on_sample = overseer or on_sample
    if leg.begin.done or leg.begin.offset:
        leg = changed(leg, run=changed(leg.run, trajectory=leg.run.trajectory.going_on(leg.run.every)))
    run = _moved(leg, plan, bar, signals, on_sample, watch, size)
    while (change := run.trajectory.change) is not None:
        leg = _changed(run, change)
        watch = watch_of(events, leg, watch)
        run = _moved(leg, plan, bar, signals, on_sample, watch, size)
    run = changed(run, recipe_of=recipe, every=plan.apart, every_seconds=plan.seconds, estimate=None).judge()
    run = run if overseer is None else overseer.judged(run)
    if run.halvings and not isinstance(run.method, Halving):
        warn(
            f"{run.halvings} of {plan.total} steps were not solved whole, and were taken in parts (run.halvings); such "
            "a step hardly resolves the motion: take a smaller one"
        )
    return run


def _moved(
    leg: Leg,
    plan: Plan,
    bar: Progress,
    signals: Signals,
    on_sample: Callable[[Run], Any] | None,
    watch: Watch | None,
    size: Callable[[], int],
) -> Run:
    """The same as far as the system of the leg goes."""
    run, begun = leg.run, leg.begin.done > 0 or leg.begin.offset > 0
    trajectory = integrated(leg, plan, bar, signals, on_sample, watch, size, run.trajectory.last if begun else None)
    if leg.axes is not None:
        trajectory = changed(trajectory, states=_turned(leg.axes, trajectory.states))
    if trajectory.extremes is not None and not _seen_as_kept(leg):
        trajectory = changed(trajectory, extremes=None)
    if leg.now is not run.now:
        return after_change(run, trajectory, leg.now)
    if begun:
        trajectory = run.trajectory.then(trajectory)
    return changed(run, trajectory=trajectory)


def integrated(
    leg: Leg,
    plan: Plan,
    bar: Progress,
    signals: Signals,
    on_sample: Callable[[Run], Any] | None,
    watch: Watch | None,
    size: Callable[[], int],
    last: tuple[int, float] | None,
    sink: Sink | None = None,
) -> Trajectory:
    """From where the leg begins, in the axes in which steps are taken."""
    run, axes, stepped = leg.run, leg.axes, leg.stepped

    def show(saved: Samples, first: int) -> Any:
        if isinstance(on_sample, Overseer) and not on_sample.due():
            return None
        counts, offsets = saved.counts[first : saved.count], saved.offsets[first : saved.count]
        states = jax.tree.map(lambda x: x if on_gpu(x) else np.array(x), saved.between(first, saved.count))
        if axes is not None:
            states = _turned(axes, states)
        block = changed(run.trajectory, steps=counts.copy(), states=states, offsets=offsets.copy(), end=None)
        if leg.now is not run.now:
            block = changed(block, states=run.now.matched(states, leg.now))
        changes = ((0, leg.now),) if leg.now is not run.now else ()
        return on_sample(changed(run, trajectory=block, changes=changes)) if on_sample else None

    return integrate(
        run.method,
        stepped,
        leg.begin,
        plan,
        t0=run.t0,
        later=size,
        first_block=_FIRST_BLOCKS[run.system.kind],
        briefly=briefly(stepped),
        progress=bar,
        signals=signals,
        on_samples=None if on_sample is None else show,
        watch=watch,
        rungs=leg.ladder,
        last=last,
        sink=sink,
    )


def recipe_for(
    problem: Problem, method: Method, plan: Plan, path: str | None, events: Any = None
) -> dict[str, Any] | None:
    """Enough to make the run again; None for what was made in Python."""
    recipe = None if problem.content is None else recipe_of(problem.content, method, plan, path)
    return without_events(recipe, events)


def _nothing(state: Any) -> Trajectory:
    """The start alone."""
    states = jax.tree.map(lambda x: x[None], held(state))
    return Trajectory(np.zeros(1, int), states, Status.OK, 0.0, 0.0, 0.0)


def _seen_as_kept(leg: Leg) -> bool:
    """Whether the energy at a sample is that which was seen where the steps are taken, and may have no value in both
    alone. It is not, by a rounding, at times that were rounded once more, and in other axes."""
    load = leg.now.load
    return type(load).energy is Load.energy or (load.conservative and leg.axes is None)


def _turned(system: Any, states: Any) -> Any:
    """Samples in principal axes, in the user's body frame; here in place, some at a time: a copy of all would double
    the memory."""
    if any(map(on_gpu, jax.tree.leaves(states))):
        return system.from_principal(states)
    count = len(jax.tree.leaves(states)[0])
    for first in range(0, count, _AT_A_TIME):
        rows = jax.tree.map(lambda x: x[first : first + _AT_A_TIME], states)  # noqa: B023
        for place, new in zip(jax.tree.leaves(rows), jax.tree.leaves(system.from_principal(rows)), strict=True):
            place[...] = new
    return states
