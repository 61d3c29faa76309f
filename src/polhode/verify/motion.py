"""`Motion`: a method on a problem, run as often as a measurement needs, with one program."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import jax
import numpy as np

from polhode._signals import watched
from polhode.model.functions import as_arrays
from polhode.model.method import Method
from polhode.model.problem import Problem
from polhode.results.run import Run
from polhode.simulation import Checkpoint, Interrupted, Plan, Progress, Rungs, integrate

_BLOCK = 512  # steps before the first look at the clock


class Motion:
    """Runs that are there to be judged: one that fails is a result, `run.ok` tells; no energy is warned of. Programs
    are made once, for steps of any length, forward and back: a method of a user's own is traced for each anew."""

    def __init__(self, method: Method, problem: Problem) -> None:
        self.method, self.system = method, problem.system
        self._now, state = problem.system.begun(problem.start, problem.t0)
        method.check(self._now)
        self.start = as_arrays(method.begin(self._now, state))

    @cached_property
    def _rungs(self) -> Rungs:
        return Rungs(self.method, self._now, self.start)

    def run(self, step: float, steps: int, every: int, *, start: Any = None, t0: float = 0.0) -> Run:
        """From the start of the problem, or from another; a `step` below zero goes back in time."""
        with watched() as signals:
            trajectory = integrate(
                self.method,
                self._now,
                Checkpoint(self.start if start is None else as_arrays(start)),
                Plan(step, steps, every),
                t0=t0,
                first_block=_BLOCK,
                progress=Progress(steps, "", False),
                signals=signals,
                rungs=self._rungs,
            )
        run = Run(self.system, self.method, step, trajectory, self._now, None, t0).judge()
        if signals.came is not None:
            raise Interrupted("interrupted while measuring", run, signals.came)
        return run

    def step(self, start: Any, h: float, t: float = 0.0) -> tuple[Any, bool]:
        """One, from any state as a user gives it: the state after it, and whether it was solved."""
        begun = as_arrays(self.method.begin(self._now, start))
        block = self._rungs.afresh().shortened(begun, 0, t, h)
        return jax.tree.map(np.asarray, block.state), bool(np.all(block.ok))


@lru_cache(maxsize=16)
def motion_of(method: Method, problem: Callable[[], Problem]) -> Motion:
    return Motion(method, problem())
