"""Runs of multibody systems: a consistent start, then the one driver."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode._programs import stored
from polhode.multibody import MultibodyMethod, System, consistent_start
from polhode.multibody.assembly import singularities
from polhode.multibody.start import Correction
from polhode.simulation.driver import Plan, Samples, as_arrays, integrate

_FIRST_BLOCK = 512  # steps; they cost a hundred times those of one rotating body
_TOLD = 1e-9  # corrections of a start below this are round-off in what the user gave


@dataclass(frozen=True)
class SystemTrajectory(Samples):
    """Samples of a system, and what was changed at its start."""

    correction: Correction | Any = None


@stored(static=1, briefly=True)
def _sample(method: MultibodyMethod, system: System, state: Any, t: Any) -> Any:
    return method.kept(system, state, t)


def move(system: System, method: MultibodyMethod, plan: Plan, *, progress: bool | None) -> SystemTrajectory:
    """The motion of `system` from the start its bodies give, made consistent with its constraints."""
    state, correction = consistent_start(system)
    changed = max((float(abs(part).max()) for part in correction.parts if part.size), default=0.0)
    if changed > _TOLD:
        warnings.warn(f"the start was made consistent with its constraints: {correction}", stacklevel=4)
    numbers, state = as_arrays(system.bare(observed=True)), as_arrays(state)
    state = as_arrays(method.begin(numbers, state))
    samples = integrate(
        method,
        numbers,
        state,
        plan,
        sample=lambda state, t: np.asarray(_sample(method, numbers, state, t)),
        first_block=_FIRST_BLOCK,
        progress=progress,
    )
    return SystemTrajectory(**samples.__dict__, correction=correction)


def cause_of_failure(run: Any) -> str | None:
    """What a system was doing in its last sample that no step can follow, if it is one of the known things."""
    turned = np.linalg.norm(run.omegas[-1], axis=-1) * run.step
    if turned.max() > 0.9 * np.pi:
        name = run.system.names[int(turned.argmax())]
        return (
            f"{name!r} turns by {turned.max():.3g} rad in a step, and a step can turn a body by less than π; take a "
            f"step below {run.step * np.pi / turned.max() / 2:.2g}"
        )
    for name, nearness in singularities(run.system, run.positions[-1], run.attitude[-1]):
        if nearness < 0.05:
            return (
                f"{name!r} has come to where its contact has no meaning: the axis of the wheel is {nearness:.2g} rad "
                "from the normal of the plane, so the wheel lies flat. The motion up to there is kept"
            )
    return None
