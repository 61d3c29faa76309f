"""What a paper's recomputation is made of: parts that are run, and the checks and figures that come of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from polhode.model.checks import InputError, unknown
from polhode.papers.items import Item, items_in


@dataclass(frozen=True)
class Check:
    """A statement of the paper beside what was computed.

    `expected` says whether the two should agree: False for a statement that the errata
    show to be wrong, where a disagreement is the right outcome and is shown as such.
    """

    where: str  # section, table or figure
    claim: str
    printed: str
    computed: str
    agrees: bool
    expected: bool = True
    digits: int | None = None  # agreeing ones, where a number was printed
    note: str = ""

    @property
    def ok(self) -> bool:
        """Whether it came out as it should, an expected disagreement too."""
        return self.agrees == self.expected

    @property
    def verdict(self) -> str:
        """In words."""
        if self.agrees:
            return "agrees" if self.expected else "AGREES, though it should not"
        return "DISAGREES" if self.expected else "differs, see note"


@dataclass(frozen=True)
class PaperFigure:
    """A figure redrawn with our data."""

    id: str
    title: str
    caption: str
    figure: Any  # matplotlib Figure


@dataclass(frozen=True)
class Result:
    """What a paper's recomputation gave."""

    checks: list[Check] = field(default_factory=list)
    figures: list[PaperFigure] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether all checks came out as they should."""
        return all(check.ok for check in self.checks)


Say = Callable[[str], None]  # told what is being done now


@dataclass(frozen=True)
class Part:
    """What is run together: `items` of the paper come of it, by id, besides what has no number there."""

    name: str
    compute: Callable[[Say], Result]
    items: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paper:
    """A paper by its id. `items` are all tables, figures and examples that have a number in it; `link` is where to
    find it."""

    id: str
    title: str
    parts: tuple[Part, ...]
    items: tuple[Item, ...] = ()
    link: str = ""

    def compute(self, say: Say) -> Result:
        """All of it."""
        results = [part.compute(say) for part in self.parts]
        return Result([c for r in results for c in r.checks], [f for r in results for f in r.figures])

    def item(self, name: str) -> Item:
        """By its id; an InputError for one that is unknown, or that there is nothing to recompute of."""
        known = {item.id: item for item in self.items}
        if name not in known:
            raise unknown(f"item of {self.id!r}", name, known)
        if known[name].sketch:
            raise InputError(f"{known[name].label} of {self.id!r} is not recomputed: {known[name].sketch}")
        return known[name]

    def alone(self, name: str) -> Paper:
        """The parts that one item comes of, and no other item."""
        item = self.item(name)
        wanted = {item.id, *item.shown}
        parts = tuple(part for part in self.parts if wanted & set(part.items))
        return replace(self, parts=parts, items=tuple(other for other in self.items if other.id in wanted))

    def belonging(self, result: Result) -> Result:
        """Of a result, what belongs to the items of this paper."""
        ids = {item.id for item in self.items}
        return Result(
            [check for check in result.checks if ids & items_in(check.where)],
            [figure for figure in result.figures if ids & items_in(figure.title)],
        )


def truncated(value: float, decimals: int) -> str:
    """As tables that cut their digits off print it."""
    return f"{math.trunc(value * 10**decimals) / 10**decimals:.{decimals}f}"


def agreeing_digits(printed: str, computed: float, *, cut: bool = False) -> int:
    """How many of the printed significant digits the computed number has, rounded, or cut, as printed."""
    decimals = len(printed.partition(".")[2])
    ours = truncated(computed, decimals) if cut else f"{computed:.{decimals}f}"
    if ours == printed:
        return sum(c.isdigit() for c in printed.lstrip("-0."))
    digits = 0
    for a, b in zip(printed, ours, strict=False):
        if a != b:
            break
        digits += a.isdigit()
    return digits
