"""`Rungs`: which compiled program takes which steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.simulation.extremes import extremes, with_extremes
from polhode.simulation.loop import Block, run_block, run_block_briefly
from polhode.simulation.on_gpu import program_of_batch
from polhode.simulation.tiles import capacity_of

CAREFUL = 32  # steps from one that failed on, taken by a method's next rung
# Steps taken by a program compiled soon rather than well: of small systems, whose optimisation takes longer than
# these steps without it. Of one body both take as long.
_BRIEFLY, _SMALL = 512, 64
_LEAST = 64  # of fewer steps most runs would wait for both


def briefly(system: Any) -> int:
    """How many, by the size of the system alone: a step takes time like the cube of its unknowns."""
    if system.kind != "system":
        return 0
    unknowns = 6 * system.size + system.rows + len(system.holonomic_rows)
    count = int(_BRIEFLY * min(1.0, (_SMALL / max(unknowns, 1)) ** 3))
    return count if count >= _LEAST else 0


class Rungs:
    """The programs of a method's rungs. A step that one does not solve, and those after it, up to a number that does
    not depend on how fast the machine is, are taken by the next; then the first goes on. Rungs above the first, and
    the first `briefly` steps, are compiled soon; all others well. A batch is moved by the last rung alone: its members
    do not fail together."""

    def __init__(self, method: Any, system: Any, state: Any, briefly: int = 0) -> None:
        self._rungs, self._briefly = method.rungs[-1:] if state.shape else method.rungs, briefly
        self._like = (system, state, np.int64(0), 0.0, 0.0, np.int64(1), np.int64(1))
        self._programs: dict[tuple[int, bool], Any] = {}
        self._rung, self._until = 0, 0
        self.capacity = capacity_of(state)  # samples that a call can return

    @property
    def stands(self) -> tuple[int, int]:
        """The rung of now, and the step up to which it goes on."""
        return self._rung, self._until

    def afresh(self, rung: int = 0, until: int = 0) -> Rungs:
        """For another run, with the programs there are: from the first rung on, or from where another stood."""
        made = object.__new__(Rungs)
        made.__dict__.update(self.__dict__, _rung=rung, _until=until)
        return made

    def shortened(self, state: Any, done: int, t: float, h: float) -> Block:
        """One step of another length from `state` at t, after `done` of the others."""
        return self.program(done)(state, 0, t, h, 1, 1)

    def _at(self, done: int) -> int:
        if done >= self._until:
            self._rung = 0
        return self._rung

    def after(self, state: Any, t: float, h: float, count: int) -> Any:
        """The state after so many steps from t on, by the first rung that takes all of them; None if none does."""
        for rung in range(len(self._rungs)):
            block = self._program(rung, soon=rung > 0)(state, 0, t, h, 1, count)
            if np.asarray(block.ok).any() and int(block.done) == count:
                return block.state
        return None

    def program(self, done: int) -> Any:
        """For steps after so many, a function of (state, done, t0, h, count, stride) that gives a `Block`."""
        rung = self._at(done)
        return self._program(rung, rung > 0 or done < self._briefly)

    def _program(self, rung: int, soon: bool) -> Any:
        if (rung, soon) not in self._programs:  # users' functions stay as they were, to the end of the run
            self._programs[rung, soon] = self._made(self._rungs[rung], soon)
        return self._programs[rung, soon]

    def _made(self, method: Any, soon: bool) -> Any:
        system, state, *_ = self._like
        if state.shape:
            return program_of_batch(method, system, state)
        block = run_block_briefly if soon else run_block
        if system.kind == "system":
            return block.prepared(method, *self._like, held=1)
        program = block.prepared(method, *self._like, held=1, then=extremes)
        return lambda *numbers: with_extremes(*program(*numbers))

    def made(self, done: int) -> Any:
        """The program of now, if it was made; to make it takes a while."""
        rung = self._at(done)
        return self._programs.get((rung, rung > 0 or done < self._briefly))

    def steps(self, done: int, budget: int) -> int:
        """How many the program of now may take."""
        if self._at(done):
            return min(budget, self._until - done)
        return min(budget, self._briefly - done) if done < self._briefly else budget

    def climbs(self, done: int) -> bool:
        """Whether there is a rung above the one that failed; if so it takes over."""
        if self._at(done) + 1 == len(self._rungs):
            return False
        self._rung, self._until = self._rung + 1, done + CAREFUL
        return True
