"""`polhode resume`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from polhode.cli.output import print_json
from polhode.cli.shown import notices, show_runs, tell_events
from polhode.cli.stopping import stopping, tell
from polhode.resuming import resume
from polhode.simulation import Interrupted, StepError


def resume_command(
    path: Path, until: float | None, trust: bool, stop_if: str | None, sentinels: bool | None, as_json: bool
) -> None:
    signals, error = stopping(), None
    signals.runs = []
    try:
        with notices():
            how: dict[str, Any] = {"trust": trust, "stop_if": stop_if, "sentinels": sentinels}
            run = resume(path, until=until, **how, progress=False if as_json else None)
    except StepError as failed:
        run, error = failed.run, str(failed)
    except Interrupted as stop:
        signals.keep()
        run = stop.run
    if as_json:
        print_json([run.summary()])
    else:
        show_runs(path.stem, [run])
        tell_events(run)
        print(f"Written: {path}")
    if error:
        tell(error)
    if signals.came:
        tell(f"interrupted at t = {run.end_time:g}, step {run.steps}; to go on: polhode resume {path}")
    if error or not run.ok:
        sys.exit(1)
