"""How a run ended, in a code and a sentence; and the error that carries a run cut short."""

from __future__ import annotations

from enum import Enum
from typing import Any


class Status(Enum):
    OK = "every step was solved"
    NOT_CONVERGED = "the equations of a step were not solved"
    NOT_FINITE = "a step gave numbers that are not finite"
    INTERRUPTED = "interrupted; the samples up to there are kept"


class StepError(RuntimeError):
    """A step failed. `run` holds the trajectory up to it."""

    def __init__(self, message: str, run: Any) -> None:
        super().__init__(message)
        self.run = run
