"""Tables for notebooks: plain HTML that takes the colours of the page it stands in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_CELL = "text-align: left; padding: 0.15em 0.9em 0.15em 0"


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> str:
    """Words and numbers; nothing in them is taken for HTML."""
    head = "".join(f'<th style="{_CELL}">{escape(text)}</th>' for text in headings)
    body = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{escape(str(cell))}</td>' for cell in row) + "</tr>" for row in rows
    )
    above = f"<div><b>{escape(title)}</b></div>" if title else ""
    first = f"<thead><tr>{head}</tr></thead>" if headings else ""
    return f"{above}<table>{first}<tbody>{body}</tbody></table>"


def short(name: str, most: int = 40) -> str:
    """Of a long name the beginning and the end."""
    return name if len(name) <= most else f"{name[: most - most // 3 - 1]}…{name[-(most // 3) :]}"


def folded(title: str, inside: str) -> str:
    """What opens at a click."""
    return f"<details><summary>{escape(title)}</summary>{inside}</details>"
