"""Tables and sentences for a terminal of any width: numbers stand whole, only words wrap."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from polhode.cli.streams import printable

_PIPE = 120  # columns where there is no terminal to ask
_READABLE = 20  # columns that a text needs beside others


def width() -> int:
    """COLUMNS if it is set, else the width of the terminal, else of a wide page."""
    return shutil.get_terminal_size((_PIPE, 24)).columns


def say(text: str) -> None:
    """A paragraph, wrapped at words."""
    print(_wrapped(text, width()))


def show_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    texts: Sequence[str] = (),
    left: Sequence[str] = (),
    styles: Sequence[str | None] | None = None,
) -> None:
    """Columns under `headings`. Those named in `texts` may wrap at their words; all others are numbers and names, which
    stand whole, numbers at the right but for the first column and those in `left`. Where there is no room for all
    columns side by side, rows become columns, as many at a time as there is room for, or paragraphs."""
    columns = [
        _Column(
            printable(heading), [printable(row[i]) for row in rows], heading in texts, i > 0 and heading not in left
        )
        for i, heading in enumerate(headings)
    ]
    if title:
        say(printable(title))
    room = width()
    if _framed([c.least for c in columns]) <= room:
        _side_by_side(columns, styles or [None] * len(rows), room)
    elif not texts and _framed([_widest(c.heading for c in columns), max(c.natural for c in columns)]) <= room:
        _turned(columns, room)
    else:
        _paragraphs(columns, room)


@dataclass(frozen=True)
class _Column:
    heading: str
    cells: list[str]
    wraps: bool
    right: bool

    @property
    def natural(self) -> int:
        return _widest([*self.cells])

    @property
    def least(self) -> int:
        """Headings wrap at words; so do texts, down to what can still be read."""
        words = [word for text in self.cells for word in text.split()]
        cells = max(_widest(words), min(self.natural, _READABLE)) if self.wraps else self.natural
        return max(cells, _widest(self.heading.split()))


def _side_by_side(columns: list[_Column], styles: Sequence[str | None], room: int) -> None:
    table = Table(box=box.HEAVY_HEAD)
    whole = _framed([max(c.least, cell_len(c.heading)) for c in columns]) <= room
    for c in columns:
        heading = c.heading if whole else _wrapped(c.heading, max(c.natural, c.least))
        side: Literal["left", "right"] = "right" if c.right and not c.wraps else "left"
        table.add_column(Text(heading), justify=side, no_wrap=not c.wraps, min_width=c.least)
    for cells, style in zip(zip(*(c.cells for c in columns), strict=True), styles, strict=True):
        table.add_row(*(Text(cell) for cell in cells), style=style)
    _print(table, room)


def _turned(columns: list[_Column], room: int) -> None:
    """Headings down the side, and as many rows beside them as there is room for."""
    count, first = len(columns[0].cells), 0
    names = _widest(c.heading for c in columns)
    while first < count:
        last = first + 1
        while last < count and _framed([names, *_widths(columns, first, last + 1)]) <= room:
            last += 1
        table = Table(box=box.HEAVY_HEAD, show_header=False)
        table.add_column(no_wrap=True)
        for _ in range(first, last):
            table.add_column(no_wrap=True, justify="right")
        for c in columns:
            table.add_row(Text(c.heading), *(Text(cell) for cell in c.cells[first:last]))
        _print(table, room)
        first = last


def _paragraphs(columns: list[_Column], room: int) -> None:
    """The first cell of a row as a heading, the others under it."""
    head, *others = columns
    for i, name in enumerate(head.cells):
        print(name)
        facts = [_fact(c.heading, c.cells[i], room - 3) for c in others if not c.wraps and c.cells[i]]
        for text in ("; ".join(facts), *(c.cells[i] for c in others if c.wraps)):
            if text:
                print(textwrap.indent(_wrapped(text, room - 2), "  ").replace("\0", " "))


def _fact(heading: str, cell: str, room: int) -> str:
    """In one piece if there is room, held together by \0."""
    fact = f"{heading}: {cell}" if heading else cell
    return fact.replace(" ", "\0") if cell_len(fact) <= room else fact


def _print(table: Table, room: int) -> None:
    Console(file=sys.stdout, width=room, highlight=False).print(table)


def _widths(columns: list[_Column], first: int, last: int) -> list[int]:
    return [_widest(c.cells[i] for c in columns) for i in range(first, last)]


def _framed(widths: Sequence[int]) -> int:
    """With a space on either side of each column, and lines around."""
    return sum(widths) + 3 * len(widths) + 1


def _widest(texts: Iterable[str]) -> int:
    return max((cell_len(text) for text in texts), default=0)


def _wrapped(text: str, columns: int) -> str:
    return textwrap.fill(text, max(columns, 1), break_long_words=False, break_on_hyphens=False)
