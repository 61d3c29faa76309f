"""How polhode's figures look, in one place."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from polhode.model.checks import InputError, shown
from polhode.model.html import short

# Okabe & Ito's palette: told apart by readers with any colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6BB1", "#7F7F7F")
MARKERS = "osD^vPX*h"

_STYLE: Any = {
    "figure.constrained_layout.use": True,
    "figure.dpi": 110,
    "savefig.dpi": 160,
    "font.size": 10,
    "font.family": ["DejaVu Sans", "STIXGeneral"],  # the second has what the first has not, such as ⟂
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "lines.linewidth": 1.4,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "axes.formatter.useoffset": False,
}

# Of a figure for a journal, inches: 88 and 183 mm.
WIDTHS = {"column": 3.46, "page": 7.2}
_PRINT: Any = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "figure.titlesize": 8,
    "axes.linewidth": 0.6,
    "grid.linewidth": 0.4,
    "lines.linewidth": 1.0,
    "lines.markersize": 4,
    "savefig.dpi": 600,
    "pdf.fonttype": 42,  # letters that can be searched and edited
}
_width: ContextVar[float | None] = ContextVar("width", default=None)


@contextmanager
def for_print(width: str = "column") -> Iterator[None]:
    """Figures made inside are as wide as a "column" (88 mm) or a "page" (183 mm) of a journal, to be put there as they
    are: lettering of 7 and 8 points, lines told apart by their dashes (more than a few members of a batch by shades),
    so that they read in grey too. Save them as `.pdf` or `.svg`:
    `with for_print("column"): run.plot.energy(path="energy.pdf")`."""
    if width not in WIDTHS:
        raise InputError(f"a width is {' or '.join(map(repr, WIDTHS))}; got {shown(width)}")
    before = _width.set(WIDTHS[width])
    try:
        yield
    finally:
        _width.reset(before)


def print_width() -> float | None:
    """Of figures made now, inches; None where they are for a screen."""
    return _width.get()


def plain(text: str, most: int = 60) -> str:
    """A name that a user gave, as matplotlib draws it letter by letter: no formula between dollars, no line ends; of a
    long one the beginning and the end."""
    text = "".join(c if c.isprintable() else " " for c in str(text))
    return short(text, most).replace("$", r"\$")


@contextmanager
def house_style() -> Iterator[Any]:
    """matplotlib.pyplot-free plotting: yields the `Figure` class with our settings on."""
    import matplotlib
    from cycler import cycler
    from matplotlib.figure import Figure

    more = {} if print_width() is None else _PRINT
    _shown_in_notebooks(Figure)
    with matplotlib.rc_context({**_STYLE, **more, "axes.prop_cycle": cycler(color=COLOURS)}):
        yield Figure


def _shown_in_notebooks(figures: Any) -> None:
    """IPython shows figures that come out of a cell as pictures only after `%matplotlib inline`; here without."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython else None
    if getattr(shell, "kernel", None) is None:
        return
    try:
        shell.display_formatter.formatters["image/png"].lookup_by_type(figures)
    except KeyError:
        from IPython.core.pylabtools import select_figure_formats

        select_figure_formats(shell, {"png"})


def exactly(number: float) -> str:
    """In a few digits, or in all of them where others would print alike."""
    short = f"{number:g}"
    return short if float(short) == number else repr(float(number))
