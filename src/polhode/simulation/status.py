"""How a run ended, in a code and a sentence; and the errors that carry a run cut short."""

from __future__ import annotations

import signal
from enum import Enum
from typing import Any


class Status(Enum):
    OK = "every step was solved"
    NOT_CONVERGED = "the equations of a step were not solved"
    NOT_FINITE = "a step gave numbers that are not finite"
    BROKEN = "what the method promises does not hold"
    STOPPED = "stopped before its end, as it was asked to"
    CHANGED = "goes on with another system"
    INTERRUPTED = "interrupted; the samples up to there are kept"


class StepError(RuntimeError):
    """A step failed. `run` holds the trajectory up to it."""

    def __init__(self, message: str, run: Any) -> None:
        super().__init__(message)
        self.run = run

    def __reduce__(self) -> Any:
        return type(self), (*self.args, self.run), {k: v for k, v in self.__dict__.items() if k != "run"}


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, or SIGTERM, stopped a run. `run` holds the trajectory up to there, `signum` says which it was.

    A KeyboardInterrupt, so that a loop over many runs stops too."""

    def __init__(self, message: str, run: Any, signum: int = signal.SIGINT) -> None:
        super().__init__(message)
        self.run = run
        self.signum = signal.Signals(signum)

    def __reduce__(self) -> Any:
        rest = {k: v for k, v in self.__dict__.items() if k not in ("run", "signum")}
        return type(self), (*self.args, self.run, int(self.signum)), rest
