"""`within`: the number of steps with which a run stays within a tolerance at its end."""

from __future__ import annotations

import math

import numpy as np

from polhode.accuracy.estimate import ErrorEstimate, estimate_of, known_in, noise_in, why_not
from polhode.accuracy.repeated import SAMPLES, Repeated
from polhode.accuracy.triple import Triple
from polhode.model.checks import LARGEST_COUNT, InputError

_TURN = 1.0  # rad that the fastest body turns by in the longest step that is tried
_TRIES = 16
_PATIENT = 2**15  # steps that are tried before a motion is given up as
_STUCK = 4  # chaotic: in so many doublings runs agree hardly longer than before; or as
_LOST = 3  # not of the order: in so many the differences are small, and fall by less
_SAFETY, _MARGIN = 0.5, 0.8  # of the tolerance: what is aimed at, and what is allowed an estimate


def within(repeated: Repeated, tolerance: float) -> tuple[int, ErrorEstimate]:
    """How many steps, and the error with them. Three runs, with steps of h, h/2 and h/4, tell whether the error falls
    by the order of the method. Where it does not, h is halved; where it does and is too large, h is chosen by the
    order, and again three runs must show it. An InputError where no order is seen, or where round-off is more than the
    tolerance."""
    which = known_in(repeated.method.order)
    steps = 4 * SAMPLES * max(1, math.ceil(repeated.turned / _TURN / SAMPLES))
    doubtful: list[Triple] = []
    for _ in range(_TRIES):
        triple = repeated.triple(steps)
        if triple is None or not triple.trustworthy.all():
            if triple is not None:
                doubtful.append(triple)
            if steps >= _PATIENT and (_is_chaotic(repeated, doubtful) or _has_lost_its_order(doubtful)):
                break
            steps *= 2
            continue
        worst = float(np.max(triple.error(which)[0]))
        if worst <= _MARGIN * tolerance:
            found = estimate_of(repeated, triple, which)
            if found.trustworthy and np.max(found.error) <= tolerance:
                return steps // (4, 2, 1)[which], found
            noise = float(np.max(noise_in(repeated, triple, which)))
            why = (
                f"runs in hardly more steps end {noise / 2:.1g} apart, more than their error by the order: the load "
                "may jump on the way, or the motion is so unstable that round-off has grown to that"
            )
            raise _refused(repeated, tolerance, why, 2 * noise if found.trustworthy else None)
        steps = _enough(triple, worst, tolerance)
        if not triple.in_order.all() or triple.floor_of(steps) > _SAFETY * tolerance:
            raise _refused(repeated, tolerance, "round-off is more than that", _can_be_had(triple, which))
    if doubtful:
        raise _refused(repeated, tolerance, why_not(repeated, doubtful[-1]))
    raise _refused(repeated, tolerance, f"steps of {repeated.length / steps:.3g} s and longer were not solved")


def _is_chaotic(repeated: Repeated, doubtful: list[Triple]) -> bool:
    # The error of a motion that is not chaotic grows like t² at most: in four doublings, t four times as long or more.
    until = [repeated.agree_until(triple) for triple in doubtful[-1 - _STUCK :]]
    return len(until) > _STUCK and until[-1] < min(2.5 * until[0], repeated.length)


def _has_lost_its_order(doubtful: list[Triple]) -> bool:
    return len(doubtful) >= _LOST and all(triple.small.all() for triple in doubtful[-_LOST:])


def _enough(triple: Triple, error: float, tolerance: float) -> int:
    """Steps of the finest of three, by the order claimed, or the one seen if that is less."""
    seen = float(np.min(np.where(triple.in_order, triple.order, triple.claimed)))
    steps = triple.steps * (error / (_SAFETY * tolerance)) ** (1.0 / min(triple.claimed, seen))
    return 4 * SAMPLES * math.ceil(min(steps, LARGEST_COUNT) / (4 * SAMPLES))


def _can_be_had(triple: Triple, which: int) -> float:
    """The least tolerance that would not be refused: where errors of the order and of round-off are alike, and some
    room for what the model of round-off leaves open."""
    error, floor = float(np.max(triple.error(which)[0])), triple.floor
    if not triple.in_order.all():
        return 2.0 * error
    factors = 2.0 ** np.arange(0.0, 62.0, 0.25)
    return 4.0 * float(np.min(np.maximum(error / factors**triple.claimed, floor * np.sqrt(factors))))


def _refused(repeated: Repeated, tolerance: float, why: str, least: float | None = None) -> InputError:
    words = f"tolerance = {tolerance!r} over {repeated.length:g} s with {repeated.method.name} is refused: {why}. "
    if least is not None:
        return InputError(f"{words}Ask for {_upwards(least)} or more, or for a shorter run")
    return InputError(
        f"{words}Run for a shorter time, take a method of higher order, or give step= and look at run.error_estimate()"
    )


def _upwards(value: float) -> str:
    """One digit, not less than the value."""
    unit = 10.0 ** math.floor(math.log10(value))
    return f"{math.ceil(value / unit) * unit:.0e}"
