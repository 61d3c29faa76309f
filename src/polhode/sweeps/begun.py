"""What a sweep is, in the folder of its members: told from other sweeps, and from what others put where it gathers."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any
from uuid import uuid4

from polhode.model.checks import InputError
from polhode.model.registry import method_of
from polhode.results.durable import written
from polhode.results.made_of import differs, made_of
from polhode.results.metadata import root_of
from polhode.sweeps.design import Design
from polhode.sweeps.members import Source
from polhode.sweeps.said import PLAN, read_plan

_LARGEST, _EACH = 256, 4  # members of a group; groups for every worker, if there are enough members


def planned(source: Source, layout: Design) -> dict[str, Any]:
    """What tells a sweep from another."""
    how = {key: _plain(value) for key, value in source.how.items() if value is not None}
    said = source.content if source.content is not None else f"the function {source.name}"
    methods = {*layout.values.get("method", ()), source.how.get("method")} - {None}
    computing = made_of(source.make, [method_of(name) for name in sorted(methods)])
    plan = {"of": said, "made_of": computing, "how": how, "dims": list(layout.dims), "over": layout.values}
    return dict(json.loads(json.dumps(plan)))


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float) else [float(x) for x in value]


def begun(folder: Path, plan: dict[str, Any], path: Path, count: int, workers: int) -> dict[str, Any]:
    """Groups of a sweep that goes on, or of a new one; an InputError if another one is there."""
    known = read_plan(folder)
    if known is not None:
        there = known["plan"]
        others = [key for key in plan if key != "made_of" and there.get(key) != plan[key]]
        if not others and differs(there.get("made_of"), plan["made_of"]):
            others = ["what its function or method computes: code, defaults, closure, or what they read"]
        if others or known["count"] != count:
            raise InputError(
                f"{str(folder)!r} holds another sweep (it differs in: {', '.join(others)}). Give another --out, or "
                "--force to begin anew"
            )
        return known
    size = max(1, min(_LARGEST, -(-count // (_EACH * workers))))
    groups = {
        f"group-{k}": list(range(first, min(first + size, count))) for k, first in enumerate(range(0, count, size))
    }
    about = {"mark": uuid4().hex, "replaces": _digest(path)}
    known = {"plan": plan, "count": count, "groups": groups, **about}
    written(folder / PLAN, json.dumps(known).encode())
    return known


def check_own(path: Path, known: dict[str, Any]) -> None:
    """An InputError where something is there that is neither the sweep's own nor what it was told to replace."""
    found = _root(path)
    own = found is not None and found["attributes"].get("sweep") == known["mark"] != ""
    if os.path.lexists(path) and not own and not known["replaces"] == _digest(path) != "":
        raise InputError(
            f"{str(path)!r} was put there by something else since this sweep was begun, so it is not replaced: move it "
            "away, and the same command gathers the members; or --force to begin anew"
        )


def _digest(path: Path) -> str:
    """Of what a folder says of itself; nothing where it says nothing."""
    found = _root(path)
    return "" if found is None else hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def _root(path: Path) -> dict[str, Any] | None:
    try:
        return dict(root_of(path))
    except (OSError, InputError):
        return None
