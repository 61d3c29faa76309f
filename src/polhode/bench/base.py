"""What a benchmark is: a name, a function that measures, and how little of it shows that it still runs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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
    number: float | None = None  # what was measured, in the unit of `value`, where a picture shows it


@dataclass(frozen=True)
class Benchmark:
    """`measure()` is the benchmark; `measure(**tiny)` goes the same way in a few seconds, for the tests."""

    name: str
    title: str
    measure: Callable[..., list[Row]]
    tiny: Mapping[str, Any]
    draw: Callable[[list[Row], str], Any] | None = None  # a picture of the rows, to a path


def best_of(repeats: int, run: Callable[[], Any]) -> float:
    """The least seconds of several calls: the one least disturbed."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return min(times)


def python(*arguments: str, **environment: str) -> str:
    """What a fresh Python process prints; why it failed, if it did."""
    done = subprocess.run(
        [sys.executable, *arguments], env=os.environ | environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"python {' '.join(arguments)}\nended with {done.returncode}:\n{done.stderr}")
    return done.stdout


@contextmanager
def cache(empty: bool = True) -> Iterator[dict[str, str]]:
    """The environment of processes that keep their compiled programs where there is nothing yet; or, where only that
    they run is asked, with all others."""
    if not empty:
        yield {}
        return
    with tempfile.TemporaryDirectory() as folder:
        yield {"JAX_COMPILATION_CACHE_DIR": folder, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.1"}
