"""`simulate`: body, load, start, method; out comes a `Run`."""

from __future__ import annotations

from typing import Any

from polhode.mechanics import InputError, RigidBody, Start, State
from polhode.mechanics.loads import Load
from polhode.methods import Method, method_of
from polhode.results.run import Run
from polhode.simulation import Plan, Status, StepError, rotate


def simulate(
    body: RigidBody,
    load: Load | None,
    start: Start | State,
    *,
    method: str | Method | type[Method] = "imidm",
    step: float,
    until: float | None = None,
    steps: int | None = None,
    every: int = 1,
    progress: bool | None = None,
    recipe: dict[str, Any] | None = None,
) -> Run:
    """Integrate the rotation of `body` under `load` from `start`.

    body      RigidBody
    load      Potential, Torque, a sum of them, or None for free motion
    start     State.of(attitude=..., omega=...) or a State; leading axes are a batch
    method    a name (`polhode methods` lists them), or a Method of your own
    step      length of a step (s)
    until     time to stop at (s); or `steps`, their number
    every     save every so many steps; the last one is saved too
    progress  show a bar when it takes long: True, False, or None for "on a terminal"
    recipe    what to write into saved files so that the run can be made again; files and
              built-in problems fill it in

    Ctrl-C returns what was computed. A step that fails raises StepError, whose `run`
    holds everything up to it.
    """
    if not isinstance(body, RigidBody):
        raise InputError(f"body must be a RigidBody; got {body!r}. Example: RigidBody(inertia=(5, 5, 1))")
    if not (load is None or isinstance(load, Load)):
        raise InputError(f"load must be a Potential, a Torque, a sum of them, or None; got {load!r}")
    if not isinstance(start, Start | State):
        raise InputError(f"start must come from State.of(...); got {start!r}")
    chosen = method_of(method)
    state = start.on(body) if isinstance(start, Start) else start
    plan = Plan.of(step, until, steps, every)
    trajectory = rotate(body, load, state, chosen, plan, progress=progress)
    run = Run(body=body, load=load, method=chosen, step=float(step), trajectory=trajectory, recipe=recipe)
    if trajectory.status in (Status.NOT_CONVERGED, Status.NOT_FINITE):
        raise StepError(_explain(run), run)
    return run


def _explain(run: Run) -> str:
    failure, h = run.trajectory.failure, run.step
    where = f"{run.method.name} failed in step {failure['step']}, from t = {failure['t']:.6g} with step {h:g}"
    members = f" (members {failure['members']} of the batch)" if failure["members"] else ""
    if run.trajectory.status is Status.NOT_FINITE:
        return f"{where}{members}: the new state is not finite. Try a smaller step, or an implicit method"
    return (
        f"{where}{members}: its equations were not solved in {failure['iterations']} iterations; the error left "
        f"is {failure['residual']:.2g} of the unknown. Try a smaller step ({h / 2:g}), or look at the load near there"
    )
