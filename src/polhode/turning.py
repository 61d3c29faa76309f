"""Steps that turn a body by more than they can follow: said where a run ends, as its numbers may look well."""

from __future__ import annotations

import math
from typing import Any

import jax
import numpy as np

from polhode._notices import warn
from polhode.algebra.library import library_of
from polhode.results.ended import ended_well as ended
from polhode.running import Leg
from polhode.simulation import Checkpoint, Plan, Progress, Status, integrate
from polhode.simulation.rungs import briefly

_FAR = math.pi  # rad: a rotation says no more than that of how far a body has turned
_APART = 0.2  # rad
_ROUNDING = 1.1e-16  # of every radian: rates and periods have 16 digits


def ended_well(run: Any, signals: Any) -> Any:
    """The run; an error, or a warning, where it did not end as it should."""
    run = ended(run, signals)
    if run.energy_gone_wrong() is None and (wrong := turns_too_far(run, signals)) is not None:  # one is enough
        warn(wrong)
    return run


def turns_too_far(run: Any, signals: Any) -> str | None:
    """A sentence where a step turns the body by more than half a turn, and ends elsewhere than two of half its length:
    invariants may be kept, and yet it is not the motion."""
    if run.kind != "rotation" or run.begun is None:
        return None
    system = run.now if getattr(run.now, "axes", None) is None else run.now.principal
    fastest = system.fastest(run.begun)
    turned = run.step * (
        float(library_of(fastest).nanmax(fastest, initial=0.0)) if np.ndim(fastest) else float(fastest)
    )
    if (lost := _ROUNDING * turned * run.steps) > _APART:
        return (
            f"{run.method.name}: the body turns by {turned * run.steps:.2g} rad until the end, and 16 digits tell "
            f"no more of its angle than {lost:.1g} rad"
        )
    if math.isinf(run.method.order):
        return None
    if not turned > _FAR:
        return None
    whole, halves = (_after(run, run.step / count, count, signals) for count in (1, 2))
    if whole is None:
        return None
    how = "two of half its length fail"
    if halves is not None:
        dot = np.abs(sum(np.asarray(a) * np.asarray(b) for a, b in zip(whole, halves, strict=True)))
        apart = float(np.nanmax(2.0 * np.arccos(np.minimum(dot, 1.0))))
        if apart < _APART:
            return None
        how = f"two of half its length end {apart:.2g} rad from it"
    return (
        f"{run.method.name}: a step of {run.step:g} s turns the body by up to {turned:.3g} rad, and {how}: this is not "
        "the motion, whatever is conserved. Take steps that turn it by less than one radian; a free body takes any "
        "with exact"
    )


def _after(run: Any, step: float, count: int, signals: Any) -> Any:
    """The attitude after the first so many steps, by the programs that the run has; None where they fail."""
    stepped = Leg(run, Checkpoint(run.begun), run.now).stepped
    plan, bar = Plan(step, count, count), Progress(count, "", False)
    how = {"t0": run.t0, "briefly": briefly(stepped), "progress": bar, "signals": signals}
    found = integrate(run.method, stepped, Checkpoint(run.begun), plan, **how)
    return jax.tree.map(lambda x: x[-1], found.states.attitude) if found.status is Status.OK else None
