"""The numbers behind a figure, as they are drawn: one row a point."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np

MOST = 10_000  # points of a figure; of more, as many of each line, evenly


def data_of(figure: Any) -> str:
    """CSV: the panel, the line, x, y, and z where a panel has one."""
    lines = [(ax, line) for ax in figure.axes for line in ax.lines]
    solid = any(hasattr(line, "get_data_3d") for _, line in lines)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("panel", "line", "x", "y", *(("z",) if solid else ())))
    counts: dict[Any, int] = {}
    for ax, line in lines:
        counts[ax] = counts.get(ax, 0) + 1
        label = str(line.get_label())
        panel = ax.get_title(loc="left") or ax.get_title() or f"panel {figure.axes.index(ax) + 1}"
        named = panel, f"line {counts[ax]}" if label.startswith("_") else label
        values = line.get_data_3d() if hasattr(line, "get_data_3d") else line.get_data()
        points = np.stack([np.asarray(v, dtype=float) for v in np.broadcast_arrays(*values)], axis=1)
        kept = np.unique(np.linspace(0, len(points) - 1, min(len(points), _most(figure))).round().astype(int))
        flat = ("",) if solid and len(values) == 2 else ()
        rows.writerows((*named, *(format(x, ".12g") for x in point), *flat) for point in points[kept])
    return text.getvalue()


def thinned(figure: Any) -> bool:
    """Whether a line has more points than there are of it in the file."""
    return any(len(line.get_xdata()) > _most(figure) for ax in figure.axes for line in ax.lines)


def _most(figure: Any) -> int:
    return MOST // max(1, sum(len(ax.lines) for ax in figure.axes))
