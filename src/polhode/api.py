"""`simulate`: a problem, a body with load and start, or a system; out comes a run."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import jax
import numpy as np

from polhode._notices import warn
from polhode._programs import unchanged
from polhode._signals import Signals, watched
from polhode.model.checks import InputError, double_precision, numbers
from polhode.model.functions import as_arrays
from polhode.model.halving import Halving
from polhode.model.method import Method
from polhode.model.problem import Problem
from polhode.model.registry import DEFAULTS, method_of
from polhode.multibody import System
from polhode.results.ended import interrupted_by, why_failed, words
from polhode.results.rerun import recipe_of
from polhode.results.run import Run
from polhode.rotation import RigidBody, Rotation, Start
from polhode.simulation.driver import FIRST_BLOCK, Trajectory, integrate
from polhode.simulation.plan import Plan
from polhode.simulation.progress import Progress
from polhode.simulation.status import Interrupted, Status, StepError

_FIRST_BLOCKS = {"rotation": FIRST_BLOCK, "system": 512}  # steps; those of a system cost a hundred times as much
# Steps taken by a program compiled soon rather than well: of small systems, whose optimisation takes longer than
# these steps without it. Of one body both take as long.
_BRIEFLY, _SMALL = 512, 64
_AT_A_TIME = 4096  # samples


def simulate(
    what: RigidBody | Rotation | System | Problem,
    load: Any = None,
    start: Any = None,
    *,
    step: float | None = None,
    method: str | Method | type[Method] | None = None,
    until: float | None = None,
    steps: int | None = None,
    every: int = 1,
    progress: bool | None = None,
    method_path: str | None = None,
) -> Run:
    """Integrate the rotation of a body under a load from a start, the motion of a system, or a problem.

    what      RigidBody, with its load and start; Rotation(body, load), with a start; System, which brings its own
              forces and start; or a problem, `ph.problem("bicycle", speed=4.6)`, which brings all
    load      Potential, Torque, a sum of them, or None for free motion
    start     State.of(attitude=..., omega=...) or a State; leading axes are a batch
    method    a name (`polhode methods` lists them), or a Method of your own; "imidm" for a body and
              "three-field" for a system unless said
    step      length of a step (s)
    until     time to stop at (s); or `steps`, their number
    every     save every so many steps; the last one is saved too
    progress  show a bar when it takes long: True, False, or None for "on a terminal"
    method_path  `module:name` where a method that is no class with options can be had again, for saved files

    A system that starts a little off its constraints is moved onto them, with a warning; one that starts far off
    is refused, and `multibody.consistent_start` is the way to ask for it.

    A step that fails, or an energy that is not finite, raises StepError; Ctrl-C and SIGTERM raise Interrupted, a
    KeyboardInterrupt, once there are steps to keep. The `run` of both holds everything up to there. A handler of
    another's, asyncio's say, is left in place and does what it does. Of the energy of one body that grew though
    nothing drives it there is a warning.

    For derivatives of a run, and inside jit and vmap, there is `ph.flow`.
    """
    double_precision()
    problem = problem_from(what, load, start)
    step = problem.step if step is None else step
    _outside_of_transformations(problem.system, problem.start, problem.t0, step, until)
    if steps is None and until is None:
        until = problem.until
    if step is None:
        raise InputError("step is missing: give the length of a step (s), simulate(..., step=0.01)")
    plan = Plan.of(step, None if until is None else _length(until, problem.t0), steps, every)
    with watched() as signals:
        run = _moved(problem, method, plan, progress, method_path, signals)
    status = run.trajectory.status
    failed = why_failed(run) if status in (Status.NOT_CONVERGED, Status.NOT_FINITE) else None
    if signals.came is not None:
        raise Interrupted(interrupted_by(run, signals.came, failed), run, signals.came)
    if failed:
        raise StepError(failed, run)
    if (wrong := run.energy_gone_wrong()) is not None:
        warn(wrong)
    return run


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


def _moved(problem: Problem, method: Any, plan: Plan, progress: bool | None, path: str | None, signals: Signals) -> Run:
    system, t0 = problem.system, float(problem.t0)
    chosen = method_of(method or problem.method or DEFAULTS[system.kind], system.kind)
    bar = Progress(plan.total, f"{chosen.name}  h = {plan.step:g}", progress)
    with bar.waiting(lambda: "preparing the start"), unchanged():
        now, state = system.begun(problem.start, t0)
    chosen.check(now)
    now.look(state, t0)
    stepped, axes = (now, None) if getattr(now, "axes", None) is None else (now.principal, now)
    begun = as_arrays(chosen.begin(stepped, state if axes is None else axes.to_principal(state)))
    run = Run(system, chosen, plan.step, _only_the_start(begun if axes is None else axes.from_principal(begun)), now)
    if system.kind == "system":  # of one body `look` has seen them
        for name in run.judged:
            numbers(f"the {words(name)} at the start", run[name][0])
    trajectory = integrate(
        chosen,
        stepped,
        begun,
        plan,
        t0=t0,
        later=partial(later, run),
        first_block=_FIRST_BLOCKS[system.kind],
        briefly=_briefly(stepped),
        progress=bar,
        signals=signals,
    )
    if axes is not None:
        _turn_in_place(axes, trajectory.states)
    recipe = None if problem.content is None else recipe_of(problem.content, chosen, plan, path)
    run = Run(system, chosen, plan.step, trajectory, now, recipe, t0).judge()
    if run.halvings and not isinstance(chosen, Halving):
        warn(
            f"{run.halvings} of {plan.total} steps were not solved whole, and were taken in parts (run.halvings); such "
            "a step hardly resolves the motion: take a smaller one"
        )
    return run


def _briefly(system: Any) -> int:
    """A number that depends on the size of the system alone: a step takes time like the cube of its unknowns."""
    if system.kind != "system":
        return 0
    unknowns = 6 * system.size + system.rows + len(system.holonomic_rows)
    return int(_BRIEFLY * min(1.0, (_SMALL / max(unknowns, 1)) ** 3))


def _only_the_start(state: Any) -> Trajectory:
    states = jax.tree.map(lambda x: np.asarray(x)[None], state)
    return Trajectory(np.zeros(1, int), states, Status.OK, 0.0, 0.0, 0.0)


def later(run: Run) -> int:
    """Numbers a sample takes in a dataset, on the way to it and into a file: its quantities, but for those that are
    arrays of its states, and more than half as much again where they are made of others; measured 1.4 to 1.8."""
    states, total = jax.tree.leaves(run.state), 0
    for q in run.quantities.values():
        if q.whole or q.made_of or q.name in run.judged:
            values = run[q.name]
            total += 0 if any(np.may_share_memory(values, x) for x in states) else values[0].size
        else:
            total += math.prod(len(run.known.labels.get(d, "xyz")) for d in q.dims)
    return int(1.7 * total)


def _turn_in_place(system: Any, states: Any) -> None:
    """Samples in principal axes into the user's body frame, some at a time: a copy of all would double the memory."""
    count = len(jax.tree.leaves(states)[0])
    for first in range(0, count, _AT_A_TIME):
        rows = jax.tree.map(lambda x: x[first : first + _AT_A_TIME], states)  # noqa: B023
        for place, new in zip(jax.tree.leaves(rows), jax.tree.leaves(system.from_principal(rows)), strict=True):
            place[...] = new
