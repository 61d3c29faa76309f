"""What a paper's recomputation is made of: checks with printed and computed values, and figures."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


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


@dataclass(frozen=True)
class Paper:
    """A paper by its id, and the function that recomputes it."""

    id: str
    title: str
    compute: Callable[[Callable[[str], None]], Result]  # given a function to call with what it does now


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
