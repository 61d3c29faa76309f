"""The table of `polhode run` for a batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from polhode.cli.output import print_json
from polhode.cli.systems import SECONDS, dashes, drift
from polhode.cli.tables import say, show_table
from polhode.kept import LOCK, folder_of, members_in
from polhode.results.lock import held
from polhode.results.store import attributes
from polhode.results.style import exactly

_ROWS = 20  # as many are shown; --json and --out have all


def show_family(title: str, family: Any) -> None:
    """A row for each member: its parameters, what was conserved, the first observables at its end."""
    records, runs = family.summary(), list(family.runs.flat)
    names = list(family.coordinates)
    watched = list(family.first.observables)[:3]
    rows = []
    for i in np.unique(np.linspace(0, len(runs) - 1, _ROWS).round().astype(int)):
        s = records[i]
        rows.append(
            (
                *(exactly(s["parameters"][name]) for name in names),
                f"{s['steps']:,}" + ("" if s["ok"] else " (failed)"),
                f"{s['final']['t']:.6g}",
                drift(runs[i], "energy", s["energy"]["drift"]),
                *(f"{s['final']['observables'][name]:.6g}" for name in watched),
            )
        )
    method, step = records[0]["method"], exactly(records[0]["step"])
    headings = (*names, "steps", "t", "energy drift", *watched)
    show_table(headings, rows, title=f"{title}: {len(runs)} runs, {method}, step {step} s")
    more = f"{len(rows)} of {len(runs)} members are shown; --out and --json have all. " if len(rows) < len(runs) else ""
    say(f"{more}Energy drift is the largest relative deviation over the saved samples. {dashes(rows)}{SECONDS}")
    for at, why in list(family.reasons.items())[:5]:
        say(f"Member {list(at)}: {why}")


def family_status(path: Path, as_json: bool) -> bool:
    """Of a batch that is written to `path`, how far it is; whether there is one."""
    if (found := members_in(path)) is None:
        return False
    count, begun = found
    ended = sum(int(attributes(each)["finished"]) for each in begun)
    running = held(folder_of(path) / LOCK)
    if as_json:
        print_json({"path": str(path), "members": count, "begun": len(begun), "ended": ended, "running": running})
        return True
    say(f"{path}: a batch of {count:,} members, {'running' if running else 'not running; the same command goes on'}")
    say(
        f"  {ended:,} have ended, {len(begun) - ended:,} are begun: polhode status {folder_of(path)}/member-NUMBER.zarr"
    )
    return True
