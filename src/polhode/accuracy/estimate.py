"""`ErrorEstimate`: what is known of the error of a run, and how much to trust it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.accuracy.repeated import Repeated
from polhode.accuracy.triple import Triple

# Up to this order the error of the finest of three runs is inferred from the other two. Above, a step more or less is
# a factor of 60 to 1000, in which round-off could hide; so a finer run measures it.
_INFERRED = 4
_MOST = 0.1  # rad, or relative, of round-off that has grown: beyond, its size is not known
_NOISE = "the motion is so unstable that round-off, grown with it, is all that is left"


@dataclass(frozen=True)
class ErrorEstimate:
    """Of a run: `error` at its end and `largest` on the way, in rad or relative (`docs/accuracy.md`); floats, or arrays
    over the members of a batch."""

    error: Any
    largest: Any
    order: Any  # observed; NaN where nothing but round-off is left to see it by
    claimed: float  # order of the method
    trustworthy: bool
    step: float
    reason: str = ""  # why it is not to be trusted

    def __repr__(self) -> str:
        worst = np.unravel_index(np.argmax(self.error), np.shape(self.error))
        error, largest, order = (np.asarray(x)[worst] for x in (self.error, self.largest, self.order))
        of = f" (member {', '.join(map(str, worst))}, the worst of {np.size(self.error)})" if worst else ""
        seen = "round-off" if not np.isfinite(order) else f"order {order:.2f} observed, {self.claimed:g} claimed"
        text = f"<error {error:.2g} at the end, {largest:.2g} at most on the way{of}; {seen}; step {self.step:g} s"
        return text + (">" if self.trustworthy else f"\n  NOT TRUSTWORTHY: {self.reason}>")

    def record(self) -> dict[str, Any]:
        """Plain data; an order that is not seen is None, as JSON has no NaN."""
        order = np.asarray(np.where(np.isfinite(self.order), self.order, None))
        return {
            "estimate": np.asarray(self.error).tolist(),
            "largest": np.asarray(self.largest).tolist(),
            "order": order.tolist(),
            "trustworthy": self.trustworthy,
        }

    def attributes(self) -> dict[str, Any]:
        """Of a dataset."""
        return {
            "error_estimate": np.asarray(self.error).ravel().tolist() if np.ndim(self.error) else float(self.error),
            "error_meaning": "at the end: rad, and relative to the momentum or the size of the system",
        }


def estimated(repeated: Repeated, steps: int) -> ErrorEstimate:
    """Of the run in so many steps, from others of half and a quarter as many; where those are too coarse to tell, or
    their numbers not whole, from runs of twice and four times as many."""
    step, nothing = repeated.length / steps, np.full(repeated.start.shape, math.nan)[()]
    why = "runs with smaller steps were not solved"
    best = ErrorEstimate(nothing, nothing, nothing, repeated.method.order, False, step, why)
    for which in range(known_in(repeated.method.order), -1, -1):  # the run is the finest of three, or another
        most = steps * 2 ** (2 - which)
        triple = None if most % (4 * repeated.grid) else repeated.triple(most)
        if triple is not None:
            best = estimate_of(repeated, triple, which)
        if best.trustworthy:
            break
    return best


def estimate_of(repeated: Repeated, triple: Triple, which: int) -> ErrorEstimate:
    steps = triple.steps // (4, 2, 1)[which]
    noise = noise_in(repeated, triple, which)
    error, largest = (np.asarray(x + noise)[()] for x in triple.error(which))
    trusted = bool(triple.trustworthy.all() and (noise <= _MOST).all())
    order = np.where(triple.at_round_off & ~triple.in_order, math.nan, triple.order)[()]
    why = "" if trusted else why_not(repeated, triple)
    return ErrorEstimate(error, largest, order, triple.claimed, trusted, repeated.length / steps, why)


def noise_in(repeated: Repeated, triple: Triple, which: int) -> np.ndarray:
    """What round-off has grown to, of the members in which it is more than the error by the order; 0 of the others."""
    if not triple.trustworthy.all():
        return np.zeros(triple.trustworthy.shape)
    steps = triple.steps // (4, 2, 1)[which]
    scatter = np.maximum(repeated.scatter(steps), repeated.grown(steps))
    return np.where(scatter > triple.error(which)[0], 2.0 * scatter, 0.0)


def known_in(order: float) -> int:
    """The finest of three runs (0, 1, 2) whose error is known from them."""
    return 2 if order <= _INFERRED or math.isinf(order) else 1


def why_not(repeated: Repeated, triple: Triple) -> str:
    """Why an estimate from these runs is not to be trusted."""
    bad = ~triple.trustworthy
    if not bad.any():
        return _NOISE
    names = np.argwhere(bad)[:5].tolist() if bad.ndim else []
    members = f" (members {names} of the batch)" if names else ""
    h = repeated.length / triple.steps
    if not triple.small.all():
        return f"{_too_far(repeated, triple)}{members}"
    worst = np.unravel_index(np.argmin(np.where(bad, triple.cosine, 2.0)), bad.shape)
    order = min(triple.order[worst], triple.order_on_the_way[worst])
    seen = f"between steps of {4 * h:.3g} and {h:.3g} s its order is {order:.2g} instead of {triple.claimed:g}{members}"
    if math.isinf(triple.claimed):
        return f"steps of {2 * h:.3g} and {h:.3g} s differ by {triple.second.max():.2g}, more than round-off{members}"
    if order < triple.least:
        return f"{seen}: the load may not be smooth (a kink, a jump, abs, min, max), or {_NOISE}"
    return f"the error does not fall evenly from steps of {4 * h:.3g} to {h:.3g} s{members}"


def _too_far(repeated: Repeated, triple: Triple) -> str:
    h, i = repeated.length / triple.steps, triple.apart_from
    far = triple.first if i == len(repeated.times) else triple.second
    coarse, fine = (4 * h, 2 * h) if far is triple.first else (2 * h, h)
    at = int((far > 0.5).reshape(len(far), -1).any(axis=1).argmax())
    return (
        f"runs with steps of {coarse:.3g} and {fine:.3g} s have nothing in common from t = {repeated.times[at]:.3g} s "
        "on: the steps do not resolve the motion, or it is chaotic"
    )
