"""What a run leaves: its states, how it went, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import jax
import numpy as np

from polhode.algebra.library import library_of
from polhode.simulation.extremes import together
from polhode.simulation.lost import LostMember
from polhode.simulation.status import Status


@dataclass(frozen=True)
class Checkpoint:
    """Where a run stands: all that it takes to go on as if it had never stopped."""

    state: Any  # whole, in the axes in which steps are taken
    done: int = 0  # steps
    offset: float = 0.0  # s after the last of them, where an event stopped it
    rung: int = 0  # of the method, up to step `careful`
    careful: int = 0


@dataclass(frozen=True)
class Happened:
    """An event: its name, when (s), and the state at that time, before its action."""

    name: str
    t: float
    state: Any = field(repr=False)
    acted: bool = False  # whether it changed the motion
    which: int = field(default=0, repr=False)  # of the events that have this name, in the order they were given in


@dataclass(frozen=True)
class Trajectory:
    """States of a run, and how it went."""

    steps: np.ndarray  # step counts of the samples; t = t0 + steps * step + offsets
    states: Any  # samples in front
    status: Status
    seconds: float
    iterations: float  # a step, on average
    worst: float  # largest relative error left in a solved step
    renewals: int = 0
    halvings: int = 0
    failure: dict[str, Any] = field(default_factory=dict)
    offsets: np.ndarray | None = None  # s, of samples between steps
    end: Checkpoint | None = None
    events: tuple[Happened, ...] = ()
    lost: tuple[LostMember, ...] = ()  # of a batch
    change: Any = None  # the system with which it goes on, where an event made another
    extremes: Any = field(default=None, repr=False)  # at its samples and maybe between them, see `extremes`

    def cut(self, count: int, status: Status, failure: dict[str, Any]) -> Trajectory:
        """The first so many samples."""
        states = jax.tree.map(lambda x: x[:count], self.states)
        offsets = None if self.offsets is None else self.offsets[:count]
        return replace(
            self, steps=self.steps[:count], states=states, status=status, failure=failure, offsets=offsets, end=None
        )

    @property
    def last(self) -> tuple[int, float] | None:
        """Where the last sample is: steps, and seconds after them; None where there are no samples."""
        if not len(self.steps):
            return None
        return int(self.steps[-1]), 0.0 if self.offsets is None else float(self.offsets[-1])

    @property
    def ended(self) -> tuple[int, float]:
        """Where it ended: steps, and seconds after them. That of a part is its last sample."""
        return (self.last or (0, 0.0)) if self.end is None else (self.end.done, self.end.offset)

    def going_on(self, every: int) -> Trajectory:
        """This one, with a sample after every so many steps, or (0) at times of its own, without one that was saved
        for being the last."""
        if not every or self.last is None or (self.last[0] % every == 0 and not self.last[1]):
            return self
        states = jax.tree.map(lambda x: x[:-1], self.states)
        offsets = None if self.offsets is None else self.offsets[:-1]
        return replace(self, steps=self.steps[:-1], states=states, offsets=offsets)

    def then(self, more: Trajectory) -> Trajectory:
        """This one and what came after it, as one."""
        before, after = (0 if x.end is None else x.end.done for x in (self, more))
        taken = max(after - before, 0)
        offsets, known = None, (self.extremes, more.extremes)
        if self.offsets is not None or more.offsets is not None:
            both = [np.zeros(len(x.steps)) if x.offsets is None else x.offsets for x in (self, more)]
            offsets = np.concatenate(both)
        return replace(
            more,
            steps=np.concatenate([self.steps, more.steps]),
            states=jax.tree.map(lambda a, b: library_of(a, b).concatenate([a, b]), self.states, more.states),
            seconds=self.seconds + more.seconds,
            iterations=(self.iterations * before + more.iterations * taken) / max(before + taken, 1),
            worst=max(self.worst, more.worst),
            renewals=self.renewals + more.renewals,
            halvings=self.halvings + more.halvings,
            offsets=offsets,
            events=self.events + more.events,
            lost=self.lost + more.lost,
            extremes=None if None in known else together([*known]),
        )
