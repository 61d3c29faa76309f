"""The order of a method, from the slope of its error."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np

from polhode.model.method import Method
from polhode.model.problem import Problem
from polhode.results.run import Run
from polhode.verify.motion import motion_of

_MOST_STEPS = 4096


class Trial(Hashable, Protocol):
    """A problem whose end is known by other means."""

    @property
    def name(self) -> str: ...

    @property
    def problem(self) -> Callable[[], Problem]: ...

    @property
    def until(self) -> float: ...

    @property
    def round_off(self) -> float:
        """Errors below are those of the reference and of arithmetic."""

    @property
    def free(self) -> bool:
        """Whether nothing acts on the body: some methods solve such motion exactly, and many better than others."""

    def error(self, run: Run) -> float:
        """At the last sample."""


@dataclass(frozen=True)
class Convergence:
    """Errors at the end of a trial for numbers of steps that double."""

    steps: np.ndarray
    errors: np.ndarray  # NaN where a step could not be solved
    round_off: float = 2e-12

    @property
    def order(self) -> float:
        """The slope of the last doubling whose errors are clear of round-off; where none is, inf if that is because
        round-off is all there is, and 0 if no number of steps came near."""
        errors, least = self.errors, self.round_off
        clear = [i for i in range(1, len(errors)) if errors[i] > least and errors[i - 1] < 0.5]
        if not clear:
            return np.inf if (errors <= least).any() else 0.0
        return float(np.log2(errors[clear[-1] - 1] / errors[clear[-1]]))


@cache
def converge(method: Method, trial: Trial) -> Convergence:
    """With steps doubled until the error is at round-off, or the slope has settled."""
    motion = motion_of(method, trial.problem)
    steps, errors = [], []
    n = 4
    while n <= _MOST_STEPS:
        run = motion.run(trial.until / n, n, n)
        steps.append(n)
        errors.append(trial.error(run) if run.ok else np.nan)
        if errors[-1] < trial.round_off or (len(errors) > 5 and _settled(errors)):
            break
        n *= 2
    return Convergence(np.array(steps), np.array(errors), trial.round_off)


def _settled(errors: list[float]) -> bool:
    """Two slopes in a row alike to a hundredth."""
    slopes = np.log2(np.array(errors[-4:-1]) / np.array(errors[-3:]))
    return bool(np.ptp(slopes) < 0.01)
