"""What it takes to write a run as it goes, and to look in its samples for what the method promises."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from polhode.api import simulate
from polhode.bench.base import Row
from polhode.problems import problem_of
from polhode.results.sentinels import Promise

REPEATS = 9
CASES = (
    ("free-body", "dmv", 400_000, 1),
    ("free-body", "dmv", 2_000_000, 100),
    ("heavy-top", "imidm", 200_000, 1),
    ("heavy-top", "imidm", 1_000_000, 100),
    ("pendulum", "three-field", 20_000, 1),
    ("pendulum", "three-field", 40_000, 100),
)
TINY = {"repeats": 1, "cases": (("free-body", "dmv", 2000, 10),)}
_MOST = 1.02


def measure(repeats: int = REPEATS, cases: tuple[tuple[str, str, int, int], ...] = CASES) -> list[Row]:
    """Seconds of the processor, with sentinels and without by turns in one process: of the ratios of neighbours the
    median, which other work on the machine moves least. Of runs that are written, where files and the disk make those
    differ by more than is looked for, also the part of the run in which promises are looked at, timed there."""
    return [row for case in cases for row in _of_one(repeats, *case)]


def _of_one(repeats: int, name: str, method: str, steps: int, every: int) -> list[Row]:
    problem, rows = problem_of(name).problem(), []
    how: dict[str, Any] = {"method": method, "step": 0.001, "steps": steps, "every": every, "progress": False}
    about = f"{name}, {method}, every={every}"
    with tempfile.TemporaryDirectory() as folder:
        written = how | {"out": Path(folder) / "run.zarr", "force": True}
        for where, asked in (("in memory", how), ("written", written)):
            seconds, ratio = _by_turns(partial(simulate, problem, **asked), repeats)
            rows.append(Row(f"{about}, {where}", f"{seconds / steps * 1e9:.0f} ns a step"))
            rows.append(_overhead(f"{about}, {where}: with sentinels, to without", ratio))
        part = _looking(partial(simulate, problem, **written), repeats)
        rows.append(_overhead(f"{about}, written: sentinels, of the whole", 1.0 + part))
    return rows


def _by_turns(run: Callable[..., Any], repeats: int) -> tuple[float, float]:
    """Seconds with, and the ratio of those with to those without."""
    took: dict[bool, list[float]] = {True: [], False: []}
    for turn in range(1 + repeats):  # the first compiles
        for on in (True, False) if turn % 2 else (False, True):
            began = time.process_time()
            run(sentinels=on)
            if turn:
                took[on].append(time.process_time() - began)
    return float(np.median(took[True])), float(np.median(np.divide(took[True], took[False])))


def _looking(run: Callable[[], Any], repeats: int) -> float:
    """Which part of the processor's time of this thread is spent with promises; the median."""
    spent, really = 0.0, Promise.__call__

    def timed(self: Promise, look: Any) -> Any:
        nonlocal spent
        began = time.thread_time()
        found = really(self, look)
        spent += time.thread_time() - began
        return found

    parts = []
    with mock.patch.object(Promise, "__call__", timed):
        for _ in range(repeats):
            spent, began = 0.0, time.thread_time()
            run()
            parts.append(spent / (time.thread_time() - began - spent))
    return float(np.median(parts))


def _overhead(what: str, ratio: float) -> Row:
    return Row(what, f"{100 * (ratio - 1):+.1f} %", ratio, f"under {_MOST}", ratio < _MOST)
