"""What is looked for in the samples of a run while it goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from polhode.results.condition import Condition
from polhode.results.gauges import gauged, started
from polhode.results.glance import nothing_wrong
from polhode.results.halt import Halt
from polhode.results.judgement import went
from polhode.results.look import Look
from polhode.results.sentinels import promises_of, surely_kept

Check = Callable[[Look], Halt | None]
_AT_A_TIME = 4096  # samples
_OFTEN = 1.0  # seconds between looks at a run in memory


def checks_of(run: Any, stop_if: str | None, sentinels: bool, *, thorough: bool = True) -> tuple[Check, ...]:
    """Each says where the run is to end, if it is."""
    asked = () if stop_if is None else (Condition.parse(stop_if, run),)
    return (*asked, *(promises_of(run, thorough=thorough) if sentinels else ()))


def halted(look: Look, checks: Sequence[Check]) -> Halt | None:
    """The first of all."""
    halts = [halt for check in checks if (halt := check(look)) is not None]
    return min(halts, key=lambda halt: halt.at) if halts else None


class Overseer:
    """Of a run in memory: shown new samples now and then while it goes on, and all of them when it has ended."""

    def __init__(
        self,
        run: Any,
        stop_if: str | None,
        sentinels: bool,
        on_sample: Callable[[Any], Any] | None,
        acting: bool = False,
    ) -> None:
        """acting: whether there are events that change the motion."""
        self._how, self._first, self._acting = (stop_if, sentinels), run, acting
        self._halt: Halt | None = None
        self._always = stop_if is not None
        self._on_sample, self._looked = on_sample, time.perf_counter()
        self._checks: tuple[Check, ...] | None = None
        self._gauges: dict[str, np.ndarray] = {}

    @property
    def checks(self) -> tuple[Check, ...]:
        if self._checks is None:
            self._checks = checks_of(self._first, *self._how, thorough=False)
        return self._checks

    def due(self) -> bool:
        """Whether it wants to see what is new."""
        later = time.perf_counter() - self._looked > _OFTEN
        return self._always or self._on_sample is not None or later

    def __call__(self, new: Any) -> Any:
        """As `on_sample`: True ends the run."""
        said = None if self._on_sample is None else self._on_sample(new)
        if not self._always and nothing_wrong(new, self._first.trajectory.states):
            self._looked = time.perf_counter()
        elif self._always or time.perf_counter() - self._looked > _OFTEN:
            if not self._gauges:
                self._gauges, _ = gauged({}, self._first, slice(0, 1))
            self._gauges, drifts = gauged(self._gauges, new, slice(0, len(new.t)))
            acted = self._acting or any(event.acted for event in new.events) or bool(new.changes)
            self._looked = time.perf_counter()
            self._halt = halted(Look(new, slice(0, len(new.t)), drifts, self._gauges, acted), self.checks)
            if self._halt is not None:
                return True
        return said

    def judged(self, run: Any) -> Any:
        """The run, up to where it ends by what is seen in all its samples."""
        found = self._judged(run)
        return found if found is not run or self._halt is None else _cut(run, self._halt)  # never without a word

    def _surely(self, run: Any) -> bool:
        """Whether how far the motion went, which came with the steps, tells that nothing is wrong."""
        far = went(run)
        return far is not None and surely_kept(far, self.checks)

    def _judged(self, run: Any) -> Any:
        kept = run.trajectory
        if not len(kept.steps) or (not self._always and (self._surely(run) or run.nothing_wrong)):
            return run
        gauges: dict[str, np.ndarray] = {}
        follow = self._always or run.kind == "system"  # of one body sentinels ask for the start alone
        acted = any(event.acted for event in run.events)
        if run.changes or (acted and not self._always):
            return run
        for first in range(0, len(run.t), _AT_A_TIME):
            some = _between(run, slice(first, first + _AT_A_TIME))
            rows = slice(0, len(some.t))
            drifts: dict[str, np.ndarray] = {}
            if follow:
                gauges, drifts = gauged(gauges, some, rows, None if self._always else ("energy",))  # sentinels' alone
            else:
                gauges = gauges or started(some)
            if (halt := halted(Look(some, rows, drifts, gauges, acted), self.checks)) is not None:
                return _cut(run, halt)
        return run


def _between(run: Any, rows: slice) -> Any:
    """These samples, with what was looked at in them."""
    kept = run.trajectory
    offsets = None if kept.offsets is None else kept.offsets[rows]
    states = jax.tree.map(lambda x: x[rows], kept.states)
    some = replace(run, trajectory=replace(kept, steps=kept.steps[rows], states=states, offsets=offsets))
    some.__dict__["_judged"] = {name: run[name][rows] for name in run.judged}
    return some


def _cut(run: Any, halt: Halt) -> Any:
    steps, offset = halt.at
    offsets = np.zeros(len(run.t)) if run.trajectory.offsets is None else run.trajectory.offsets
    count = int(np.argmax((run.trajectory.steps == steps) & (offsets == offset))) + 1
    kept = run.trajectory
    cut = kept.cut(count, halt.status, {"why": halt.why})
    whole = kept.end if count == len(kept.steps) and kept.end is not None else None
    return replace(run, trajectory=replace(cut, end=whole))
