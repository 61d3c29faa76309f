"""`step_within`: the step of a run, where a tolerance is given instead."""

from __future__ import annotations

import warnings

from polhode._signals import Signals
from polhode.accuracy import ErrorEstimate, within
from polhode.accuracy.repeated import SAMPLES
from polhode.model.method import Method
from polhode.model.problem import Problem
from polhode.results.error_of import repeated
from polhode.running import first_leg
from polhode.simulation import Plan, Progress


def step_within(
    problem: Problem, method: Method, tolerance: float, length: float, signals: Signals, progress: bool | None
) -> tuple[float, ErrorEstimate]:
    """For so long (s), a whole number of steps; and the error with that."""
    bar = Progress(0, f"{method.name}, to a tolerance of {tolerance:g}", progress)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the run itself says what is odd about its start
        leg = first_leg(problem, None, method, Plan(length, 1, 1), bar)
    steps, estimate = within(repeated(leg.run, length, SAMPLES, signals, progress), tolerance)
    return length / steps, estimate
