"""`Event`: something that happens where a number passes through zero; and `Watch`, which finds when.

Numbers are looked at after every step of a block, by what was saved of it: nothing of the user's runs inside the loop.
Where a sign changed, the time is found by shortened steps of the same method from the step before, so that the state
there is as accurate as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from polhode.model.checks import InputError, shown
from polhode.simulation.loop import Block
from polhode.simulation.trajectory import Happened

_CLOSE = 1e-12  # of a step: how well a time is found
_SOON = 1e-9  # of a step: events as near as this happen at once, and after it a number has left zero
_OFTEN, _AGAIN = (
    1000,
    1e-6,
)  # an event that acts so often in one step, or so soon (of a step) again, would go on for ever


@dataclass(frozen=True)
class Event:
    """Where `fn` passes through zero: of (t, R, omega), or the first few of them, for one body, as in `ph.Torque`; of a
    view for a system.

    direction  +1 where it rises through zero, -1 where it falls, 0 for both
    stop       whether the run ends there; a number n ends it at the n-th time, counted from its start where a run goes
               on, and at every n-th after that. True unless there is an action
    action     a function of (t, state) that returns what the run goes on with: a state, after an impulse say; or a
               system, without a joint say (`system.released("hinge")`); or both, (system, state)
    name       in `run.events`; that of the function unless said

    A number that passes through zero and back within one step is not seen: take steps that are shorter than that."""

    fn: Any
    direction: int = 0
    stop: bool | int | None = None
    name: str = ""
    action: Callable[[float, Any], Any] | None = None

    def __post_init__(self) -> None:
        if not callable(self.fn) and not hasattr(self.fn, "of_system"):
            raise InputError(f"an Event needs a function whose zero is sought; got {shown(self.fn)}")
        if (
            isinstance(self.direction, bool)
            or not isinstance(self.direction, int | np.integer | float)
            or (self.direction not in (-1, 0, 1))
        ):
            raise InputError(f"direction of an Event is +1, -1 or 0 for both; got {shown(self.direction)}")
        if self.stop is not None and (not isinstance(self.stop, bool | int | np.integer) or self.stop < 0):
            raise InputError(f"stop of an Event is True, False, or the how manieth ends the run; got {self.stop!r}")
        if self.action is not None and not callable(self.action):
            raise InputError(f"action of an Event is a function of (t, state); got {shown(self.action)}")
        if not isinstance(self.name, str):
            raise InputError(f"the name of an Event is text; got {shown(self.name)}")
        if not self.name:
            object.__setattr__(self, "name", getattr(self.fn, "__name__", type(self.fn).__name__))

    def ends(self, count: int) -> bool:
        """Whether the run ends when it has happened so often since its start."""
        stop = self.action is None if self.stop is None else self.stop
        return bool(stop) and count % int(stop) == 0


class EventError(Exception):
    """An event's function is not finite, or it happens without end."""

    def __init__(self, name: str, t: float, value: float, why: str = "") -> None:
        super().__init__(name)
        self.failure = {"t": t, "what": f"event {name!r}", "value": value, "members": [], "why": why}


@dataclass(frozen=True)
class Turn:
    """What becomes of some steps: after so many of them and `offset` seconds, the run has come to `state`, in which
    it ends, or in which `acting` change it; or goes no further for an `error`."""

    steps: int
    offset: float
    state: Any
    acting: tuple[Event, ...] = ()
    error: EventError | None = None


class Watch:
    """Events along a run.

    values  of every event, (events, samples), for states with samples in front, and their times
    acted   the state after the actions of events, and the system, if it is another
    seen    a state as a user sees it
    """

    def __init__(
        self,
        events: Sequence[Event],
        values: Callable[[Any, np.ndarray], np.ndarray],
        acted: Callable[[Sequence[Event], float, Any], tuple[Any, Any]],
        seen: Callable[[Any], Any],
        before: Watch | None = None,
        past: Sequence[Happened] = (),
    ) -> None:
        """`before`: of the same events, until the system changed; `past`: what has happened since the run began."""
        self.events, self._values, self.acted, self._seen = tuple(events), values, acted, seen
        self.happened: list[Happened] = []
        names = [event.name for event in self.events]
        self._which: list[int] = [names[:e].count(name) for e, name in enumerate(names)]
        known = [(event.name, event.which) for event in past]
        self._counts: list[int] = [known.count(it) for it in zip(names, self._which, strict=True)]
        self._signs: np.ndarray = np.zeros(len(self.events))
        self._last: float = -np.inf if before is None else before._last
        self._again: int = 0 if before is None else before._again
        self._acted: list[float] = [-np.inf] * len(self.events) if before is None else before._acted
        self._length: float = 0.0 if before is None else before._length

    @property
    def memory(self) -> dict[str, Any]:
        """What it knows of the steps before, but for what happened: for a file."""
        floats = {"last": self._last, "length": self._length}
        return {name: float(x).hex() for name, x in floats.items()} | {
            "signs": self._signs.tolist(), "again": self._again, "acted": [float(t).hex() for t in self._acted],
        }  # fmt: skip

    def remember(self, memory: Any) -> None:
        self._last, self._length = float.fromhex(memory["last"]), float.fromhex(memory["length"])
        self._signs, self._again = np.array(memory["signs"], dtype=float), int(memory["again"])
        self._acted = [float.fromhex(t) for t in memory["acted"]]

    def begin(self, state: Any, t: float, soon: tuple[Any, float] | None = None) -> None:
        """From here on. What has just happened is at zero: on which side it is, is told by the state and time `soon`
        after."""
        self._signs = np.sign(self._at(state, t) if soon is None else self._at(*soon))

    def _at(self, state: Any, t: float) -> np.ndarray:
        values = self._values(jax.tree.map(lambda x: np.asarray(x)[None], state), np.array([t]))[:, 0]
        if (error := self._error(values, t)) is not None:
            raise error
        return values

    def _error(self, values: np.ndarray, t: float) -> EventError | None:
        bad = np.flatnonzero(~np.isfinite(values))
        return EventError(self.events[bad[0]].name, float(t), float(values[bad[0]])) if bad.size else None

    def over(self, start: Any, states: Any, t: np.ndarray, shortened: Callable[..., Block]) -> Turn | None:
        """What happened in steps from `start` through these `states`, at these times, that of the start in front.
        `shortened(k, state, t, h)` is a step of another length, after k of them."""
        values = self._values(states, t[1:])
        for k in range(values.shape[1]):
            error = self._error(values[:, k], t[k + 1])
            if error is not None or self._crossed(values[:, k]).any():
                before = start if k == 0 else jax.tree.map(lambda x, k=k: np.asarray(x)[k - 1], states)
                if error is not None:
                    return Turn(k, 0.0, before, error=error)
                turn = self._step(k, before, values[:, k], t[k], t[k + 1] - t[k], shortened)
                if turn is not None:
                    return turn
            self._signs = np.sign(values[:, k])
        return None

    def _crossed(self, values: np.ndarray) -> np.ndarray:
        """Which events happen on the way to these values."""
        passed = (self._signs != 0) & (np.sign(values) != self._signs)  # to zero itself, too
        wanted = np.array([e.direction for e in self.events])
        return passed & ((wanted == 0) | (-self._signs == wanted))

    def _step(
        self, k: int, before: Any, values: np.ndarray, t: float, h: float, shortened: Callable[..., Block]
    ) -> Turn | None:
        """One step in which something happens, in the order in which it does, up to where that ends or changes the
        run."""
        which = np.flatnonzero(self._crossed(values)).tolist()
        found = sorted(((*self._located(e, k, before, t, h, shortened), e) for e in which), key=lambda x: x[0])
        turned, acting, ends = None, [], False
        for offset, state, e in found:
            if turned is not None and offset > turned[0] + _SOON * h:
                break
            event = self.events[e]
            self._counts[e] += 1
            about = (event.name, float(t + offset), self._seen(state), event.action is not None, self._which[e])
            self.happened.append(Happened(*about))
            ends = ends or event.ends(self._counts[e])
            if event.action is not None or ends:
                turned = turned or (offset, state)
                acting += [event] * (event.action is not None)
        if turned is None:
            return None
        offset, state = turned
        self._guard(acting, t + offset, h)
        return Turn(k, offset, state, () if ends else tuple(acting))

    def _guard(self, acting: Sequence[Event], t: float, h: float) -> None:
        """Actions that follow each other ever sooner would never let the run go on, or be missed in the end."""
        self._length = max(self._length, h)  # of a whole step
        self._last, self._again = (self._last, self._again + 1) if t - self._last < self._length else (t, 0)
        for event in acting:
            e = self.events.index(event)
            sooner, self._acted[e] = t - self._acted[e], t
            if self._again > _OFTEN or sooner < _AGAIN * self._length:
                said = f"{self._again} times within a step, now {sooner:.1g} s after the last"
                raise EventError(event.name, t, 0.0, f"it happens over and over, {said}; let its action end that")

    def _located(self, e: int, k: int, state: Any, t: float, h: float, shortened: Callable[..., Block]) -> Any:
        """After how long event e happens in a step of h from `state`, and the state then."""
        tried: dict[float, tuple[float, Any]] = {}

        def value(offset: float) -> float:
            if offset not in tried:
                moved = _solved(shortened(k, state, t, offset), self.events[e], t)
                tried[offset] = float(self._at(moved, t + offset)[e]), moved
            return tried[offset][0]

        from scipy.optimize import brentq  # takes its time to import

        low = 0.0
        if float(self._at(state, t)[e]) * self._signs[e] > 0:
            tried[0.0] = float(self._at(state, t)[e]), state
        else:  # it begins at zero
            low = _SOON * h
            if value(low) * self._signs[e] <= 0:
                return low, tried[low][1]
        root = float(brentq(value, low, h, xtol=_CLOSE * h, rtol=8.9e-16, maxiter=200))
        if value(root) * self._signs[e] > 0:  # beyond zero, so that it is not found again
            later = [x for x in tried if x > root and value(x) * self._signs[e] <= 0]
            root = min(later)
        return root, tried[root][1]


def _solved(block: Block, event: Event, t: float) -> Any:
    if not np.asarray(block.ok).all():
        raise EventError(event.name, t, float("nan"), "a shorter step, to find when it happens, was not solved")
    return jax.tree.map(np.asarray, block.state)
