"""`Growing`: a run that is written while it goes on.

Samples go into parts of a fixed number of them. What is looked at in them is computed for a whole part at a time,
always as many: so no number depends on when the run was cut. From time to time, and where it ends, all there is is
committed, with a mark of where the run stands.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from polhode.results.checkpoints import Mark, asked_of
from polhode.results.checks import Check, halted
from polhode.results.clock import Clock
from polhode.results.gauges import drift_in, gauged
from polhode.results.halt import where_no_value
from polhode.results.look import Look
from polhode.results.tree import Tree
from polhode.simulation import LostMember, Status, Trajectory
from polhode.simulation.loop import Tally, numbers_in

SECONDS = 1.0  # between commits, at least
_COST = 30  # ... and as many times as long as the last commit took
_MARKS = 20  # marks of full parts take at most this part of what the samples take
SLOTS = ("a", "b")  # marks of commits; one of them is that of the last


class Growing:
    """The sink of a run. `start`: where this process took it over; `mark`: where it stands on the disk."""

    def __init__(
        self,
        tree: Tree,
        run: Any,
        seen: Callable[[Any], Any],
        attributes: Mapping[str, Any],
        mark: Mark,
        clock: Clock,
        checks: Sequence[Check] = (),
        say: Callable[[str], None] = lambda words: None,
        before: tuple[int, float] | None = None,
        judging: bool = True,
    ) -> None:
        """run   of its first sample
        seen     a state in which a step was taken, as a user sees it
        attributes  of the folder, while it grows
        before   only samples before this one are taken
        judging  whether to look for what has no value"""
        self.tree, self.run, self.seen, self.attributes, self.clock = tree, run, seen, dict(attributes), clock
        self.start = self.mark = mark
        self.checks, self.say, self.before, self.judging = checks, say, before, judging
        self.rows, self.samples, self.last = tree.rows, mark.samples, mark.last
        self.part, self._filled = divmod(mark.samples, tree.rows)
        self._known = self._filled
        state = jax.tree.map(lambda x: np.asarray(x, dtype=float), mark.at.state)
        self._states = jax.tree.map(lambda x: np.array(np.broadcast_to(x, (self.rows, *x.shape))), state)
        self._values = tree.part(self.part) if self._filled else tree.nothing()
        for values in self._values.values():
            values[self._filled :] = 0
        self._counts, self._offsets = np.zeros(self.rows, int), np.zeros(self.rows)
        self.gauges, self._chain = dict(mark.gauges), mark.chain
        self.judged: tuple[LostMember, ...] = ()
        self._committed, self._cost = time.monotonic(), 0.0
        numbers = self.rows * sum(int(np.prod(tree.arrays[name]["shape"][1:])) for name in tree.growing)
        self._apart = max(1, -(-_MARKS * numbers_in(state) // max(numbers, 1)))  # parts between marks
        self.walk: Any = None
        self._regular: Mark | None = None

    # Samples.

    def take(self, walk: Any) -> None:
        self.walk = walk
        count = self._wanted(walk)
        last = count and (int(walk.saved.counts[count - 1]), float(walk.saved.offsets[count - 1]))
        if last and walk.plan.at is None and (last[0] % walk.plan.every or last[1]):
            self._put(walk.saved, 0, count - 1)  # one that is there only for being the last: were the run to go on,
            self._look()  # it would do so without it
            self._regular = self.stands()
            self._put(walk.saved, count - 1, count)
        else:
            self._put(walk.saved, 0, count)
        ended = walk.status is not Status.OK or walk.done >= walk.plan.total  # then the last commit says how
        if not ended and time.monotonic() - self._committed > max(SECONDS, _COST * self._cost):
            self.commit()
        self.say(self.told())

    def _put(self, saved: Any, first: int, count: int) -> None:
        while first < count:
            now = slice(first, first + min(count - first, self.rows - self._filled))
            place = slice(self._filled, self._filled + now.stop - now.start)
            self._counts[place], self._offsets[place] = saved.counts[now], saved.offsets[now]
            states = saved.between(now.start, now.stop)
            for kept, new in zip(jax.tree.leaves(self._states), jax.tree.leaves(states), strict=True):
                kept[place] = new
                for lost in self.judged:
                    kept[(place, *lost.member)] = np.nan
            self._filled, self.samples, first = place.stop, self.samples + now.stop - now.start, now.stop
            self.last = int(saved.counts[now.stop - 1]), float(saved.offsets[now.stop - 1])
            if self._filled == self.rows:
                self._close(whole=first == count and self._regular is None)

    def _wanted(self, walk: Any) -> int:
        """How many: not one that is there only because an interrupt ended the run there, nor those after `before`."""
        saved, count = walk.saved, walk.saved.count
        if walk.plan.at is None and walk.status is Status.INTERRUPTED:
            while count and (saved.counts[count - 1] % walk.plan.every or saved.offsets[count - 1]):
                count -= 1
        if walk.plan.at is not None and walk.status is Status.INTERRUPTED:  # one that no time asked for
            while count and (int(saved.counts[count - 1]), float(saved.offsets[count - 1])) not in walk.plan.at:
                count -= 1
        while self.before and count and (saved.counts[count - 1], saved.offsets[count - 1]) >= self.before:
            count -= 1
        return count

    def _look(self) -> None:
        """What the samples say that were not looked at yet."""
        rows = slice(self._known, self._filled)
        if rows.start == rows.stop:
            return
        run = self._seen()
        if self.judging:
            halt, lost = where_no_value(run, rows)
            if halt is not None:
                raise halt
            if lost:
                self.judged = (*self.judged, *lost)
                for record in lost:
                    since = rows.start + int(np.searchsorted(self._counts[rows], record.step))
                    for kept in jax.tree.leaves(self._states):
                        kept[(slice(since, None), *record.member)] = np.nan
                run = self._seen()
        gauges, drifts = gauged(self.gauges, run, rows)
        acted = any(event.acted for event in self.events)
        halt = halted(Look(run, rows, drifts, gauges, acted), self.checks)
        if halt is not None:
            raise halt
        for name, values in self._values.items():
            found = run.t if name == "t" else self._counts if name == "step_count" else run[name]
            values[rows] = found[rows]
        self.gauges, self._known = gauges, rows.stop

    def _seen(self) -> Any:
        """A run of a whole part; samples that are not there yet are others."""
        about = {"steps": self._counts.copy(), "offsets": self._offsets.copy(), "states": self.seen(self._states)}
        run = replace(self.run, trajectory=Trajectory(**about, status=Status.OK, seconds=0, iterations=0, worst=0))
        run.__dict__["_judged"] = {name: run[name] for name in run.quantities}  # each once
        return run

    # To the disk.

    def close(self) -> None:
        """There are no more."""
        self._look()
        if self._filled:
            self.tree.put(self.part, self._values)

    def _close(self, *, whole: bool) -> None:
        """A part is full. `whole`: the run stands at its last sample."""
        self._look()
        self._chain = hashlib.sha256(self._chain + self.tree.put(self.part, self._values)).digest()
        self.part, self._filled, self._known = self.part + 1, 0, 0
        for values in self._values.values():
            values[:] = 0
        if whole and self.walk.plan.at is None and self.part % self._apart == 0 and self.walk.status is Status.OK:
            path = self.tree.hidden / f"c{self.part}"
            replace(self.stands(), events=(), asked="").write(path)
            self.tree.wait_for(path)

    def stands(self) -> Mark:
        walk, tail = self.walk, hashlib.sha256()
        for name in self.tree.growing:
            tail.update(np.ascontiguousarray(self._values[name][: self._filled]).view(np.uint8).data)
        events, watch = self.events, None if walk.watch is None else walk.watch.memory
        about: dict[str, Any] = {"gauges": self.gauges, "events": events, "happened": len(events), "watch": watch}
        return Mark(
            walk.checkpoint,
            self.samples,
            self.tally,
            self._chain,
            tail.digest(),
            **about,
            lost=self.lost,
            last=self.last,
            asked=asked_of(self.attributes),
        )

    def commit(self) -> None:
        """All there is."""
        began = time.monotonic()
        self._look()
        slot = next(name for name in SLOTS if name != self.attributes.get("checkpoint"))
        self._commit(slot, self.stands(), {**self.attributes, **self.progress(), "checkpoint": slot})
        self.attributes["checkpoint"] = slot
        self._committed = time.monotonic()
        self._cost = self._committed - began

    def finish(self, attributes: Mapping[str, Any], name: str) -> None:
        """The last commit, with these attributes."""
        self.tree.say(self.samples)
        self._commit(name, self._regular or self.stands(), {**attributes, "checkpoint": name})
        for slot in SLOTS:
            (self.tree.hidden / slot).unlink(missing_ok=True)

    def _commit(self, name: str, mark: Mark, attributes: Mapping[str, Any]) -> None:
        tail = self.tree.put(self.part, self._values).hex() if self._filled else ""
        path = self.tree.hidden / name
        mark.write(path)
        self.tree.wait_for(path)
        self.tree.commit(self.samples, {**attributes, "chain": self._chain.hex(), "tail": tail})
        self.clock.write(self.walk.done, self.walk.plan.total)
        self.mark = mark

    # What is known so far.

    @property
    def tally(self) -> Tally:
        a, b = self.start.tally, self.walk.tally
        sums = (getattr(a, n) + getattr(b, n) for n in ("renewals", "halvings"))
        return Tally(a.iterations + b.iterations, max(a.worst, b.worst), *sums)

    @property
    def lost(self) -> tuple[LostMember, ...]:
        known = {record.member: record for record in (*self.walk.lost, *self.start.lost, *self.judged)}
        return tuple(sorted(known.values(), key=lambda record: record.step))

    @property
    def events(self) -> tuple[Any, ...]:
        return (*self.start.events, *(() if self.walk.watch is None else self.walk.watch.happened))

    def progress(self) -> dict[str, Any]:
        tally, done = self.tally, self.walk.done
        drift = {"energy_drift": drift_in(self.gauges, "energy", self.lost)} if "energy.far" in self.gauges else {}
        return {"steps": done, "iterations": tally.iterations / max(done, 1), "halvings": tally.halvings,
                "renewals": tally.renewals, **drift}  # fmt: skip

    def told(self) -> str:
        about = self.progress()
        return f"energy drift {about.get('energy_drift', 0.0):.1e}, {about['iterations']:.3g} iterations a step"
