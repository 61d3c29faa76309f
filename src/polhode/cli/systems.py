"""The tables of `polhode run` for multibody systems."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table


def show_systems(title: str, runs: list[Any], console: Console) -> None:
    """How well the motion was kept, and the observables at the end."""
    kept = Table(title=title, title_justify="left")
    for heading in (
        "method",
        "step",
        "steps",
        "energy at start",
        "energy drift",
        "slip",
        "gap",
        "iterations",
        "seconds",
    ):
        kept.add_column(heading, justify="left" if heading == "method" else "right")
    names = list(runs[0].observables)
    ends = Table(title=f"At t = {runs[0].t[-1]:g} s", title_justify="left")
    for heading in ("method", "step", *names):
        ends.add_column(heading, justify="left" if heading == "method" else "right")
    for run in runs:
        s = run.summary()
        name = s["method"] + ("" if s["ok"] else " (stopped)")
        kept.add_row(
            name,
            f"{s['step']:g}",
            f"{s['steps']:,}" + (f" ({s['halvings']} halved)" if s["halvings"] else ""),
            f"{s['energy']['start']:.10g}",
            f"{s['energy']['drift']:.2e}",
            f"{s['constraints']['slip']:.1e}",
            f"{s['constraints']['gap']:.1e}",
            f"{s['iterations']:.2f}",
            f"{s['seconds']:.3g}",
        )
        ends.add_row(name, f"{s['step']:g}", *(f"{s['final']['observables'][n]:.9g}" for n in names))
    console.print(kept)
    if names:
        console.print(ends)
    print(
        "Energy drift is the largest relative deviation over the saved samples; slip and gap are the largest\n"
        "residuals of rolling rows (m/s, rad/s) and of joints and contacts (m, rad). Seconds include compilation."
    )
