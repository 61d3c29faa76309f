"""How far a run goes, in what steps, and what it keeps."""

from __future__ import annotations

import math
from dataclasses import dataclass

from polhode._notices import warn
from polhode.model.checks import InputError, positive, whole


@dataclass(frozen=True)
class Plan:
    """How far to go, in what steps, and what to keep."""

    step: float
    total: int
    every: int

    @classmethod
    def of(cls, step: float, until: float | None, steps: int | None, every: int) -> Plan:
        """Checked; a warning where `until` is not a whole number of steps."""
        h = positive("step", step)
        total, notice = count_steps(h, until, steps)
        if notice:
            warn(notice)
        return cls(h, total, whole("every", every, 1))

    @property
    def room(self) -> int:
        """Samples at most: the start, every so many, and the last."""
        return self.total // self.every + 2

    def next(self, done: int, budget: int, capacity: int) -> tuple[int, int]:
        """Samples and steps between them for the next call."""
        to_next = min(self.every - done % self.every, self.total - done)
        if to_next < self.every or budget < self.every:
            return 1, min(budget, to_next)
        return min(capacity, budget // self.every, (self.total - done) // self.every), self.every


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
