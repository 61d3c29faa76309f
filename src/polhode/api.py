"""`simulate`: a body with load and start, or a system; out comes a run."""

from __future__ import annotations

import signal
from typing import Any, overload

import jax

from polhode._notices import warn
from polhode._signals import Signals, watched
from polhode.methods import Method, method_of
from polhode.model import InputError
from polhode.model.checks import double_precision
from polhode.multibody import MultibodyMethod, System, multibody_method_of
from polhode.results.conserved import grown_energy, lost_energy
from polhode.results.run import Run
from polhode.results.system_run import SystemRun
from polhode.rotation import RigidBody, Start, State
from polhode.rotation.loads import Load
from polhode.simulation import Interrupted, Plan, Status, StepError, rotate
from polhode.simulation.systems import cause_of_failure, move


@overload
def simulate(
    body: RigidBody, load: Load | None, start: Start | State, *, step: float,
    method: str | Method | type[Method] = ..., until: float | None = ..., steps: int | None = ..., every: int = ...,
    progress: bool | None = ..., recipe: dict[str, Any] | None = ...,
) -> Run: ...  # fmt: skip
@overload
def simulate(
    body: System, load: None = ..., start: None = ..., *, step: float,
    method: str | MultibodyMethod = ..., until: float | None = ..., steps: int | None = ..., every: int = ...,
    progress: bool | None = ..., recipe: dict[str, Any] | None = ...,
) -> SystemRun: ...  # fmt: skip
def simulate(
    body: RigidBody | System,
    load: Load | None = None,
    start: Start | State | None = None,
    *,
    step: float,
    method: Any = None,
    until: float | None = None,
    steps: int | None = None,
    every: int = 1,
    progress: bool | None = None,
    recipe: dict[str, Any] | None = None,
) -> Run | SystemRun:
    """Integrate the rotation of `body` under `load` from `start`, or the motion of a system.

    body      RigidBody; or a multibody.System, which brings its own forces and start
    load      Potential, Torque, a sum of them, or None for free motion
    start     State.of(attitude=..., omega=...) or a State; leading axes are a batch
    method    a name (`polhode methods` lists them), or a Method of your own; "imidm" for a body and
              "three-field" for a system unless said
    step      length of a step (s)
    until     time to stop at (s); or `steps`, their number
    every     save every so many steps; the last one is saved too
    progress  show a bar when it takes long: True, False, or None for "on a terminal"
    recipe    what to write into saved files so that the run can be made again; files and
              built-in problems fill it in

    A system that starts a little off its constraints is moved onto them, with a warning; one that starts far off
    is refused, and `multibody.consistent_start` is the way to ask for it.

    A step that fails, or an energy that is not finite, raises StepError; Ctrl-C and SIGTERM raise Interrupted, a
    KeyboardInterrupt, once there are steps to keep. The `run` of both holds everything up to there. A handler of
    another's, asyncio's say, is left in place and does what it does. Of the energy of one body that grew though
    nothing drives it there is a warning.
    """
    double_precision()
    _outside_of_transformations(body, load, start)
    with watched() as signals:
        run = _moved(body, load, start, method, Plan.of(step, until, steps, every), progress, recipe, signals)
    status = run.trajectory.status
    failed = _explain(run) if status in (Status.NOT_CONVERGED, Status.NOT_FINITE) else None
    if signals.came is not None:
        raise Interrupted(_stopped(run, signals.came, failed), run, signals.came)
    if failed:
        raise StepError(failed, run)
    if (wrong := grown_energy(run) if isinstance(run, Run) else lost_energy(run)) is not None:
        warn(wrong)
    return run


def _outside_of_transformations(*given: Any) -> None:
    if any(isinstance(x, jax.core.Tracer) for x in jax.tree.leaves(given)):
        raise InputError(
            "simulate runs by itself, not inside of jit, vmap or grad; there, call method.step(system, state, t, h) in "
            "a loop of your own (README: Inside your own JAX program)"
        )


def _moved(
    body: Any, load: Any, start: Any, method: Any, plan: Plan, progress: bool | None, recipe: dict[str, Any] | None,
    signals: Signals,
) -> Run | SystemRun:  # fmt: skip
    if isinstance(body, System):
        if load is not None or start is not None:
            raise InputError("a System brings its own forces and start; give simulate(system, method=..., step=...)")
        moving = multibody_method_of("three-field" if method is None else method)
        moved = move(body, moving, plan, progress=progress, signals=signals)
        return SystemRun(body, moving, plan.step, moved, recipe)
    if not isinstance(body, RigidBody):
        raise InputError(
            f"body must be a RigidBody or a multibody.System; got {body!r}. Example: RigidBody(inertia=(5, 5, 1))"
        )
    if not (load is None or isinstance(load, Load)):
        raise InputError(f"load must be a Potential, a Torque, a sum of them, or None; got {load!r}")
    if not isinstance(start, Start | State):
        raise InputError(f"start must come from State.of(...); got {start!r}")
    chosen = method_of("imidm" if method is None else method)
    state = start.on(body) if isinstance(start, Start) else start
    trajectory = rotate(body, load, state, chosen, plan, progress=progress, signals=signals)
    return Run(body=body, load=load, method=chosen, step=plan.step, trajectory=trajectory, recipe=recipe)


def _explain(run: Run | SystemRun) -> str:
    failure, h = run.trajectory.failure, run.step
    if "what" in failure:
        return _explain_not_finite(run, failure)
    where = f"{run.method.name} failed in step {failure['step']}, from t = {failure['t']:.6g} with step {h:g}"
    members = f" (members {failure['members']} of the batch)" if failure["members"] else ""
    if isinstance(run, SystemRun) and (cause := cause_of_failure(run)):
        return f"{where}: {cause}"
    if run.trajectory.status is Status.NOT_FINITE:
        return f"{where}{members}: the new state is not finite. Try a smaller step, or an implicit method"
    return (
        f"{where}{members}: its equations were not solved in {failure['iterations']} iterations; the error left "
        f"is {failure['residual']:.2g} of the unknown. Try a smaller step ({h / 2:g}), or look at the load near there"
    )


def _explain_not_finite(run: Run | SystemRun, failure: dict[str, Any]) -> str:
    """Steps that were solved, through where energy or residuals have no value."""
    what, members = failure["what"], failure["members"]
    where = f"the {what} is {failure['value']} at t = {failure['t']:.6g} (step {failure['step']}"
    where += f"; members {members} of the batch)" if members else ")"
    advice = {
        "kinetic energy": "the motion grew beyond all numbers; try a smaller step, or look at the load near there",
        "potential energy": "the steps were solved, so the forces have a value there and the energy has none: look at "
        "the potential where the motion comes to (the log or sqrt of a negative number, a division by 0)",
    }
    why = advice.get(what, "look at the functions of the constraints where the motion comes to")
    return f"{run.method.name}: {where}; the samples up to t = {run.t[-1]:.6g} are kept. {why[0].upper()}{why[1:]}"


def _stopped(run: Run | SystemRun, signum: int, failed: str | None) -> str:
    by = "Ctrl-C" if signum == signal.SIGINT else signal.Signals(signum).name
    how = f" ({failed})" if failed else ", after the last step" if run.ok else ""
    return (
        f"interrupted by {by} at step {run.steps}, t = {run.t[-1]:.6g}{how}; what was computed is the `run` of this "
        "interrupt (at a prompt or in a notebook: import sys; sys.last_value.run)"
    )
