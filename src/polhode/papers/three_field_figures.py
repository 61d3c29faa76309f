"""The figures of the three-field paper, drawn from lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from polhode.papers.base import PaperFigure
from polhode.papers.three_field_runs import NEW, Line
from polhode.results.style import COLOURS, house_style

Panel = tuple[str, str, str, Sequence[Line]]  # title, labels of the axes, lines
_EXACT = ("exact", "reference")
_COLOURS = {  # one for a name in every figure; other names take them in turn, with a legend in their panel
    NEW: COLOURS[0], "as written": COLOURS[1], "MM-DAE": COLOURS[2], "MM-DAE, λ₀ = 0": COLOURS[3],
    "as written, c from the metric": COLOURS[4], "MM-DAE, tolerance 1e-3": COLOURS[5],
    "Exudyn, generalized-α": COLOURS[6], "Exudyn, index 2": COLOURS[7], "SUNDIALS IDA, 1e-6": COLOURS[8],
    "SUNDIALS IDA, 1e-8": "#8B4513",
}  # fmt: skip


def panels(
    rows: int, columns: int, content: Sequence[Panel], *, log: Sequence[int] = (), equal: Sequence[int] = (),
    limits: Mapping[int, Any] | None = None,
) -> Any:  # fmt: skip
    """A grid of plots under one legend: what is exact broad and pale, peers dashed.

    On logarithmic axes the largest absolute value so far, at least 1e-17."""
    styles = _styles(line[0] for panel in content for line in panel[3])
    with house_style() as Figure:
        figure = Figure(figsize=(5.2 * columns, 3.2 * rows + 0.25 * (1 + len(styles) // 4)))
        shown: dict[str, Any] = {}
        for i, (ax, (title, x, y, lines)) in enumerate(
            zip(figure.subplots(rows, columns).ravel(), content, strict=True)
        ):
            own: dict[str, Any] = {}
            for label, a, b in lines:
                draw = ax.semilogy if i in log else ax.plot
                values = np.maximum.accumulate(np.maximum(np.abs(b), 1e-17)) if i in log else b
                common = label in _COLOURS or label in _EXACT
                ((shown if common else own)[label],) = draw(a, values, **styles[label])
            ax.set(title=title, xlabel=x, ylabel=y)
            if i in equal:
                ax.set_aspect("equal", adjustable="datalim")
            if limits and i in limits:
                ax.set(**limits[i])
            if own:
                ax.legend(own.values(), own.keys(), fontsize=8)
        if len(shown) > 1:
            figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=min(4, len(shown)))
        return figure


def _styles(labels: Iterable[str]) -> dict[str, dict[str, Any]]:
    styles: dict[str, dict[str, Any]] = {}
    turns = iter(COLOURS * 2)
    for label in dict.fromkeys(labels):
        if label in _EXACT:
            styles[label] = {"color": "0.8", "linewidth": 4.0, "zorder": 1}
            continue
        styles[label] = {
            "color": _COLOURS[label] if label in _COLOURS else next(turns),
            "linewidth": 1.8 if label == NEW else 1.1,
            "linestyle": "--" if label.startswith(("Exudyn", "SUNDIALS")) else "-",
        }
    return styles


def around(values: np.ndarray) -> dict[str, Any]:
    """Limits that show these values, whatever else is drawn."""
    low, high = float(values.min()), float(values.max())
    return {"ylim": (low - 0.15 * (high - low), high + 0.15 * (high - low))}


def figure(number: int, title: str, caption: str, drawn: Any) -> PaperFigure:
    logs = "On logarithmic axes the largest value so far, zero as 1e-17."
    return PaperFigure(f"three-field-{number}", f"Figure {number}. {title}", f"{caption} {logs}", drawn)
