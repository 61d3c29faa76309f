"""Pages of panels, and what every panel shares: names drawn letter by letter, legends beside the axes, lines of one
sample that can be seen."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np

from polhode.model.checks import InputError, ending
from polhode.model.html import short
from polhode.results.sizes import starts_with_something
from polhode.results.store import check_folder
from polhode.results.style import COLOURS, house_style, plain, print_width

DASHES = ("-", "--", ":", "-.")
_LISTED = 12  # names in a legend; the others are counted
_LETTERS = 24  # of each
_ROOM = 0.8  # of the width of a panel: what is above its axes, for its title and legend

Panel = tuple[Callable[..., Any], str | None]  # draws on `ax`, of this projection


def written_to(figure: Any, path: str | Path) -> None:
    """A picture, by the ending of its name; an InputError where that cannot be."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"a picture is written to a path, 'energy.png' say; got {path!r}")
    path = Path(path)
    known = sorted(f".{kind}" for kind in figure.canvas.get_supported_filetypes())
    if ending(path) not in known:
        more = "; animate(path) writes that" if ending(path) in (".html", ".mp4", ".glb") else ""
        raise InputError(f"a picture is written to a name that ends in {', '.join(known)}; got {str(path)!r}{more}")
    check_folder(path)
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder; give the name of a picture")
    figure.savefig(path)


class _Settling:
    """A layout of its figure that is done twice the first time: which ticks there are hangs on the size of the axes,
    and what room they need on which ticks there are, so that the first layout alone clips labels."""

    def __init__(self, execute: Callable[[Any], Any]) -> None:
        self._execute, self._settled = execute, False

    def __call__(self, figure: Any) -> Any:
        if not self._settled:
            self._settled = True
            self._execute(figure)
        return self._execute(figure)


def settled(figure: Any) -> None:
    """To be laid out twice when it is drawn first. A figure that nobody looks at is never laid out."""
    engine = figure.get_layout_engine()
    engine.execute = _Settling(engine.execute)


class drawing_on:  # noqa: N801 (used like a function)
    """Draw on the axes given, or on a figure of its own, saved if a path is given."""

    def __init__(self, ax: Any, path: str | Path | None, projection: str | None = None) -> None:
        self.ax, self.path, self.projection = ax, path, projection
        self.own = ax is None
        self.style = house_style()

    def __enter__(self) -> Any:
        Figure = self.style.__enter__()
        if self.own:
            wide = print_width() or 6.5
            self.ax = Figure(figsize=(wide, 0.65 * wide)).add_subplot(projection=self.projection)
        return self.ax

    def __exit__(self, *error: Any) -> None:
        if error[0] is None:
            if self.own:
                settled(self.ax.figure)
            if self.path is not None:
                written_to(self.ax.figure, self.path)
        self.style.__exit__(*error)


def page(panels: Sequence[Panel], title: str, path: str | Path | None, names: Sequence[str] = ()) -> Any:
    """All panels on one figure, rows filled evenly; `names` of the lines that every panel shows, below them."""
    columns = {1: 1, 2: 2, 3: 3, 4: 2}.get(len(panels), 3)
    wide = print_width()
    if wide is not None:
        columns = min(columns, 1 if wide < 5 else 2)
    rows = math.ceil(len(panels) / columns)
    each = [len(panels) // rows + (i < len(panels) % rows) for i in range(rows)]
    with house_style() as Figure:
        width = wide or max(6.5, 5.2 * columns)
        figure = Figure(figsize=(width, (0.5 + 3.8 * rows) if wide is None else 0.3 + 0.75 * width / columns * rows))
        # one grid where it comes out even, so that axes stand in line; else each row is laid out for itself
        rows_of = [figure] if len(set(each)) == 1 else figure.subfigures(rows)
        grids = [part.add_gridspec(rows // len(rows_of), count) for part, count in zip(rows_of, each, strict=False)]
        cells = [(grid.figure, cell) for grid in grids for cell in grid]
        for (draw, projection), (part, cell) in zip(panels, cells, strict=True):
            draw(ax=part.add_subplot(cell, projection=projection))
        if names:
            _listed(figure, figure.axes[0].lines, names, loc="outside lower center", ncols=min(columns + 1, len(names)))
        figure.suptitle(_title(title, width), x=0.01, ha="left")
        settled(figure)
        if path is not None:
            written_to(figure, path)
        return figure


def _title(text: str, width: float) -> str:
    """Of a page so wide (inches); in print, where a page is narrow, on two lines before it is shortened."""
    if print_width() is None:
        return plain(text, int(9 * width))
    letters = int(13 * width)
    return "\n".join(plain(part) for part in wrap(short(text, 2 * letters), letters, max_lines=2, placeholder="…"))


def line(ax: Any, x: Any, y: Any, number: int = 0, **style: Any) -> Any:
    """The line of this number, in the colours and dashes of the house; of one sample, a dot. In print each has dashes
    of its own, to be told apart in grey."""
    dashes = number // len(COLOURS) if print_width() is None else number
    look = {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": DASHES[dashes % len(DASHES)],
        "marker": "o" if len(x) == 1 else "",
        **style,
    }
    return ax.plot(np.asarray(x), np.asarray(y), **look)[0]


def run_line(ax: Any, x: Any, y: Any, number: int, **style: Any) -> Any:
    """The line of one of several runs, which often lie on each other: dashes let the one below be seen."""
    return line(ax, x, y, number, **{"linestyle": DASHES[number % len(DASHES)], **style})


def legend(ax: Any, lines: Sequence[Any], names: Sequence[str]) -> None:
    """Where it covers no line: beside the title if there is room, else to the right of the axes, or in print, where
    they are narrow, below them."""
    letter = 0.075 if print_width() is None else 0.058  # inches
    width = 1.2 * letter * len(ax.get_title(loc="left")) + sum(
        5.6 * letter + letter * min(len(name), _LETTERS) for name in names
    )
    cell = ax.get_subplotspec()
    panel = ax.figure.bbox.width / ax.figure.dpi / (cell.get_gridspec().ncols if cell else 1)
    if width < _ROOM * panel:
        beside = {"loc": "lower right", "ncols": len(names), "columnspacing": 0.8, "handlelength": 1.2}
        _listed(ax, lines, names, bbox_to_anchor=(1.0, 1.0), borderaxespad=0.1, **beside)
    elif print_width() is None:
        _listed(ax, lines, names, bbox_to_anchor=(1.0, 1.0), loc="upper left")
    else:
        fit = max(1, int(0.9 * panel / (6.5 * letter + letter * max(min(len(name), _LETTERS) for name in names))))
        below = {"loc": "upper center", "ncols": min(fit, len(names)), "columnspacing": 0.8, "handlelength": 1.6}
        _listed(ax, lines, names, bbox_to_anchor=(0.45, -0.24), **below)


def _listed(on: Any, lines: Sequence[Any], names: Sequence[str], **where: Any) -> None:
    """Of many lines the first are named and the rest counted."""
    listed = _LISTED if print_width() is None else _LISTED // 2
    if len(names) > listed:
        more = len(names) - listed + 1
        lines, names = lines[: listed - 1], names[: listed - 1]
        lines, names = [*lines, lines[0].__class__([], [], linestyle="")], [*names, f"and {more} more"]
    made = on.legend(list(lines)[: len(names)], ["x"] * len(names), **where)
    # set afterwards: matplotlib leaves out labels that begin with an underscore
    for text, name in zip(made.get_texts(), names, strict=True):
        text.set_text(plain(name, _LETTERS))


def labelled(name: str, unit: str) -> str:
    """A name with its unit, for an axis."""
    return f"{plain(name, 28)} ({plain(unit, 16) or 'unit not given'})"


def change(values: Any, parts: Any, name: str, unit: str) -> tuple[np.ndarray, str]:
    """What is drawn of a quantity that the motion conserves, and the label: its change relative to the start, or, where
    it starts with next to nothing against the size of its `parts`, its change."""
    values = np.asarray(values)
    start, size = abs(float(values[0])), float(np.max(np.abs(parts)))
    if starts_with_something(start, size):
        return (values - values[0]) / start, f"({name} − {name}₀) / |{name}₀| (1)"
    return values - values[0], f"{name} − {name}₀ ({unit})"


def draw_energy(ax: Any, t: Any, total: Any, kinetic: Any, potential: Any, conserved: bool) -> None:
    """The relative change of an energy that is conserved; of one that is not, itself and its parts."""
    if conserved:
        values, label = change(total, [kinetic, potential], "E", "J")
        line(ax, t, values)
        ax.set(title="Energy, change since the start", xlabel="t (s)", ylabel=label)
        return
    parts = {"E": total} | ({"T": kinetic, "U": potential} if np.any(potential) else {})
    lines = [line(ax, t, values, k) for k, values in enumerate(parts.values())]
    name = "E = T + U" if len(lines) > 1 else "E"
    ax.set(title="Energy, changed by the load", xlabel="t (s)", ylabel=labelled(name, "J"))
    if len(lines) > 1:
        legend(ax, lines, list(parts))
