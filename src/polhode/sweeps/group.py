"""`Group`: members of a sweep that a worker runs together, written as they go; killed, another goes on with them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray

from polhode.api import simulate
from polhode.model.checks import InputError
from polhode.model.problem import Problem
from polhode.results.dataset import GROWN
from polhode.results.durable import written
from polhode.results.metadata import root_of
from polhode.results.quiet import quietly
from polhode.results.store import NO_ROOM, SaveError
from polhode.simulation import Status, StepError
from polhode.sweeps.members import Source, stacked
from polhode.sweeps.said import read_outcome


@dataclass(frozen=True)
class Group:
    """Some members, by their numbers, with what is swept in each."""

    name: str
    members: tuple[int, ...]
    swept: tuple[Mapping[str, Any], ...]
    source: Source
    folder: Path

    @property
    def outcome(self) -> Path:
        """What became of it, once it has ended."""
        return self.folder / f"{self.name}.json"

    @property
    def ended(self) -> list[dict[str, Any]] | None:
        """What is written of that."""
        return read_outcome(self.outcome, self.members)

    def run(self) -> list[dict[str, Any]]:
        """What became of every member. One that fails keeps its samples, and the others go on. A SaveError where the
        disk is full: of that no member is to blame."""
        if self.ended is not None:
            return self.ended
        try:
            return self._ran()
        except (OSError, InputError) as error:
            if not _is_full(error):
                raise
            raise SaveError(
                f"there is no room for the members of the sweep ({error}). What they have written is kept: make room, "
                "and the same command goes on"
            ) from error

    def _ran(self) -> list[dict[str, Any]]:
        made = [_made(self.source, swept) for swept in self.swept]
        batch = stacked([m[0] for m in made]) if not any(isinstance(m, str) for m in made) and _alike(made) else None
        if batch is not None:
            store = self.folder / f"{self.name}.zarr"
            found = _became(store, self.members, _run(store, batch, made[0][1]))
        else:
            found = []
            for k, (number, m) in enumerate(zip(self.members, made, strict=True)):
                store = self.folder / f"{self.name}-{k}.zarr"
                why = m if isinstance(m, str) else _run(store, *m)
                found += _became(store, (number,), why)
        written(self.outcome, json.dumps(found).encode())
        return found


def _made(source: Source, swept: Mapping[str, Any]) -> Any:
    """A problem and what `simulate` is given; or why there is none."""
    try:
        return source.member(swept)
    except InputError as error:
        return str(error)
    except Exception as error:  # whatever a function of the user's raises
        return f"the function of the sweep failed: {type(error).__name__}: {error}"


def _alike(made: list[Any]) -> bool:
    """Whether all are run in the same way."""
    return all(how == made[0][1] for _, how in made)


def _run(store: Path, problem: Problem, how: dict[str, Any]) -> str:
    """From the start, or from where one that was killed stands, to the end; why it failed, if it did."""
    try:
        simulate(problem, out=store, resume=True, progress=False, **how)
    except (StepError, InputError) as error:
        if _is_full(error):
            raise
        return str(error)
    return ""


def _is_full(error: BaseException | None) -> bool:
    """Whether it is the disk, by what an error came from."""
    while error is not None and not (isinstance(error, OSError) and error.errno in NO_ROOM):
        error = error.__cause__
    return error is not None


def _is_run(store: Path) -> bool:
    try:
        return bool(root_of(store)["attributes"].get("format") == GROWN)
    except (OSError, InputError):
        return False


def _became(store: Path, members: tuple[int, ...], why: str) -> list[dict[str, Any]]:
    """By what is written; where nothing is, or no run, none of them was run."""
    if not _is_run(store):
        about = {"store": "", "row": -1, "ok": False, "why": why, "status": "NOT_RUN", "steps": 0}
        return [{"member": number, **about, "end_time": None} for number in members]
    with quietly(), xarray.open_zarr(store, chunks=None, decode_times=False) as data:
        about = data.attrs
        ok = about["status"] in (Status.OK.name, Status.STOPPED.name)
        base = {"store": store.name, "row": -1, "ok": ok, "why": "" if ok else why or about.get("why", "")}
        base |= {"status": about["status"], "steps": int(about["steps"]), "end_time": float(data.t[-1])}
        if "failed_step" not in data:
            return [{"member": number, **base} for number in members]
        t0, step, records = float(about["t0"]), float(about["step"]), []
        for row, (number, failed) in enumerate(zip(members, np.asarray(data.failed_step).tolist(), strict=True)):
            record = {"member": number, **base, "row": row}
            if failed >= 0:
                status = data.status.attrs["flag_meanings"].split()[int(data.status[row])]
                words = f"step {failed}, from t = {t0 + (failed - 1) * step:g}: {Status[status].value}"
                record |= {"ok": False, "why": words, "status": status, "steps": failed - 1}
                record["end_time"] = t0 + (failed - 1) * step
            records.append(record)
        return records
