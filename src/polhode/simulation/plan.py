"""How far a run goes, in what steps, and what it keeps."""

from __future__ import annotations

import math
from bisect import bisect
from dataclasses import dataclass, replace
from functools import lru_cache
from types import NoneType
from typing import Any

import numpy as np

from polhode._notices import warn
from polhode.model.checks import InputError, numbers, positive, shown, whole

_QUICK = frozenset((float, int, NoneType))  # kinds of numbers that are told from others by their value


@dataclass(frozen=True)
class Plan:
    """How far to go, in what steps, and what to keep."""

    step: float
    total: int
    every: int
    at: tuple[tuple[int, float], ...] | None = None  # samples instead: after so many steps, and so many seconds
    seconds: float | None = None  # between these, where they are so often

    @classmethod
    def of(cls, step: float, until: float | None, steps: int | None, every: int) -> Plan:
        """Checked; a warning where `until` is not a whole number of steps."""
        given = (step, until, steps, every)
        plan, notice = (_plan if _QUICK.issuperset(map(type, given)) else _plan.__wrapped__)(*given)
        if notice:
            warn(notice)
        return plan

    @property
    def apart(self) -> int:
        """Steps between samples; 0 where they are at times of their own."""
        return self.every if self.at is None else 0

    @property
    def room(self) -> int:
        """Samples at most: the start, every so many, and the last."""
        return self.total // self.every + 2 if self.at is None else len(self.at) + 2

    def saving(self, times: Any, t0: float) -> Plan:
        """The same steps with samples at these times alone."""
        asked = numbers("times", times)
        if asked.ndim != 1 or not len(asked):
            raise InputError(f"times must be a list of times (s); got {shown(times)}")
        if (np.diff(asked) <= 0).any():
            i = int(np.argmax(np.diff(asked) <= 0))
            raise InputError(f"times must increase; got {asked[i]!r}, then {asked[i + 1]!r}")
        end = t0 + self.total * self.step
        if asked[0] < t0 or asked[-1] > end + 1e-9 * self.step:
            bad = asked[0] if asked[0] < t0 else asked[-1]
            raise InputError(f"times must be within the run, from {t0:g} to {end:g} s; got {bad!r}")
        counts = np.minimum(np.floor((asked - t0) / self.step * (1 + 1e-15)).astype(int), self.total)
        offsets = asked - (t0 + counts * self.step)
        near = np.abs(offsets - self.step) < 1e-9 * self.step  # of the step after
        counts, offsets = counts + near, np.where(near | (np.abs(offsets) < 1e-9 * self.step), 0.0, offsets)
        return replace(self, at=tuple(zip(counts.tolist(), offsets.tolist(), strict=True)))

    def due(self, after: int, upto: int) -> list[tuple[int, float]]:
        """Samples at times, of steps after one and up to another."""
        if self.at is None:
            return []
        return [(n, offset) for n, offset in self.at[bisect(self.at, (after, math.inf)) :] if n <= upto]

    def next(self, done: int, budget: int, capacity: int, *, each: bool = False) -> tuple[int, int]:
        """Samples and steps between them for the next call; `each`: of every step."""
        end = self.total
        if self.at is not None:
            i = bisect(self.at, (done, math.inf))
            end = self.at[i][0] if i < len(self.at) else self.total
        if each:
            return min(capacity, budget, end - done), 1
        if self.at is not None:
            return 1, min(budget, end - done)
        left, every = end - done, self.every
        if done % every or left < every or budget < every:
            return 1, min(budget, every - done % every, left)
        return min(capacity, budget // every, left // every), every


@lru_cache(maxsize=64, typed=True)
def _plan(step: Any, until: Any, steps: Any, every: Any) -> tuple[Plan, str | None]:
    h = positive("step", step)
    total, notice = count_steps(h, until, steps)
    return Plan(h, total, whole("every", every, 1)), notice


def count_steps(step: float, until: float | None, steps: int | None) -> tuple[int, str | None]:
    """How many steps, and a notice where `until` is not a whole number of them."""
    if (until is None) == (steps is None):
        raise InputError(f"give either until or steps; got until={until!r}, steps={steps!r}")
    if steps is not None:
        return whole("steps", steps, 0), None
    ratio = positive("until", until) / step
    if ratio > 2**62:
        raise InputError(f"until = {until!r} is {ratio:.3g} steps of {step!r}; at most 2**62 are counted")
    count = round(ratio)
    if abs(count - ratio) <= 1e-9 * max(1.0, ratio):
        return count, None
    count = math.floor(ratio)
    if count == 0:
        raise InputError(f"until = {until!r} is shorter than one step of {step!r}; take a smaller step")
    return count, (
        f"until = {until!r} is not a whole number of steps of {step!r}: the run ends at step {count}, "
        f"t = {count * step:.12g}"
    )
