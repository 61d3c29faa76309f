"""How well constraints hold, over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.model.checks import InputError
from polhode.results.panels import labelled, line
from polhode.results.registry import plot, where
from polhode.results.sizes import above_round_off


@plot("slip", panels=where(lambda d: bool(d.slip.any())), there=lambda d: bool(d.slip.any()))
def slip(dataset: Any, ax: Any) -> None:
    """The largest residual of the rows that roll or otherwise bind velocities."""
    _residual(dataset, "slip", ax)


@plot("gap", panels=where(lambda d: bool(d.gap.any())), there=lambda d: bool(d.gap.any()))
def gap(dataset: Any, ax: Any) -> None:
    """The largest residual of joints and contacts: how far they are apart."""
    _residual(dataset, "gap", ax)


def _residual(dataset: Any, name: str, ax: Any) -> None:
    if not dataset[name].any():
        raise InputError(f"the {name} of this run is zero throughout: there is nothing to draw")
    draw_residual(ax, name, [(dataset.t, above_round_off(dataset, name))])


def residuals(slip: Any, gap: Any) -> tuple[str, ...]:
    """Those of the two that are not zero throughout: a system without rolling rows has no slip."""
    return tuple(name for name, values in (("slip", slip), ("gap", gap)) if np.any(values))


def draw_residual(ax: Any, name: str, runs: Sequence[tuple[Any, Any]]) -> None:
    """Dots for each (times, values above round-off): residuals at round-off are noise, not lines."""
    for k, (t, values) in enumerate(runs):
        line(ax, t, values, k, marker=".", markersize=4, linestyle="", markeredgewidth=0)
    ax.set_yscale("log")
    what, unit = {"slip": ("Largest slip", "m/s or rad/s"), "gap": ("Largest gap", "m or rad")}[name]
    ax.set(title=what, xlabel="t (s)", ylabel=labelled(name, unit))
