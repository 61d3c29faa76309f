"""The order of a method, from the slope of its error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polhode.methods import Method
from polhode.simulation import StepError
from polhode.verify.measured import measured
from polhode.verify.trials import Trial

ROUND_OFF = 2e-12  # errors below are those of the reference and of arithmetic
_MOST_STEPS = 4096


@dataclass(frozen=True)
class Convergence:
    """Errors at the end of a case, in R and Π together, for numbers of steps that double."""

    steps: np.ndarray
    errors: np.ndarray  # NaN where a step could not be solved

    @property
    def order(self) -> float:
        """The slope of the last doubling whose errors are clear of round-off; where none is, inf if that is because
        round-off is all there is, and 0 if no number of steps came near."""
        clear = [i for i in range(1, len(self.errors)) if self.errors[i] > ROUND_OFF and self.errors[i - 1] < 0.5]
        if not clear:
            return np.inf if (self.errors <= ROUND_OFF).any() else 0.0
        return float(np.log2(self.errors[clear[-1] - 1] / self.errors[clear[-1]]))


def converge(method: Method, case: Trial) -> Convergence:
    """With steps doubled until the error is at round-off, or the slope has settled."""
    R, Pi = case.reference()
    steps, errors = [], []
    n = 4
    while n <= _MOST_STEPS:
        steps.append(n)
        try:
            run = measured(case.body, case.load, case.start, method=method, step=case.until / n, steps=n, every=n)
            errors.append(max(np.abs(run.attitude[-1] - R).max(), np.abs(run.state.momentum.array[-1] - Pi).max()))
        except StepError:
            errors.append(np.nan)
        if errors[-1] < ROUND_OFF or (len(errors) > 5 and _settled(errors)):
            break
        n *= 2
    return Convergence(np.array(steps), np.array(errors))


def _settled(errors: list[float]) -> bool:
    """Two slopes in a row alike to a hundredth."""
    slopes = np.log2(np.array(errors[-4:-1]) / np.array(errors[-3:]))
    return bool(np.ptp(slopes) < 0.01)
