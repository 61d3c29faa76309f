"""`sweep`: a design of members, run by workers, gathered in one file; again, it goes on with what is missing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from polhode._notices import warn
from polhode.inputs.schema import read_toml
from polhode.kept import LOCK, check_folder, folder_of
from polhode.model.checks import InputError, ending, nearest, shown
from polhode.model.registry import method_of
from polhode.problems import PROBLEMS
from polhode.results.durable import written
from polhode.results.lock import Lock
from polhode.results.store import check_ending, save
from polhode.simulation import Progress
from polhode.sweeps.begun import begun, check_own, planned
from polhode.sweeps.design import Design, design_of
from polhode.sweeps.gathering import Sweep
from polhode.sweeps.group import Group
from polhode.sweeps.members import Source
from polhode.sweeps.said import PLAN
from polhode.sweeps.together import gathered
from polhode.sweeps.workers import cores, run_all

_KEYS = ("design", "members", "seed", "over", "out")


def sweep(
    what: str | Path | Callable[..., Any],
    over: Mapping[str, Any] | None = None,
    *,
    design: str | None = None,
    members: int | None = None,
    seed: int | None = None,
    out: str | Path | None = None,
    until: float | None = None,
    steps: int | None = None,
    step: float | None = None,
    method: str | None = None,
    every: int | None = None,
    every_seconds: float | None = None,
    times: Any = None,
    scheduler: str | None = None,
    workers: int | None = None,
    rerun: bool = False,
    force: bool = False,
    progress: bool | None = None,
) -> Sweep:
    """Runs over a design of parameters, methods and steps, on all cores, or on a cluster.

    what     the name of a problem, `"bicycle"`; an input file with a table [sweep]; or a function of the parameters
             that returns what `simulate` runs, as for `ph.batch`
    over     names of parameters, "method" and "step", each with a list of values, or a range `{"from": 0, "to": 1,
             "count": 11}`; of a file with [body] and [start], ways to its numbers, as in "start.omega.2"
    design   "grid" (unless said), "list", "random" or "sobol"; the last two with `members`, how many, and a `seed`
    out      where all members are gathered, a `.zarr`; while they run they are in OUT.members, each a run that is
             written as it goes. Called again, a sweep that was cut short goes on
    scheduler  the address of a Dask scheduler, "tcp://host:8786"; processes of this machine unless said, `workers`
             of them
    until, step, every_seconds, times   of all members, s, as for `simulate`
    rerun    run members that failed once more
    force    replace what is at `out`, and begin anew

    Members of one body that differ in numbers alone are run as batches. A member that fails is listed with its reason
    in `sweep.failed`, and the others go on.

    In a script, call it under `if __name__ == "__main__":`, as everything that starts processes.
    """
    given = {"until": until, "steps": steps, "every": every, "every_seconds": every_seconds, "times": times}
    given |= {"step": step, "method": method}
    about = {"over": over, "design": design, "members": members, "seed": seed, "out": out}
    source, settled = _source(what, given, {k: v for k, v in about.items() if v is not None})
    layout = design_of(
        settled.get("over"), settled.get("design", "grid"), settled.get("members"), settled.get("seed", 0)
    )
    if "out" not in settled:
        raise InputError('a sweep is written to a folder: give out="sweep.zarr", or --out sweep.zarr')
    path = check_ending(Path(settled["out"]))
    if ending(path) != ".zarr":
        raise InputError(f"a sweep is written to .zarr; got {str(path)!r}")
    _check(source, layout)
    folder = folder_of(path)
    plan = planned(source, layout)
    if not force and path.exists() and not (folder / PLAN).exists():
        raise InputError(f"{str(path)!r} exists; to replace it: --force, or force=True")
    new = not folder.exists()
    check_folder(folder, PLAN)
    with Lock(folder / LOCK, f"another process is running the sweep {str(path)!r}; wait for it, or end it"):
        if force:
            _emptied(folder)
        known = begun(folder, plan, path, layout.count, workers or cores())
        check_own(path, known)
        groups = [_group(folder, source, layout, name, which) for name, which in known["groups"].items()]
        try:
            _run(groups, layout.count, scheduler, workers, progress, path.name)
        except InputError:  # there is nobody to run them
            if new:
                shutil.rmtree(folder)
            raise
        if rerun and (again := _failed(groups, layout.count)):
            name = f"again-{len(known['groups'])}"
            known["groups"][name] = again
            written(folder / PLAN, json.dumps(known).encode())
            groups.append(_group(folder, source, layout, name, again))
            _run(groups[-1:], len(again), scheduler, workers, progress, path.name)
        outcomes = _outcomes(groups, layout.count)
        dataset = gathered(layout, outcomes, folder)
        if dataset is None:
            raise InputError(f"no member of the sweep could be run; the first: {outcomes[0]['why']}")
        check_own(path, known)
        save(dataset.assign_attrs(sweep=known["mark"]), path)
    made = Sweep(path, layout, tuple(outcomes))
    if made.ok:
        shutil.rmtree(folder)
    else:
        told = "; ".join(f"member {i}: {why}" for i, why in list(made.failed.items())[:3])
        warn(f"{len(made.failed)} of {layout.count} members failed; they keep their samples up to there. {told}")
    return made


def _emptied(folder: Path) -> None:
    """All but its lock, which is held."""
    for each in folder.iterdir():
        if each.is_dir():
            shutil.rmtree(each)
        elif each.name != LOCK:
            each.unlink()


def _source(what: Any, given: Mapping[str, Any], about: dict[str, Any]) -> tuple[Source, dict[str, Any]]:
    """What members are made of, and what is said of the sweep: by the file, or instead."""
    if callable(what):
        return Source(getattr(what, "__name__", "sweep"), make=what, how=given), about
    if not isinstance(what, str | Path):
        raise InputError(f"a sweep is of a problem's name, an input file, or a function; got {shown(what)}")
    if str(what) in PROBLEMS:
        return Source(str(what), {"problem": str(what)}, how=given), about
    path = Path(what)
    if ending(path) != ".toml":
        raise InputError(
            f"{shown(str(what))} is neither an input file, which ends in .toml, nor a built-in problem"
            f"{nearest(str(what), PROBLEMS)} Problems: {', '.join(PROBLEMS)}"
        )
    content = read_toml(path)
    table = content.pop("sweep", {})
    if not isinstance(table, dict):
        raise InputError(f"{path}: [sweep] is a table; got {shown(table)}")
    for key in table:
        if key not in _KEYS:
            raise InputError(
                f"{path}: unknown key {shown(key)} in [sweep]{nearest(key, _KEYS)} Allowed there: {', '.join(_KEYS)}"
            )
    if "out" in table and isinstance(table["out"], str):
        table["out"] = str(path.parent / table["out"])
    return Source(str(path), content, how=given), {"out": str(path.with_suffix(".zarr")), **table, **about}


def _check(source: Source, layout: Design) -> None:
    """What is wrong with all members is said at once: an unknown name, a file that cannot be used."""
    for name in set(layout.values.get("method", ())):
        method_of(name)
    problem, how = source.member(layout.member(0))
    last, _ = source.member(layout.member(layout.count - 1))
    if (problem.kind, problem.system.labels) != (last.kind, last.system.labels):
        raise InputError("members of a sweep must have the same bodies, rows and observables; the last differs")
    if problem.t0 != last.t0 and "times" not in how:
        raise InputError(
            f"members of a sweep have samples at the same times; the first begins at t = {problem.t0:g} s, the last at "
            f"{last.t0:g}: give times=, or begin them together"
        )
    if "step" in layout.values and not {"every_seconds", "times"} & set(how):
        raise InputError("with several steps members have samples at the same times: give every_seconds= or times=")


def _group(folder: Path, source: Source, layout: Design, name: str, which: list[int]) -> Group:
    return Group(name, tuple(which), tuple(layout.member(i) for i in which), source, folder.absolute())


def _run(groups: list[Group], count: int, scheduler: Any, workers: Any, progress: bool | None, label: str) -> None:
    left = [group for group in groups if group.ended is None]
    finished = sum(len(group.members) for group in groups) - sum(len(group.members) for group in left)
    if not left:
        return
    with Progress(count, label, progress, "members") as bar:
        bar.advance(finished)

        def done(group: Group, found: list[dict[str, Any]]) -> None:
            nonlocal finished
            finished += len(group.members)
            if group.ended is None:
                written(group.outcome, json.dumps(found).encode())
            bar.advance(finished)

        run_all(left, done, scheduler, workers)


def _outcomes(groups: list[Group], count: int) -> list[dict[str, Any]]:
    """Of every member the last."""
    found: dict[int, dict[str, Any]] = {}
    for group in groups:
        found |= {outcome["member"]: outcome for outcome in group.ended or ()}
    return [found[i] for i in range(count)]


def _failed(groups: list[Group], count: int) -> list[int]:
    return [o["member"] for o in _outcomes(groups, count) if not o["ok"]]
