"""Runs of multibody systems: a consistent start, then the one driver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from polhode._notices import warn
from polhode._programs import stored
from polhode._signals import Signals
from polhode.model import InputError
from polhode.multibody import Halving, MultibodyMethod, System, ThreeField, ThreeFieldSparse, consistent_start
from polhode.multibody.rows.assembly import singularities
from polhode.multibody.step.start import Correction, rows_that_follow
from polhode.multibody.step.start_checks import is_round_off, too_far
from polhode.simulation.driver import Plan, Samples, as_arrays, integrate

_FIRST_BLOCK = 512  # steps; they cost a hundred times those of one rotating body
_FLAT = 0.05  # rad: a wheel this near to flat, or so at the end of the step that failed, is why it failed
_FINITE = {"kinetic energy": "kinetic", "potential energy": "potential", "slip": "slip", "gap": "gap"}


@dataclass(frozen=True)
class SystemTrajectory(Samples):
    """Samples of a system, and what was changed at its start."""

    correction: Correction | Any = None


@stored(static=1, briefly=True)
def _sample(method: MultibodyMethod, system: System, state: Any, t: Any) -> Any:
    return method.kept(system, state, t)


def move(
    system: System, method: MultibodyMethod, plan: Plan, *, progress: bool | None, signals: Signals
) -> SystemTrajectory:
    """The motion of `system` from the start its bodies give, which may be a little off its constraints."""
    state, correction = consistent_start(system)
    if not is_round_off(system, correction):
        if (why := too_far(system, correction)) is not None:
            raise InputError(why)
        warn(f"the start was made consistent with its constraints: {correction}")
    numbers, state = as_arrays(system.bare(observed=True)), as_arrays(state)
    state = as_arrays(method.begin(numbers, state))
    where = method.layout(numbers)
    samples = integrate(
        method,
        numbers,
        state,
        plan,
        sample=lambda state, t: np.asarray(_sample(method, numbers, state, t)),
        finite={name: where[place][0].start for name, place in _FINITE.items()},
        later=later(numbers),
        first_block=_FIRST_BLOCK,
        progress=progress,
        signals=signals,
    )
    halved = int(samples.values[-1, where["halvings"][0]][0])
    if halved and not isinstance(method, Halving):
        warn(
            f"{halved} of {plan.total} steps were not solved whole, and were taken in parts (run.halvings); such a "
            "step hardly resolves the motion: take a smaller one"
        )
    return SystemTrajectory(**samples.__dict__, correction=correction)


def later(system: System) -> int:
    """Numbers a sample takes in a dataset, on the way to it and into a file; measured 13 for 1 body, 47 for 4."""
    return 8 + 10 * system.size


def cause_of_failure(run: Any) -> str | None:
    """What a system was doing in its last sample that no step can follow, if it is one of the known things.

    A wheel that falls flat is looked for first: the flatter it lies, the faster its contact runs around it, so that
    it may turn by π in a step as well."""
    q = jnp.asarray(run.positions[-1]), jnp.asarray(run.attitude[-1])
    u = jnp.concatenate([run.velocities[-1], run.omegas[-1]], axis=-1)
    for name, nearness, rate in singularities(run.system, q, u):
        if min(nearness, nearness + rate * run.step) < _FLAT:
            return (
                f"{name!r} comes to where its contact has no meaning: the axis of the wheel is {nearness:.2g} rad "
                "from the normal of the plane, so the wheel lies flat. The motion up to there is kept; for a wheel "
                "that spins and only comes near to flat, take a smaller step"
            )
    turned = np.linalg.norm(run.omegas[-1], axis=-1) * run.step
    if turned.max() > 0.9 * np.pi:
        name = run.system.names[int(turned.argmax())]
        return (
            f"{name!r} turns by {turned.max():.3g} rad in a step, and a step can turn a body by less than π; take a "
            f"step below {run.step * np.pi / turned.max() / 2:.2g}"
        )
    return _contradiction(run) or _following(run)


@stored(static=1, briefly=True)
def _rows_left(method: ThreeField, system: System, state: Any, t: Any, h: Any) -> Any:
    return method.rows_left(system, state, t, h)


def _contradiction(run: Any) -> str | None:
    """Which rows cannot all hold after the step that failed, and what is left of them at best."""
    if not isinstance(run.method, ThreeField) or isinstance(run.method, ThreeFieldSparse) or not run.system.rows:
        return None
    numbers = as_arrays(run.system.bare())
    left, apart, found = _rows_left(run.method, numbers, as_arrays(run.last_state), run.t[-1], run.step)
    left = np.asarray(left)
    if not found or not apart > run.system.tolerance:
        return None
    worst = int(np.abs(left).argmax())
    names = [run.system.row_names[i] for i in np.flatnonzero(np.abs(left) > 0.01 * abs(left[worst]))]
    return (
        f"these constraints come to contradict each other: {', '.join(names)}. What comes nearest to all of them "
        f"leaves {left[worst]:.3g} in {run.system.row_names[worst]!r}, and "
        f"{float(apart):.2g} of the size of what they hold is more than the tolerance of the system, "
        f"{run.system.tolerance:g}. Remove or change one, or give System(tolerance=...) if they are meant to agree"
    )


def _following(run: Any) -> str | None:
    """Rows that follow from one another where the step failed: there a mechanism may be locked, or branch."""
    names = rows_that_follow(run.system, run.last_state, run.t[-1]) if isinstance(run.method, ThreeField) else []
    if not names:
        return None
    return (
        f"its equations were not solved, neither whole nor in parts ({run.trajectory.failure['iterations']} "
        f"iterations). There {', '.join(names)} follow from one another, so that a mechanism may be locked by them "
        "against its loads, or branch; try a smaller step, or leave out what is not needed"
    )
