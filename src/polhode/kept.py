"""Runs that are written where they are told to: begun there, or, asked again, gone on with; and batches of them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from polhode._notices import warn
from polhode.members import family_of
from polhode.model.checks import InputError
from polhode.model.family import MOST, Problems
from polhode.model.problem import Problem
from polhode.results.clock import read as clock
from polhode.results.durable import written
from polhode.results.family import Family
from polhode.results.grown import failure_in, grown
from polhode.results.lock import Lock
from polhode.results.opened import check_grown, opened
from polhode.results.sound import planned
from polhode.results.source import Source
from polhode.results.store import SaveError, check_ending
from polhode.results.stored import StoredRun, StoredTrajectory
from polhode.results.tree import TornError, Tree
from polhode.simulation import Interrupted, Plan, Status, StepError
from polhode.simulation.lost import without
from polhode.writing import Writing, begun, check_same, gone_on, stands, writing_of

ABOUT, LOCK = "family.json", "lock"
_THERE = "{path!r} exists; to replace it: --force, or force=True"


def kept(
    problem: Problem,
    method: Any,
    plan: Plan,
    path: Path,
    again: tuple[bool, bool],
    stop_if: str | None,
    sentinels: bool,
    progress: bool | None,
    method_path: str | None,
    signals: Any,
    on_sample: Any,
    events: Any,
) -> StoredRun:
    """A run of a problem, written to a folder. `again`: what to do where it is there, replace it, or go on with it."""
    writing = writing_of(problem, method, plan, stop_if, sentinels, progress, method_path, signals, on_sample, events)
    force, resume = again
    if force or not resume or not os.path.lexists(path):
        return begun(writing, path, force=force)
    check_grown(path)
    with opened(path) as tree:
        check_same(writing, tree, path)
        _check_asked(writing, tree, path)
        if not tree.attributes["finished"]:
            return gone_on(writing, tree, path)
        return _ended(writing, tree, path)


def _check_asked(writing: Writing, tree: Tree, path: Path) -> None:
    """An InputError where it goes elsewhere than this one would."""
    known = tree.attributes
    grown(known, path)
    now = {"plan": json.dumps(planned(writing.plan)), **(writing.asked or {})}
    if differs := [name for name, value in now.items() if known.get(name) != value]:
        raise InputError(
            f"{str(path)!r} is a run of the same problem to another end, or with other samples: it differs in "
            f"{', '.join(differs)}. Give what it was begun with, or another name, or force=True, --force, to begin anew"
        )


def _ended(writing: Writing, tree: Tree, path: Path) -> StoredRun:
    """One that has ended, as `simulate` returned it, or failed: it is not run again. Of one that is damaged, what is
    not as it was."""
    known, run, status = tree.attributes, writing.run, Status[str(tree.attributes["status"])]
    mark, wrong = stands(writing, tree, path)
    torn = _torn(tree)
    if wrong or torn:
        if status is not Status.OK and not (status is Status.STOPPED and wrong):  # from its last mark it would go past
            raise InputError(
                f"{str(path)!r} has ended ({status.value}), and is damaged: {wrong or torn}; take another copy, or run "
                "it again from its start: force=True, --force"
            )
        if not wrong:
            warn(f"{str(path)!r} has ended, and {torn}; it is written again")
        return gone_on(writing, tree, path)
    gone = np.zeros(run.members, bool)
    for record in mark.lost:
        gone[record.member] = True
    tally, end = mark.tally, replace(mark.at, state=without(mark.at.state, gone))
    about: dict[str, Any] = {"status": status, "seconds": float(clock(tree.hidden).get("seconds", 0.0))}
    about |= {"worst": tally.worst, "end": end, "iterations": known["iterations"], "renewals": tally.renewals}
    about |= {"halvings": tally.halvings, "events": mark.events, "lost": mark.lost}
    about["failure"] = {} if status in (Status.OK, Status.STOPPED) else failure_in(known, path)
    trajectory = StoredTrajectory.of(Source(tree, path), run.kind, run.t0, run.step, **about)
    same = ("system", "method", "step", "now", "recipe_of", "t0", "every", "every_seconds", "begun")
    given = {name: getattr(run, name) for name in same}
    why, conserved = str(known.get("why", "")), tuple(str(known["conserved"]).split())
    return StoredRun(**given, trajectory=trajectory, path=path, why=why, gauges=mark.gauges, kept=conserved)


def _torn(tree: Tree) -> str | None:
    """What is not as it was written, by the checksums in its zarr.json."""
    try:
        tree.look(tree.samples)
    except TornError as error:
        return str(error)
    return None


def folder_of(path: Path) -> Path:
    """Where members of a batch, or of a sweep, are while they run."""
    return path.parent / f"{path.name}.members"


def check_folder(folder: Path, about: str) -> None:
    """Made, if it is not there; an InputError where it holds other things than members, of which `about` tells: in the
    end it is removed."""
    folder.mkdir(exist_ok=True)
    if not (folder / about).is_file() and (others := [each.name for each in folder.iterdir() if each.name != LOCK]):
        raise InputError(
            f"{str(folder)!r} is where members are kept while they run, and holds {others[0]!r} of something else; "
            "remove it, or give another --out"
        )


def family(
    simulate: Callable[..., Any],
    problems: Problems,
    how: dict[str, Any],
    progress: bool | None,
    path: Path,
    force: bool,
) -> Family:
    """A batch of problems, each written as it goes in a folder beside `path`, to where all are saved in the end.
    Called again, one that was cut short goes on."""
    check_ending(path)
    if path.suffix != ".zarr":
        raise InputError(f"runs are written as they go to .zarr; got {str(path)!r}: save the family when it has ended")
    if how.get("tolerance") is not None:
        raise InputError("with a tolerance runs are saved when they have ended, family.save(path); give no out")
    folder = folder_of(path)
    if os.path.lexists(path) and not force:
        raise InputError(_THERE.format(path=str(path)))
    check_folder(folder, ABOUT)
    with Lock(folder / LOCK, f"another process is running the batch {str(path)!r}; wait for it, or end it"):
        written(folder / ABOUT, json.dumps({"members": problems.members.size}).encode())
        if force:
            for each in folder.glob("*.zarr"):
                shutil.rmtree(each)
        try:
            where = lambda number: {"out": folder / f"member-{number}.zarr", "resume": True}  # noqa: E731
            made = family_of(partial(_read, simulate), problems, how, progress, where)
        except Interrupted as stop:
            words = f"{stop}; the same call goes on with all of them"
            raise Interrupted(words, replace(stop.run, path=path), stop.signum) from stop
        except SaveError as error:
            why = error.__cause__ if isinstance(error.__cause__, OSError) else error
            raise SaveError(
                f"a member of {str(path)!r} cannot be written: {why.strerror or why}. What was committed of them is "
                "whole; make room, then the same call, or command, goes on"
            ) from error
        made.save(path)
    shutil.rmtree(folder)
    return replace(made, path=path)


def members_in(path: Path) -> tuple[int, list[Path]] | None:
    """Of a batch that is being written to `path`, or was cut short: how many there are to be, and folders of those that
    have begun."""
    folder = folder_of(path)
    try:
        count = json.loads((folder / ABOUT).read_text(encoding="utf-8"))["members"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    if type(count) is not int or not 0 < count <= MOST:
        return None
    return count, sorted(folder.glob("member-*.zarr"))


def _read(simulate: Callable[..., Any], problem: Problem, **how: Any) -> Any:
    """A member that has ended, in memory: its folder is taken away when all have."""
    try:
        return simulate(problem, **how).read()
    except (StepError, Interrupted) as error:
        error.run = error.run.read()
        raise
