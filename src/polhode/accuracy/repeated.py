"""`Repeated`: the same motion, from the same start to the same end, in any number of steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from polhode._signals import Signals
from polhode.accuracy.path import Path, size
from polhode.accuracy.triple import Triple, round_off
from polhode.algebra import Vec3, exp
from polhode.simulation import Checkpoint, Plan, Progress, Rungs, Status, integrate
from polhode.simulation.rungs import briefly

# A prime that is rarely among the factors of what a user chooses: a load of period T/60 or T/64 is not seen at the same
# phase in every step of every run.
SAMPLES = 37
_BLOCK = 512  # steps before the first look at the clock
_OFF, _NEAR = (1e-10, 1e-13), 0.1  # how far off a start is that is nudged; what is farther apart has nothing in common


@dataclass
class Repeated:
    """A method on a system, both as steps see them. Programs are made once, for steps of any length."""

    method: Any
    system: Any
    start: Any
    t0: float
    length: float  # s, from t0 to the end
    grid: int  # all numbers of steps are multiples of it
    signals: Signals
    progress: bool | None = None
    _rungs: Rungs | None = None
    _paths: dict[int, Path | None] = field(default_factory=dict)
    _ends: dict[int, Path | None] = field(default_factory=dict)
    _growth: np.ndarray | None = None

    def path(self, steps: int) -> Path | None:
        """In so many steps, at times that are common to all; None where one was not solved."""
        if steps not in self._paths:
            self._paths[steps] = self._walked(steps, self._marks * (steps // self.grid))
        return self._paths[steps]

    def scatter(self, steps: int) -> np.ndarray:
        """How far the end is, in so many steps, from that in a few more: not farther than the error, unless round-off,
        grown by an unstable motion, is more, or a load that jumps was met alike by all runs so far. But for the first,
        no step of these begins where one of the others does."""
        few = steps + max(1, steps // 32)
        while math.gcd(few, steps) > 1:
            few += 1
        if few not in self._ends:
            self._ends[few] = self._walked(few, np.array([few]))
        path, other = self.path(steps), self._ends[few]
        if path is None or other is None:
            return np.full(self.start.shape, np.inf)
        return size(other.to(path.end))[0]

    def grown(self, steps: int) -> np.ndarray:
        """What round-off of so many steps has grown to at the end, as a start that is a little off does: what two runs
        differ by may be less than that by chance. 0 where nothing moves at the start."""
        if self._growth is None:
            self._growth = self._growth_in(max(steps // 4, 4 * self.grid))
        return round_off(self.method.kind, self.method.order, steps, 0.0) * self._growth

    def _growth_in(self, steps: int) -> np.ndarray:
        """How many times farther off the end is than the start: infinitely, where it is too far to tell."""
        path = self.path(steps)
        for off in _OFF:
            other = self._walked(steps, np.array([steps]), nudged(self.start, off))
            if path is None or other is None:
                break
            far = size(other.to(path.end))[0]
            if np.all(far <= _NEAR):
                return far / off
        return np.full(self.start.shape, np.inf)

    def triple(self, steps: int) -> Triple | None:
        """In so many steps, a half and a quarter of them."""
        a, b, c = (self.path(steps // k) for k in (4, 2, 1))
        if a is None or b is None or c is None:
            return None
        return Triple.of(steps, self.method, self.length, (a, b, c))

    @cached_property
    def times(self) -> np.ndarray:
        """Those at which paths are seen (s)."""
        return self.t0 + self.length * self._marks / self.grid

    @cached_property
    def _marks(self) -> np.ndarray:
        return np.unique(np.ceil(np.arange(1, SAMPLES + 1) * (self.grid / SAMPLES)).astype(int))

    def agree_until(self, triple: Triple) -> float:
        """For how long the finer two of three runs stay near one another (s)."""
        return float(self.times[triple.apart_from] - self.t0) if triple.apart_from < len(self.times) else self.length

    @cached_property
    def turned(self) -> float:
        """Roughly by what angle the fastest body turns in all, by how it starts (rad)."""
        return float(np.max(self.system.fastest(self.start))) * self.length

    def _walked(self, steps: int, marks: np.ndarray, start: Any = None) -> Path | None:
        brief = briefly(self.system)
        self._rungs = self._rungs or Rungs(self.method, self.system, self.start, brief)
        h = self.length / steps
        trajectory = integrate(
            self.method,
            self.system,
            Checkpoint(self.start if start is None else start),
            Plan(h, steps, 1, tuple((int(mark), 0.0) for mark in marks)),
            t0=self.t0,
            first_block=_BLOCK,
            briefly=brief,
            progress=Progress(steps, f"{self.method.name}  h = {h:g}, to see its error", self.progress),
            signals=self.signals,
            rungs=self._rungs,
        )
        if trajectory.status is Status.INTERRUPTED:
            raise KeyboardInterrupt("interrupted while the error of a run was estimated; there is nothing to keep")
        if trajectory.status is not Status.OK:
            return None
        path = Path.of(self.system, trajectory.states)
        return path if np.isfinite(path.beside).all() and np.isfinite(path.attitudes).all() else None


def nudged(state: Any, by: float) -> Any:
    """A start so far off, relative to how it moves."""
    if hasattr(state, "momentum"):
        Pi, turn = state.momentum, exp(by * Vec3(0.5, -0.7, 0.5))
        off = Vec3((1.0 + by) * Pi.x, (1.0 - by) * Pi.y, (1.0 + 0.5 * by) * Pi.z)
        return replace(state, attitude=state.attitude * turn, momentum=off)
    return replace(state, velocities=(1.0 + by) * state.velocities, omegas=(1.0 + by) * state.omegas)
