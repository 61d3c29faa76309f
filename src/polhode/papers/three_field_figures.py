"""The figures of the three-field paper, drawn from runs and references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from polhode.papers.base import PaperFigure
from polhode.results.style import COLOURS, house_style
from polhode.results.system_run import SystemRun

Line = tuple[str, np.ndarray, np.ndarray]  # label, x, y


def panels(
    rows: int, columns: int, content: Sequence[tuple[str, str, str, Sequence[Line]]], *, log: Sequence[int] = (),
    equal: Sequence[int] = (), limits: Mapping[int, Any] | None = None,
) -> Any:  # fmt: skip
    """A grid of plots: title, labels and lines of each. The first line of a panel is drawn broad and pale."""
    with house_style() as Figure:
        figure = Figure(figsize=(5.2 * columns, 3.4 * rows))
        for i, (ax, (title, x, y, lines)) in enumerate(
            zip(figure.subplots(rows, columns).ravel(), content, strict=True)
        ):
            for j, (label, a, b) in enumerate(lines):
                style: dict[str, Any] = {"color": COLOURS[j % len(COLOURS)], "linewidth": 1.0, "label": label}
                if j == 0 and len(lines) > 1:
                    style |= {"color": "0.75", "linewidth": 3.0}
                (ax.semilogy if i in log else ax.plot)(a, np.maximum(np.abs(b), 1e-17) if i in log else b, **style)
            ax.set(title=title, xlabel=x, ylabel=y)
            if i in equal:
                ax.set_aspect("equal", adjustable="datalim")
            if limits and i in limits:
                ax.set(**limits[i])
            if len(lines) > 1:
                ax.legend(fontsize=7)
        return figure


def figure(number: int | str, title: str, caption: str, drawn: Any) -> PaperFigure:
    name = f"Figure {number}. {title}" if isinstance(number, int) else f"Beyond the paper. {title}"
    return PaperFigure(f"three-field-{number}", name, caption, drawn)


def of(run: SystemRun, name: str, label: str) -> Line:
    return label, run.t, run.observables[name].values


def energy_of(run: SystemRun, label: str) -> Line:
    return label, run.t, run.energy - run.energy[0]


def contact_of(run: SystemRun, label: str) -> Line:
    return label, run.traces["contact"][:, 0], run.traces["contact"][:, 1]
