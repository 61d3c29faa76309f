"""A progress bar that appears only when a run takes more than a second, and words for a wait before it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from polhode.simulation.notebook import Bar, Line, in_notebook

_PATIENCE = 1.0  # seconds
_SILENCE = 0.5  # seconds, before a wait is explained


class Progress:
    """`shown`: True, False, or None for "on a terminal or in a notebook"."""

    def __init__(self, total: int, label: str, shown: bool | None, what: str = "steps") -> None:
        self.total, self.label, self.what, self._shown = total, label, what, shown
        self.began = time.perf_counter()
        self.words, self._rate = "", ""
        self.bar: Any = None
        self.task: Any = None
        self._first = 0, 0.0  # done when it appeared, and when that was

    @cached_property
    def wanted(self) -> bool:
        """Looked at when there is something to show, as most runs are over before."""
        return self._shown if self._shown is not None else sys.stderr.isatty() or in_notebook()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def advance(self, done: int) -> None:
        """To `done` of the total."""
        if self.bar is None:
            if time.perf_counter() - self.began < _PATIENCE or not self.wanted:
                return
            self._open()
        if done > self._first[0]:
            self._rate = f"{(done - self._first[0]) / (time.perf_counter() - self._first[1]):,.3g} {self.what}/s"
        self.bar.update(self.task, completed=done, words=self._rate + (self.words and f", {self.words}"))

    def say(self, words: str) -> None:
        """How it goes, beside how far."""
        self.words = words

    @contextmanager
    def waiting(self, words: Callable[[], str]) -> Iterator[None]:
        """Says what is waited for where it takes longer than half a second: by a spinner, or in the bar."""
        if not self.wanted:
            yield
        elif self.bar is not None:
            self.bar.update(self.task, description=words())
            yield
            self.bar.update(self.task, description=self.label)
        else:
            spinner = _Spinner(words)
            try:
                yield
            finally:
                spinner.stop()

    def _open(self) -> None:
        if in_notebook():
            self.bar = Bar(self.label, self.total, self.what)
            return
        from rich import progress
        from rich.console import Console

        self.bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TextColumn("{task.completed:,.0f} of {task.total:,.0f} " + self.what),
            progress.TimeRemainingColumn(),
            progress.TextColumn("{task.fields[words]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self.task = self.bar.add_task(self.label, total=self.total, words="")
        self.bar.start()


class _Spinner:
    """Words that appear after a while, unless they were stopped before."""

    def __init__(self, words: Callable[[], str]) -> None:
        self._words, self._over = words, False
        self._status: Any = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(_SILENCE, self._start)
        self._timer.daemon = True
        self._timer.start()

    def _start(self) -> None:
        from rich.console import Console

        with self._lock:
            if not self._over:
                if in_notebook():
                    self._status = Line(self._words())
                    return
                self._status = Console(stderr=True).status(self._words())
                self._status.start()

    def stop(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._status is not None:
                self._status.stop()
