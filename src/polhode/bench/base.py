"""What a benchmark is: a name, a target where there is one, and a function that measures."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One measured line. `ratio` is to the peer named in the benchmark, in the same run."""

    what: str
    value: str
    ratio: float | None = None
    target: str = ""
    met: bool | None = None


@dataclass(frozen=True)
class Benchmark:
    name: str
    title: str
    measure: Callable[[], list[Row]]


def best_of(repeats: int, run: Callable[[], Any]) -> float:
    """The least seconds of several calls: the one least disturbed."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return min(times)
