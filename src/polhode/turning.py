"""Steps that turn a body by more than they can follow: said where a run ends, as its numbers may look well."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from polhode.algebra.library import library_of
from polhode.leg import Leg
from polhode.results.ended import ended_well as ended
from polhode.simulation import Checkpoint
from polhode.simulation.rungs import Rungs

_FAR = math.pi  # rad: a rotation says no more than that of how far a body has turned
_APART = 0.2  # rad
_ROUNDING = 1.1e-16  # of every radian: rates and periods have 16 digits


def ended_well(run: Any, signals: Any, leg: Leg | None = None) -> Any:
    """The run; an error, or a warning, where it did not end as it should. `leg`: how it began, with what was seen of
    that before."""
    return ended(run, signals, partial(turns_too_far, leg=leg))


def turns_too_far(run: Any, leg: Leg | None = None) -> str | None:
    """A sentence where a step turns the body by more than half a turn, and ends elsewhere than two of half its length:
    invariants may be kept, and yet it is not the motion."""
    if run.system.kind != "rotation" or run.begun is None:
        return None
    leg = Leg(run, Checkpoint(run.begun), run.now) if leg is None else leg
    if (fastest := leg.known.get("fastest")) is None:
        leg.know("fastest", fastest := _fastest(leg.stepped, run.begun))
    turned = run.step * fastest
    if (lost := _ROUNDING * turned * run.steps) > _APART:
        return (
            f"{run.method.name}: the body turns by {turned * run.steps:.2g} rad until the end, and 16 digits tell "
            f"no more of its angle than {lost:.1g} rad"
        )
    if not turned > _FAR or math.isinf(run.method.order):
        return None
    if (how := leg.known.get(run.step)) is None:
        leg.know(run.step, how := _elsewhere(run, leg))
    if not how:
        return None
    return (
        f"{run.method.name}: a step of {run.step:g} s turns the body by up to {turned:.3g} rad, and {how}: this is not "
        "the motion, whatever is conserved. Take steps that turn it by less than one radian; a free body takes any "
        "with exact"
    )


def _fastest(system: Any, state: Any) -> float:
    """The angular speed of the body, or of the fastest of a batch."""
    found = system.fastest(state)
    return float(library_of(found).nanmax(found, initial=0.0)) if np.ndim(found) else float(found)


def _elsewhere(run: Any, leg: Leg) -> str:
    """In words, how two steps of half the length differ from the first; "" if they do not."""
    ladder = leg.ladder or Rungs(run.method, leg.stepped, run.begun)
    whole, halves = (ladder.after(run.begun, run.t0, run.step / count, count) for count in (1, 2))
    if whole is None:
        return ""
    if halves is None:
        return "two of half its length fail"
    dot = np.abs(sum(np.asarray(a) * np.asarray(b) for a, b in zip(whole.attitude, halves.attitude, strict=True)))
    apart = float(np.nanmax(2.0 * np.arccos(np.minimum(dot, 1.0))))
    return "" if apart < _APART else f"two of half its length end {apart:.2g} rad from it"
