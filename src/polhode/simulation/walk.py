"""`Walk`: a run under way, block by block."""

from __future__ import annotations

import signal
import time
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from polhode._signals import Signals
from polhode.simulation.events import EventError, Turn, Watch
from polhode.simulation.extremes import together
from polhode.simulation.loop import Block, Tally
from polhode.simulation.lost import LostMember, lost_in, without
from polhode.simulation.plan import Plan
from polhode.simulation.progress import Progress
from polhode.simulation.rungs import Rungs
from polhode.simulation.samples import Samples, held
from polhode.simulation.sink import Sink, steps_to_full
from polhode.simulation.status import Status
from polhode.simulation.tiles import growth, slower
from polhode.simulation.trajectory import Checkpoint

_BLOCK_SECONDS = 0.1  # between looks at the clock, the progress bar and Ctrl-C
_SOON, _END = 1e-9, 1e-11  # of a step
_MANY = 1024  # calls of which is remembered how far each of them went


class Walk:
    """It stands at `state`, after `done` steps and `offset` seconds."""

    on_samples: Callable[[Samples, int], Any] | None = None
    sink: Sink | None = None  # takes the samples, which are not kept then
    last: tuple[int, float] | None = None  # where the last sample is of those that there were before, if any

    def __init__(
        self, system: Any, begin: Checkpoint, plan: Plan, t0: float, ladder: Rungs, saved: Samples, signals: Signals,
        watch: Watch | None,
    ) -> None:  # fmt: skip
        self.system, self.plan, self.t0, self.ladder, self.saved = system, plan, t0, ladder, saved
        self.signals, self.watch = signals, watch
        self.state, self.done, self.offset = begin.state, begin.done, begin.offset
        self.status, self.tally, self.failure = Status.OK, Tally(0, 0.0, 0, 0), dict[str, Any]()
        self.lost: list[LostMember] = []  # members of a batch
        self.change: Any = None  # the system with which the run goes on, where an action made another
        self.extremes: list[Any] = []  # along it, of calls one after the other, where they keep them in mind
        self.budget, self._shown = 1, 0
        self._due = 0 if plan.at is None else bisect_left(plan.at, (begin.done, begin.offset))

    @property
    def t(self) -> float:
        return self.t0 + self.done * self.plan.step + self.offset

    @property
    def checkpoint(self) -> Checkpoint:
        return Checkpoint(held(self.state), self.done, self.offset, *self.ladder.stands)

    def go(self, bar: Progress, words: Callable[[], str]) -> None:
        """To the end of the plan, or to where it stops."""
        signals = self.signals
        if self.last is None and self.plan.at is None and not self.done and not self.offset:
            self.saved.add(0, 0.0, self.state)
        try:
            while self.done < self.plan.total and self.status is Status.OK:
                if signals.came is not None:
                    self.status = Status.INTERRUPTED
                    break
                signals.waiting = True
                if (program := self.ladder.made(self.done)) is None:
                    with bar.waiting(words):
                        program = self.ladder.program(self.done)  # compiled here, if ever
                if not signals.keeping and self.state.shape:
                    pace = program.pace(self.state, np.int64(self.done), self.t0, self.plan.step)
                    self.budget = max(self.budget, int(_BLOCK_SECONDS * slower(self.state) / pace))
                clock = time.perf_counter()
                block, stride = self._next(program)
                signals.waiting = False
                spent, before = time.perf_counter() - clock, self.done
                self._take(block, stride)
                signals.keep()
                bar.advance(self.done)
                if self._show() and self.status is Status.OK:
                    self.status = Status.STOPPED
                if before < self.done < self.plan.total:
                    longer = min(growth(self.state), _BLOCK_SECONDS * slower(self.state) / max(spent, 1e-6))
                    self.budget = max(1, int((self.done - before) * longer))
            if self.plan.at is not None and self.status in (Status.OK, Status.STOPPED):
                self._leave(self.done, np.inf if self.status is Status.OK else self.offset + _END * self.plan.step)
        except EventError as error:
            self.status, self.failure = Status.NOT_FINITE, {"step": self.done, **error.failure}
        except KeyboardInterrupt:  # a second signal while waiting, or a handler of the user's own
            self.status, signals.waiting = Status.INTERRUPTED, False
            signals.came = signals.came or signal.SIGINT
        self._end()
        self._show()

    def _end(self) -> None:
        """The last sample, of where the run ended; of samples at times of their own, if there is no other. Where it
        goes on with another system it has not ended."""
        last = self.saved.last or self.last
        behind = last is None or (last < (self.done, self.offset) and self.plan.at is None)
        if behind and self.change is None:
            self.saved.add(self.done, self.offset, self.state)

    def _next(self, program: Callable[..., Block]) -> tuple[Block, int]:
        """The next steps, so many between samples; or the rest of one in which something happened."""
        if self.offset:
            return self._shortened(0, self.state, self.t, self.plan.step - self.offset), 1
        budget = self.ladder.steps(self.done, self.budget)
        if self.sink is not None:
            budget = min(budget, steps_to_full(self.done, self.plan, self.sink.rows))
        count, stride = self.plan.next(self.done, budget, self.ladder.capacity, each=self.watch is not None)
        block = program(self.state, self.done, self.t0, self.plan.step, count, stride)
        return jax.block_until_ready(block) if isinstance(block.done, jax.Array) else block, stride

    def _shortened(self, k: int, state: Any, t: float, h: float) -> Block:
        """A step of another length, k steps further on."""
        return self.ladder.shortened(state, self.done + k, t, h)

    def _take(self, block: Block, stride: int) -> None:
        """What a call has computed, up to where something happened."""
        ok, done = np.asarray(block.ok), self.done
        taken = int(block.done) - (0 if self.offset else done)
        turn = None if self.watch is None or not taken else self._turn(self.watch, block, taken)
        tally, state, offset = self.tally.with_packed(block.tally), block.state, 0.0
        if turn is not None:  # iterations of the steps beyond it are not of this run
            new = tally.iterations - self.tally.iterations
            tally = replace(tally, iterations=tally.iterations - new * (taken - turn.steps - 1) // taken)
            if self.sink is not None:  # not nearly, but exactly: it must not depend on how many were taken at once
                tally = self._tally_of(turn.steps)
            taken, state, offset = turn.steps, turn.state, turn.offset + (0.0 if turn.steps else self.offset)
            if offset > self.plan.step * (1 - _END):  # at its end, from where no time is left to the next
                taken, offset = taken + 1, 0.0
        elif not taken:
            offset = self.offset
        if self.plan.at is not None:
            between = self._leave(done + taken, offset)
            if self.status is not Status.OK:
                return
            if between is not None:
                state = without(state, between)
        if block.failed is not None:
            self._lose(block)
        if block.extremes is not None:
            self.extremes.append(block.extremes)
            if len(self.extremes) == _MANY:
                self.extremes = [together(self.extremes)]
        whole = taken // stride
        filled = self.saved.take(done, stride, whole, block.samples) if whole else self.saved.count
        # No call between these: a KeyboardInterrupt of the user's making finds all of a block, or nothing.
        self.saved.count, self.state, self.done, self.tally, self.offset = filled, state, done + taken, tally, offset
        if turn is not None:
            self._follow(turn)
        elif not (ok.any() if ok.ndim else ok) and not self.ladder.climbs(self.done):
            self._fail(block, ok if not ok.ndim else np.asarray(block.failed) != taken + 1)

    def _tally_of(self, steps: int) -> Tally:
        """With so many steps more."""
        if self.offset or not steps:
            return self.tally
        block = self.ladder.program(self.done)(self.state, self.done, self.t0, self.plan.step, steps, 1)
        return self.tally.with_packed(block.tally)

    def _turn(self, watch: Watch, block: Block, taken: int) -> Turn | None:
        states = jax.tree.map(lambda x: np.asarray(x)[:taken], block.samples)
        t = self.t0 + self.plan.step * np.arange(self.done, self.done + taken + 1)
        t[0] = self.t
        return watch.over(self.state, states, t, self._shortened)

    def _follow(self, turn: Turn) -> None:
        """Where something happened: there the run ends, or goes on with what actions make of it."""
        if turn.error is not None:
            raise turn.error
        if not turn.acting or self.watch is None:
            self.status = Status.STOPPED
            return
        self.state, self.change = self.watch.acted(turn.acting, self.t, self.state)
        if self.change is not None:
            self.status = Status.CHANGED
            return
        self.watch.begin(self.state, self.t, self._soon())

    def _soon(self) -> tuple[Any, float]:
        h = _SOON * self.plan.step
        block = self._shortened(0, self.state, self.t, h)
        return jax.tree.map(np.asarray, block.state), self.t + h

    def _leave(self, done: int, offset: float) -> np.ndarray | None:
        """Samples at times of their own between where the run stands and where it goes to, by shortened steps. Members
        of a batch that are lost in one of these, which are rare, have not taken the whole step either."""
        at, gone = self.plan.at, None
        while at is not None and self._due < len(at) and at[self._due] < (done, offset):
            count, after = at[self._due]
            state, h = self.state, after - self.offset
            if h > 0:
                block = self._shortened(0, state, self.t, h)
                ok, state = np.asarray(block.ok), block.state
                if not ok.any():
                    self._fail(block, ok if not ok.ndim else np.asarray(block.failed) < 0)
                    return gone
                if self._lose(block):
                    gone = ~ok
                    self.state = without(self.state, gone)
            self.saved.add(count, after, state)
            self._due += 1
        return gone

    def _lose(self, block: Block) -> bool:
        """Whether members of a batch were lost in this call."""
        known = {lost.member for lost in self.lost}
        new = [x for x in lost_in(block, self.done, self.t0, self.plan.step) if x.member not in known]
        self.lost += new
        return bool(new)

    def _show(self) -> bool:
        """Whether who is shown the new samples wants no more."""
        saved, first, said = self.saved, self._shown, None
        if self.on_samples is not None and first != saved.count:
            self._shown = saved.count
            said = self.on_samples(saved, first)
        if self.sink is not None:
            self.last = saved.last or self.last
            self.sink.take(self)
            saved.count = self._shown = 0
        return isinstance(said, bool | np.bool_) and bool(said)

    def _fail(self, block: Block, ok: np.ndarray) -> None:
        bad = ~ok
        converged = np.asarray(block.report.converged)[bad].all()
        self.status = Status.NOT_FINITE if converged else Status.NOT_CONVERGED
        self.failure = {
            "step": self.done + 1,
            "t": self.t,
            "residual": float(np.asarray(block.report.error)[bad].max()),
            "iterations": int(np.asarray(block.report.iterations)[bad].max()),
            "members": np.argwhere(bad)[:5].tolist() if bad.ndim else [],
        }
