"""What is asked of a run: how far, in which steps, and when it is looked at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from polhode.model.checks import InputError, numbers, positive, shown
from polhode.model.functions import is_traced
from polhode.simulation import Plan


def plan_of(step: Any, until: Any, steps: Any, t0: float, saving: dict[str, Any]) -> Plan:
    every, seconds, times = saving["every"], saving["every_seconds"], saving["times"]
    if seconds is not None:
        ratio = positive("every_seconds", seconds) / positive("step", step)
        if round(ratio) >= 1 and abs(ratio - round(ratio)) <= 1e-9 * ratio:
            every, seconds = round(ratio), None
    total = None if until is None else _length(until, t0)
    if total is not None and times is not None:  # the steps go on beyond the last time, if it is between two
        total = positive("step", step) * np.ceil(total / step - 1e-9)
    plan = Plan.of(step, total, steps, 1 if every is None else every)
    if seconds is not None:
        times = t0 + seconds * np.arange(int(plan.total * plan.step / seconds * (1 + 1e-12)) + 1)
    return plan if times is None else replace(plan.saving(times, t0), seconds=seconds)


def _length(until: Any, t0: float) -> Any:
    """Of time, from t0 to `until`."""
    if t0:
        until = moment_of("until", until)
    if t0 and not until > t0:
        raise InputError(f"until must be later than the start, t0 = {t0:g}; got {until!r}")
    return until - t0 if t0 else until


def moment_of(name: str, value: Any) -> float:
    """A time (s)."""
    found = numbers(name, value)
    if found.shape != ():
        raise InputError(f"{name} must be one number, a time (s); got {shown(value)}")
    return float(found)


def last_of(times: Any) -> Any:
    if times is None:
        raise InputError("give until, the time to go on to, or steps, how many more")
    asked = numbers("times", times)
    if not asked.size:
        raise InputError("times must be a list of times (s); got none")
    return float(asked.max())


def length_within(tolerance: Any, step: Any, steps: Any, until: Any, t0: float, saving: dict[str, Any]) -> float:
    """How long the run is whose steps are to be chosen (s), where all that was given goes together."""
    positive("tolerance", tolerance)
    for name, value in (("step", step), ("steps", steps)):
        if value is not None:
            raise InputError(f"a tolerance chooses the steps; give it or {name}, not both; got {name}={value!r}")
    if until is None:
        raise InputError("a tolerance is for the end of a run: give until, the time to stop at (s)")
    length = positive("until", _length(until, t0))
    plan_of(length, until, None, t0, saving)  # before long runs, not after them
    return length


def outside_of_transformations(*given: Any) -> None:
    """An InputError inside of JAX's."""
    if is_traced(given):
        raise InputError(
            "simulate runs by itself, not inside of jit, vmap or grad; there, polhode.flow(system, start, method=..., "
            "step=..., steps=...) is the same motion as a pure function"
        )
