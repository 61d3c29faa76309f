"""Progress in a notebook: one line below the cell that is told anew, and goes away at the end."""

from __future__ import annotations

import sys
import time
from html import escape
from typing import Any

_APART = 0.1  # s between two looks


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook, where what is displayed can be changed later."""
    ipython = sys.modules.get("IPython")
    return getattr(ipython.get_ipython() if ipython else None, "kernel", None) is not None


class Line:
    """Words, with a bar before them if a part of 1 is given."""

    def __init__(self, words: str) -> None:
        from IPython.display import display

        self.handle: Any = display(_raw(_html(words, None)), display_id=True)

    def show(self, words: str, part: float | None = None) -> None:
        self.handle.update(_raw(_html(words, part)))

    def stop(self) -> None:
        self.handle.update(_raw(""))


class Bar:
    """How many of how many are done, and how long the rest will take."""

    def __init__(self, label: str, total: int, what: str) -> None:
        self.label, self.total, self.what, self.done = label, total, what, 0
        self.line, self.began, self.last = Line(label), time.perf_counter(), 0.0

    def update(self, _: Any, *, completed: int | None = None, description: str | None = None, words: str = "") -> None:
        """As rich's bars take it; `words` tell how it goes."""
        self.done = self.done if completed is None else completed
        self.label = description or self.label
        now = time.perf_counter()
        if now - self.last < _APART and description is None:
            return
        self.last = now
        part = self.done / self.total if self.total else 0.0
        left = f", {(now - self.began) * (1 - part) / part:.0f} s left" if part > 0 else ""
        self.line.show(f"{self.label}: {self.done:,} of {self.total:,} {self.what}{left}{words and f', {words}'}", part)

    def stop(self) -> None:
        self.line.stop()


def _html(words: str, part: float | None) -> str:
    bar = "" if part is None else f'<progress value="{part:.4f}" max="1" style="width: 16em"></progress> '
    return f'<div style="font-size: 0.9em">{bar}{escape(words)}</div>'


def _raw(html: str) -> Any:
    from IPython.display import HTML

    return HTML(html)
