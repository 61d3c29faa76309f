"""The tables, figures and examples that have a number in a paper, and how they are named in what is recomputed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_KINDS = {"fig": "Figure", "table": "Table", "example": "Example"}
_NAMED = re.compile(r"\b(Fig|Table|Example)(?:ure)?s?\.?\s+(\d+[a-z]?(?:\s*(?:,|-|–|and)\s*\d+[a-z]?)*)")
_SECTION = re.compile(r"^(\d\.\d)\b")


@dataclass(frozen=True)
class Item:
    """One of them: `fig1`, `table2`, `example1`, or the number of a section that is an example. `sketch` says why there
    is nothing to recompute, and `problem` what it is a sketch of, which the report shows moving; `shown` names the
    figures and tables that an example is shown by."""

    id: str
    label: str
    what: str
    sketch: str = ""
    problem: str = ""
    shown: tuple[str, ...] = ()


def numbered(
    kind: str, what: Mapping[int, str], sketches: Mapping[int, tuple[str, str]] | None = None
) -> tuple[Item, ...]:
    """Of a kind ("fig", "table", "example"), by number; of sketches, why and of what."""
    why = sketches or {}
    return tuple(Item(f"{kind}{n}", f"{_KINDS[kind]} {n}", text, *why.get(n, ())) for n, text in what.items())


def sections(what: Mapping[str, tuple[str, tuple[str, ...]]]) -> tuple[Item, ...]:
    """Examples that are sections, by their number: what they are, and what shows them."""
    return tuple(Item(number, f"Section {number}", text, shown=shown) for number, (text, shown) in what.items())


def items_in(text: str) -> set[str]:
    """The ids that "5.1, Fig. 1", "Figs 6a, 6b" or "Figure 4. A disk" name."""
    found = set(_SECTION.findall(text))
    for kind, numbers in _NAMED.findall(text):
        for first, last in re.findall(r"(\d+)[a-z]?(?:\s*[-–]\s*(\d+))?", numbers):
            found |= {f"{kind.lower()}{n}" for n in range(int(first), int(last or first) + 1)}
    return found
