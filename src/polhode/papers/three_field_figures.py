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
_PEERS = ("Exudyn", "SUNDIALS")


def panels(
    rows: int, columns: int, content: Sequence[Panel], *, log: Sequence[int] = (), equal: Sequence[int] = (),
    limits: Mapping[int, Any] | None = None,
) -> Any:  # fmt: skip
    """A grid of plots under one legend: what is exact broad and pale, peers dashed, a colour for each name."""
    styles = _styles(line[0] for panel in content for line in panel[3])
    with house_style() as Figure:
        figure = Figure(figsize=(5.2 * columns, 3.2 * rows + 0.25 * (1 + len(styles) // 4)))
        shown: dict[str, Any] = {}
        for i, (ax, (title, x, y, lines)) in enumerate(
            zip(figure.subplots(rows, columns).ravel(), content, strict=True)
        ):
            for label, a, b in lines:
                draw = ax.semilogy if i in log else ax.plot
                (shown[label],) = draw(a, np.maximum(np.abs(b), 1e-17) if i in log else b, **styles[label])
            ax.set(title=title, xlabel=x, ylabel=y)
            if i in equal:
                ax.set_aspect("equal", adjustable="datalim")
            if limits and i in limits:
                ax.set(**limits[i])
        if len(shown) > 1:
            figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=min(4, len(shown)))
        return figure


def _styles(labels: Iterable[str]) -> dict[str, dict[str, Any]]:
    styles: dict[str, dict[str, Any]] = {}
    for label in labels:
        if label in styles:
            continue
        if label in _EXACT:
            styles[label] = {"color": "0.8", "linewidth": 4.0, "zorder": 1}
            continue
        taken = sum(name not in _EXACT for name in styles)
        styles[label] = {
            "color": COLOURS[taken % len(COLOURS)],
            "linewidth": 1.6 if label == NEW else 1.1,
            "linestyle": "--" if label.startswith(_PEERS) else "-",
        }
    return styles


def around(values: np.ndarray) -> dict[str, Any]:
    """Limits that show these values, whatever else is drawn."""
    low, high = float(values.min()), float(values.max())
    return {"ylim": (low - 0.15 * (high - low), high + 0.15 * (high - low))}


def figure(number: int | str, title: str, caption: str, drawn: Any) -> PaperFigure:
    name = f"Figure {number}. {title}" if isinstance(number, int) else f"Beyond the paper. {title}"
    return PaperFigure(f"three-field-{number}", name, caption, drawn)
