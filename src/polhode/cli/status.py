"""`polhode status`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from polhode.cli.families import family_status
from polhode.cli.output import print_json
from polhode.cli.sweep import is_sweep, sweep_status
from polhode.cli.tables import say
from polhode.model import InputError
from polhode.results.clock import read as clock
from polhode.results.dataset import GROWN
from polhode.results.grown import grown
from polhode.results.lock import LOCK, held
from polhode.results.metadata import HIDDEN
from polhode.results.store import attributes
from polhode.results.tree import Tree


def status_command(path: Path, as_json: bool) -> None:
    if is_sweep(path):
        sweep_status(path, as_json)
        return
    if family_status(path, as_json):
        return
    found = status_of(path)
    if as_json:
        print_json(found)
        return
    done, total = found["steps"], found["total"]
    say(f"{path}: {found['method']}, step {found['step']:g} s, {found['state']}")
    part = f"{100 * done / max(total, 1):.3g} %"
    say(f"  {done:,} of {total:,} steps ({part}), t = {found['t']:.9g}, {found['samples']:,} samples")
    left = "" if found["left"] is None else f", {_duration(found['left'])} left"
    say(f"  {found['rate']:,.3g} steps/s, {_duration(found['seconds'])} so far{left}")
    say(f"  energy drift {found['energy_drift']:.2e}, {found['iterations']:.3g} iterations a step")
    if found["why"]:
        say(f"  {found['why']}")
    if found["resumable"]:
        say(f"  to go on: polhode resume {path}")


def status_of(path: Path) -> dict[str, Any]:
    """Of a run that is being written, or was, as plain data."""
    about = attributes(path)
    if about.get("format") != GROWN:
        raise InputError(f"{str(path)!r} was saved whole when its run had ended; there is nothing to watch")
    hidden = path / HIDDEN
    plan, _ = grown(about, path)
    ticks, alive = clock(hidden), held(hidden / LOCK)
    steps, total, rate = int(about["steps"]), plan.total, float(ticks.get("rate", 0.0))
    who = f"process {ticks.get('process')} on {ticks.get('host')}"
    ago = max(0.0, time.time() - float(ticks.get("written", time.time())))
    if about["finished"]:
        state = "finished" if about["status"] in ("OK", "STOPPED") else "failed"
        state = "stopped as it was asked to" if about["status"] == "STOPPED" else state
    elif alive:
        state = f"running ({who}; last commit {_duration(ago)} ago)"
    else:
        state = f"not running: {who} is gone, the last commit was {_duration(ago)} ago"
    running = alive and not about["finished"]
    return {
        "path": str(path), "state": state, "running": running, "finished": bool(about["finished"]),
        "resumable": not about["finished"] and not alive, "status": about["status"], "method": about["method"],
        "step": plan.step, "steps": steps, "total": total, "t": about["t0"] + steps * plan.step,
        "samples": Tree(path).samples, "rate": rate, "seconds": float(ticks.get("seconds", 0.0)),
        "left": (total - steps) / rate if running and rate else None, "iterations": about["iterations"],
        "energy_drift": float(about.get("energy_drift", 0.0)), "why": about.get("why", ""),
    }  # fmt: skip


def _duration(seconds: float) -> str:
    for unit, size in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"
