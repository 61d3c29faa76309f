"""The command `polhode sweep`, and `polhode status` of what it runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from polhode.cli.output import print_json
from polhode.cli.settings import by_name
from polhode.cli.shown import notices
from polhode.cli.stopping import stopping, tell
from polhode.cli.tables import say, show_table
from polhode.kept import LOCK, folder_of
from polhode.model import InputError
from polhode.model.checks import number, shown
from polhode.results.lock import held
from polhode.results.style import exactly
from polhode.sweeps import sweep
from polhode.sweeps.said import PLAN, read_outcome, read_plan

_ROWS = 20


def sweep_command(
    source: str, over: list[str], design: Any, members: Any, seed: Any, how: dict[str, Any], as_json: bool
) -> None:
    signals = stopping()
    signals.runs = []
    given = over_of(over) or None
    try:
        with notices():
            asked = {"design": design, "members": members, "seed": seed, **how}
            made = sweep(source, given, **asked, progress=False if as_json else None)
    except KeyboardInterrupt:
        tell("interrupted; members that have ended are kept: the same command goes on")
        sys.exit(130)
    if as_json:
        print_json({"path": str(made.path), "members": made.summary()})
    else:
        _show(source, made)
    if not made.ok:
        sys.exit(1)


def _show(source: str, made: Any) -> None:
    records, names = made.summary(), list(made.design.values)
    rows = []
    for i in np.unique(np.linspace(0, len(records) - 1, _ROWS).round().astype(int)):
        r = records[i]
        own = (
            v if isinstance(v, str) else exactly(v) if isinstance(v, float) else str(v)
            for v in r["parameters"].values()
        )
        end = "" if r["end_time"] is None else f"{r['end_time']:.6g}"
        rows.append((str(r["member"]), *own, f"{r['steps']:,}" + ("" if r["ok"] else " (failed)"), end))
    show_table(("member", *names, "steps", "t"), rows, title=f"{source}: {len(records)} members")
    if len(rows) < len(records):
        say(f"{len(rows)} of {len(records)} members are shown; --json and {made.path} have all.")
    for i, why in list(made.failed.items())[:5]:
        say(f"Member {i}: {why}")
    if made.failed:
        say(f"{len(made.failed)} members failed; --rerun runs them once more.")
    say(f"Written: {made.path}")


def over_of(texts: list[str]) -> dict[str, Any]:
    """`--over NAME=VALUES`."""
    found: dict[str, Any] = {}
    for name, value in by_name("--over", "NAME=VALUES, as in speed=1,2,3 or speed=0:10:21", texts).items():
        words = f"--over {name}"
        parts = value.split(":")
        if name == "method":
            found[name] = [part.strip() for part in value.split(",")]
        elif len(parts) == 1:
            found[name] = [number(words, part) for part in value.split(",")]
        else:
            found[name] = _range(words, parts, value)
    return found


def _range(words: str, parts: list[str], text: str) -> dict[str, Any]:
    count = parts[2].strip() if len(parts) > 2 else "2"
    if len(parts) > 3 or not (count.isascii() and count.isdigit() and len(count) < 9):
        raise InputError(f"{words}: a range is FROM:TO:COUNT, or FROM:TO to draw from; got {shown(text)}")
    ends = {"from": number(words, parts[0]), "to": number(words, parts[1])}
    return ends | ({"count": int(count)} if len(parts) == 3 else {})


def is_sweep(path: Path) -> bool:
    """Whether a sweep to this path is under way, or was cut short."""
    return os.path.isfile(folder_of(path) / PLAN)


def sweep_status(path: Path, as_json: bool) -> None:
    folder = folder_of(path)
    if (known := read_plan(folder)) is None:
        raise InputError(f"there is no sweep at {str(path)!r} any more")
    groups, count = known["groups"], known["count"]
    found = [read_outcome(folder / f"{name}.json", group) for name, group in groups.items()]
    ended = {o["member"]: o["ok"] for outcome in found for o in outcome or ()}
    failed, running = sum(not ok for ok in ended.values()), held(folder / LOCK)
    state = "running" if running else "ended" if len(ended) == count else "not running; the same command goes on"
    if as_json:
        print_json({"path": str(path), "members": count, "ended": len(ended), "failed": failed, "running": running})
        return
    say(f"{path}: a sweep of {count:,} members, {state}")
    say(f"  {len(ended):,} have ended ({100 * len(ended) / count:.3g} %), {failed:,} of them failed")
