"""Runs that are written as they go: begun, and gone on with."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from polhode._notices import warn
from polhode.leg import Leg
from polhode.model.checks import InputError, ending
from polhode.results.checkpoints import Mark, asked_of
from polhode.results.checks import checks_of
from polhode.results.clock import Clock
from polhode.results.dataset import GROWN, attributes_of, before_its_start
from polhode.results.finishing import finished
from polhode.results.growing import Growing
from polhode.results.halt import Halt
from polhode.results.identity import fingerprint
from polhode.results.lock import locked, replaceable
from polhode.results.made_of import differs, made_of
from polhode.results.mending import mend
from polhode.results.metadata import HIDDEN, LATER
from polhode.results.opened import clean_marks, room_for
from polhode.results.planting import planted
from polhode.results.sound import planned, sound
from polhode.results.source import Source
from polhode.results.store import check_ending
from polhode.results.stored import StoredRun, StoredTrajectory
from polhode.results.tree import TornError, Tree, rows_for
from polhode.results.workspace import clean, put, put_anew, workspace
from polhode.running import first_leg, integrated, recipe_for
from polhode.simulation import Checkpoint, Plan, Progress, Status, Trajectory
from polhode.simulation.loop import Tally
from polhode.simulation.lost import without
from polhode.watching import watch_of

_PASSED = (
    "a sample was wrong, and right when its steps were taken once more: the memory or the processor of this machine"
)
_THERE = (
    "{name!r} exists. To go on with it: polhode resume {path}, or polhode.resume({name!r}); to replace it: --force, or "
    "force=True"
)


@dataclass(frozen=True)
class Writing:
    """What is the same wherever a run is taken up: where it begins, by what plan it goes, and who looks at it."""

    leg: Leg  # from its start
    plan: Plan
    recipe: Any
    bar: Progress
    signals: Any
    events: Any = None
    on_sample: Callable[[Any], Any] | None = None
    checks: Sequence[Any] = ()
    asked: Any = None  # what is remembered of the checks, in attributes

    @property
    def run(self) -> Any:
        about = {"recipe_of": self.recipe, "every": self.plan.apart, "every_seconds": self.plan.seconds}
        return replace(self.leg.run, **about)

    def attributes(self) -> dict[str, Any]:
        """While it grows."""
        about = {k: v for k, v in attributes_of(self.run).items() if k != "seconds"}
        events = _listed(self.events)
        own = {"format": GROWN, "finished": 0, "plan": json.dumps(planned(self.plan)), "t0": self.run.t0,
               "fingerprint": self.fingerprint, "watched": json.dumps([event.name for event in events]),
               "made_of": made_of(self.run.method, events)}  # fmt: skip
        return {**about, "status": Status.INTERRUPTED.name, "stands": "", **own, **(self.asked or {})}

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.leg.run, self.leg.now, self.leg.begin.state)

    @property
    def start(self) -> Mark:
        """Before all samples."""
        state = jax.tree.map(lambda x: np.asarray(x, dtype=float), self.leg.begin.state)
        return Mark(replace(self.leg.begin, state=state), 0, Tally(0, 0.0, 0, 0), b"", hashlib.sha256().digest())


def writing_of(
    problem: Any, method: Any, plan: Plan, stop_if: str | None, sentinels: bool, progress: bool | None,
    method_path: str | None, signals: Any, on_sample: Any, events: Any,
) -> Writing:  # fmt: skip
    bar = Progress(plan.total, f"{method.name}  h = {plan.step:g}", progress)
    leg = first_leg(problem, None, method, plan, bar)
    recipe = recipe_for(problem, method, plan, method_path, events)
    events = problem.events if events is None else events
    checks, asked = checks_of(leg.run, stop_if, sentinels), {"stop_if": stop_if or "", "sentinels": int(sentinels)}
    return Writing(leg, plan, recipe, bar, signals, events, on_sample, checks, asked)


def begun(writing: Writing, path: Path, *, force: bool) -> StoredRun:
    """From the start, to a new folder."""
    target = Path(os.path.realpath(check_ending(path)))
    if ending(path) != ".zarr":
        raise InputError(f"a run is written as it goes to .zarr; got {str(path)!r}: save the run when it has ended")
    if os.path.exists(target) and not force:
        raise InputError(_THERE.format(path=path, name=str(path)))
    dataset = before_its_start(writing.run)
    numbers = sum(int(np.prod(v.shape[1:])) for v in dataset.variables.values() if v.dims[:1] == ("t",))
    with room_for(path), ExitStack() as stack:
        clean(target.parent)
        with workspace(target.parent) as place:
            new = place / target.name
            planted(dataset.assign_attrs(writing.attributes() | {"chain": ""}), new, rows_for(numbers))
            (new / HIDDEN).mkdir()
            Tree(new).commit(0, Tree(new).attributes)
            stack.enter_context(locked(new / HIDDEN, path))
            if force:
                with replaceable(target / HIDDEN, path):
                    put(new, target)
            elif not put_anew(new, target):
                raise InputError(_THERE.format(path=path, name=str(path)))
        return _went(writing, Tree(target), writing.start, path)


def check_same(writing: Writing, tree: Tree, path: Path) -> None:
    """An InputError where a folder is of another run."""
    if tree.attributes.get("fingerprint") != writing.fingerprint:
        raise InputError(
            f"{str(path)!r} is a run of another problem, method or step than this one: it goes on with what it was "
            "begun with"
        )
    if differs(tree.attributes.get("made_of"), writing.attributes()["made_of"]):
        raise InputError(f"{str(path)!r} was begun with another method, or other events, of these names: give it those")


def stands(writing: Writing, tree: Tree, path: Path) -> tuple[Mark, str | None]:
    """The last mark that all before it bears out, and what was wrong after it."""
    try:
        return sound(tree, writing.start)
    except TornError as error:
        raise InputError(f"{str(path)!r} cannot go on: {error}. Put back its own, or run it again") from error


def gone_on(writing: Writing, tree: Tree, path: Path) -> StoredRun:
    """From where a run stands that was written before, in a folder that is `opened`."""
    check_same(writing, tree, path)
    mend(tree, before_its_start(writing.run), path)
    mark, wrong = stands(writing, tree, path)
    mark = replace(mark, asked=asked_of(writing.attributes()))
    at = writing.run.t0 + mark.at.done * writing.plan.step + mark.at.offset
    if wrong:
        warn(f"{str(path)!r}: {wrong}; the run goes on before that, from t = {at:.9g}")
    with room_for(path):
        tree.prune(*LATER)
        slot = "b" if tree.attributes.get("checkpoint") == "a" else "a"
        mark.write(tree.hidden / slot)
        tree.wait_for(tree.hidden / slot)
        about = {"checkpoint": slot, "steps": mark.at.done, "chain": tree.chain(mark.samples // tree.rows).hex()}
        tree.commit(mark.samples, {**writing.attributes(), **about})
        tree.clean()
        clean_marks(tree, slot)
        return _went(writing, tree, mark, path, slot)


def _went(
    writing: Writing, tree: Tree, mark: Mark, path: Path, slot: str = "", before: Halt | None = None
) -> StoredRun:
    """To its end, or to where something is seen in a sample: there from the last commit, once more."""
    attributes = writing.attributes() | ({"checkpoint": slot} if slot else {})
    about: dict[str, Any] = {"clock": Clock(tree.hidden, mark.at.done, writing.plan.total), "say": writing.bar.say}
    sink = Growing(tree, writing.run, writing.leg.seen, attributes, mark, **about, checks=writing.checks)
    try:
        run = _ended(writing, sink, _driven(writing, sink, writing.plan), path)
        if before is not None:
            warn(f"{str(path)!r}: {_PASSED} ({before.why})")
        return run
    except Halt as found:
        halt = found
    if halt.status is Status.BROKEN and before is None:  # once more: what the machine did wrong is not done again
        return _went(writing, tree, sink.mark, path, sink.attributes.get("checkpoint", ""), halt)
    if before is not None and before.at != halt.at:
        warn(f"{str(path)!r}: {_PASSED} (at step {before.at[0]}: {before.why})")
    count, offset = halt.at
    at = writing.plan.at and tuple(at for at in writing.plan.at if at <= halt.at)
    plan = replace(writing.plan, total=count + (offset > 0), at=at)
    upto = halt.at if halt.without else None
    sink = Growing(tree, writing.run, writing.leg.seen, sink.attributes, sink.mark, **about, before=upto, judging=False)
    return _ended(writing, sink, _driven(writing, sink, plan), path, halt)


def _driven(writing: Writing, sink: Growing, plan: Plan) -> Trajectory:
    mark, leg = sink.start, writing.leg
    if plan.at is not None and mark.last is not None:
        plan = replace(plan, at=tuple(at for at in plan.at if at > mark.last))
    run = replace(leg.run, trajectory=replace(leg.run.trajectory, events=mark.events))
    leg = replace(leg, run=run, begin=mark.at)
    watch = watch_of(writing.events, leg)
    if watch is not None and mark.watch is not None:
        watch.remember(mark.watch)
    trajectory = integrated(
        leg, plan, writing.bar, writing.signals, writing.on_sample, watch, lambda: 0, mark.last, sink
    )
    if trajectory.change is not None:
        raise InputError(
            "an event made another system, which a run that is written as it goes cannot go on with; run it without "
            f"out, and save it at its end. What was computed up to then is in {str(sink.tree.path)!r}"
        )
    return trajectory


def _ended(writing: Writing, sink: Growing, trajectory: Trajectory, path: Path, halt: Halt | None = None) -> StoredRun:
    status, failure = (trajectory.status, trajectory.failure) if halt is None else (halt.status, halt.failure)
    end: Checkpoint | None = trajectory.end
    if halt is not None and halt.without:
        end = None
    elif end is not None and sink.judged:
        gone = np.zeros(writing.run.members, bool)
        for record in sink.judged:
            gone[record.member] = True
        end = replace(end, state=without(end.state, gone))
    tally = sink.tally
    known = {"status": status, "seconds": sink.clock.seconds, "worst": tally.worst, "failure": failure, "end": end,
             "iterations": tally.iterations / max(sink.walk.done, 1), "renewals": tally.renewals,
             "halvings": tally.halvings, "events": sink.events, "lost": sink.lost}  # fmt: skip
    run = writing.run
    if trajectory.status is Status.INTERRUPTED:
        sink.commit()
        kept: tuple[str, ...] = run.conserved
    else:
        kept = finished(run, sink, replace(run.trajectory, **known), "" if halt is None else halt.why)
    same = ("system", "method", "step", "now", "recipe_of", "t0", "every", "every_seconds", "begun")
    about = {name: getattr(run, name) for name in same}
    known_as = StoredTrajectory.of(Source(sink.tree, path), run.kind, run.t0, run.step, **known)
    return StoredRun(**about, trajectory=known_as, path=path, why="" if halt is None else halt.why,
                     gauges=sink.gauges, kept=kept)  # fmt: skip


def _listed(events: Any) -> list[Any]:
    return [] if events is None else [events] if hasattr(events, "fn") else list(events)
