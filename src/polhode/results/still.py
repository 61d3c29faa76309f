"""The bodies of a run at one time, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection

from polhode.model.checks import InputError, shown
from polhode.results.frames import Stage
from polhode.results.panels import written_to
from polhode.results.scene import Scene
from polhode.results.style import house_style, print_width

_WIDE, _SHAPE = 6.5, 3 / 4  # inches; height over width


def still(scene: Scene, at: float | None, path: str | Path | None) -> Any:
    """A figure, of the middle of the motion unless a time is said; bodies are pixels in an .svg or .pdf too, being
    many thousand triangles."""
    first, last = float(scene.times[0]), float(scene.times[-1])
    t = float(scene.times[len(scene.times) // 2]) if at is None else _time(at, first, last)
    with house_style() as Figure:
        wide = print_width() or _WIDE
        figure = Figure(figsize=(wide, _SHAPE * wide), layout="none", facecolor="none")
        figure.set_label(f"{scene.title}, at t = {t:.4g} s")
        ax = figure.add_axes((0, 0, 1, 1))
        Stage(scene).draw(ax, t)
        ax.set(xlim=(-1 / _SHAPE, 1 / _SHAPE))
        for solid in ax.findobj(PolyCollection):
            solid.set_rasterized(True)
        if path is not None:
            written_to(figure, path)
        return figure


def _time(at: Any, first: float, last: float) -> float:
    if not isinstance(at, int | float | np.number) or isinstance(at, bool) or not first <= at <= last:
        raise InputError(f"a still is of a time (s) from {first:g} to {last:g}, those of the run; got {shown(at)}")
    return float(at)
