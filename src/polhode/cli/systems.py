"""The tables of `polhode run` for multibody systems."""

from __future__ import annotations

from typing import Any

from polhode.cli.errors import error_cell, error_heading, error_words
from polhode.cli.tables import say, show_table
from polhode.results.style import exactly

NONE = "–"
SECONDS = "Seconds include compilation."


def show_systems(title: str, runs: list[Any]) -> None:
    """How well the motion was kept, and the observables at the end."""
    names = list(runs[0].observables)
    kept, ends = [], []
    for run in runs:
        s = run.summary()
        name = s["method"] + ("" if s["ok"] else " (stopped)")
        kept.append(
            (
                name,
                exactly(s["step"]),
                f"{s['steps']:,}" + _harder(s),
                f"{s['energy']['start']:.10g}",
                drift(run, "energy", s["energy"]["drift"]),
                f"{s['constraints']['slip']:.1e}",
                f"{s['constraints']['gap']:.1e}",
                f"{s['iterations']:.2f}",
                f"{s['seconds']:.3g}",
                *error_cell(runs, run),
            )
        )
        ends.append((name, exactly(s["step"]), *(f"{s['final']['observables'][n]:.9g}" for n in names)))
    headings = ("method", "step", "steps", "energy at start", "energy drift", "slip", "gap", "iterations", "seconds")
    show_table((*headings, *error_heading(runs)), kept, title=title)
    if names:
        show_table(("method", "step", *names), ends, title=f"At t = {runs[0].t[-1]:g} s")
    say(
        "Energy drift is the largest relative deviation over the saved samples; slip and gap are the largest residuals "
        f"of rolling rows (m/s, rad/s) and of joints and contacts (m, rad). {dashes(kept)}{SECONDS}{error_words(runs)}"
    )


def drift(run: Any, name: str, value: float) -> str:
    """How far a quantity went that the motion conserves; how far another goes says nothing of the method."""
    return f"{value:.2e}" if name in run.conserved else NONE


def dashes(rows: list[Any]) -> str:
    """What they mean, where there are any."""
    return "A dash: not conserved, as the load changes it. " if any(NONE in row for row in rows) else ""


def _harder(s: dict[str, Any]) -> str:
    """How many steps needed more than one matrix."""
    said = [f"{s[what]} {name}" for what, name in (("renewals", "whole matrices"), ("halvings", "halved")) if s[what]]
    return f" ({', '.join(said)})" if said else ""
