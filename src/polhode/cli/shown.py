"""The table of `polhode run`, and notices, as they are shown."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from polhode.cli.errors import error_cell, error_heading, error_words
from polhode.cli.stopping import tell
from polhode.cli.systems import SECONDS, dashes, drift, show_systems
from polhode.cli.tables import say, show_table
from polhode.results.run import Run
from polhode.results.style import exactly

_EVENTS = 10  # that are told


def show_runs(name: str, runs: list[Any]) -> None:
    title = f"{name}: t = 0 to {runs[0].end_sample:g} s"
    if "gap" in runs[0]:
        show_systems(title, runs)
        return
    twistless = "twist_rate" in runs[0]
    kept = ("Π1, Π2 drift", "|w∥| at most") if twistless else ("momentum drift", "vertical drift")
    rows = []
    for run in runs:
        s = run.summary()
        rows.append(
            (
                s["method"] + ("" if s["ok"] else " (stopped)"),
                exactly(s["step"]),
                f"{s['steps']:,}",
                f"{s['energy']['start']:.10g}",
                drift(run, "energy", s["energy"]["drift"]),
                *_kept(run, s),
                f"{s['iterations']:.2f}",
                f"{s['seconds']:.3g}",
                *error_cell(runs, run),
            )
        )
    headings = ("method", "step", "steps", "energy at start", "energy drift", *kept, "iterations", "seconds")
    show_table((*headings, *error_heading(runs)), rows, title=title)
    of_what = "of the energy, and of Π1 and Π2 as a vector"
    if not twistless:
        of_what = "of the energy, of the spatial momentum as a vector and of its vertical component"
    drifts = f"Drifts are the largest relative deviation over the saved samples: {of_what}. "
    say(f"{drifts}{dashes(rows)}{SECONDS}{error_words(runs)}")


def tell_events(run: Run) -> None:
    """The first few, and how many there were."""
    for event in run.events[:_EVENTS]:
        say(f"{run.method.name}: {event.name} at t = {event.t:.12g}")
    if len(run.events) > _EVENTS:
        say(f"{run.method.name}: {len(run.events)} events in all, the last at t = {run.events[-1].t:.12g}")


def _kept(run: Run, s: dict[str, Any]) -> tuple[str, str]:
    if "twist_rate" in run:
        turning = f"{np.abs(run['twist_rate']).max():.2e}"
        return drift(run, "nonholonomic_momentum", s["nonholonomic_momentum"]["drift"]), turning
    vertical = run.drift("vertical_momentum")
    whole = drift(run, "spatial_momentum", s["spatial_momentum"]["drift"])
    return whole, drift(run, "vertical_momentum", vertical)


@contextmanager
def notices() -> Iterator[None]:
    """Warnings as sentences on stderr."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = _show_notice
        yield


def _show_notice(message: Any, *_: Any, **__: Any) -> None:
    tell(message)
