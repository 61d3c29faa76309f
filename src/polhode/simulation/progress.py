"""A progress bar that appears only when a run takes more than a second."""

from __future__ import annotations

import sys
import time
from typing import Any

_PATIENCE = 1.0  # seconds


class Progress:
    """`shown`: True, False, or None for "on a terminal or in a notebook"."""

    def __init__(self, total: int, label: str, shown: bool | None) -> None:
        self.total, self.label = total, label
        self.wanted = shown if shown is not None else sys.stderr.isatty() or "ipykernel" in sys.modules
        self.began = time.perf_counter()
        self.bar: Any = None
        self.task: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def advance(self, done: int) -> None:
        """To `done` of the total."""
        if self.bar is None:
            if not self.wanted or time.perf_counter() - self.began < _PATIENCE:
                return
            self._open()
        self.bar.update(self.task, completed=done)

    def _open(self) -> None:
        from rich import progress
        from rich.console import Console

        self.bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TextColumn("{task.completed:,.0f} of {task.total:,.0f} steps"),
            progress.TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self.task = self.bar.add_task(self.label, total=self.total)
        self.bar.start()
