"""How long the first answer takes: cold, from the disk cache, and `--help`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from polhode.bench.base import Row

_FIRST = """
import time, sys
import polhode as ph
top = ph.RigidBody((5, 5, 1))
gravity = ph.Potential(lambda R: 20 * R[2, 2])
start = ph.State.of(attitude=ph.exp((0.05, 0, 0)), omega=(0, 0, 50))
began = time.perf_counter()
ph.simulate(top, gravity, start, method=sys.argv[1], step=1e-3, steps=1000, every=10)
print(time.perf_counter() - began)
"""


def _process(arguments: list[str], cache: str) -> tuple[float, str]:
    """Seconds of a whole process, and what it printed."""
    began = time.perf_counter()
    env = {**os.environ, "JAX_COMPILATION_CACHE_DIR": cache, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.1"}
    done = subprocess.run([sys.executable, *arguments], env=env, check=True, capture_output=True, text=True)
    return time.perf_counter() - began, done.stdout


def measure() -> list[Row]:
    rows = []
    for method in ("imidm", "swc1", "mk-gauss2"):
        with tempfile.TemporaryDirectory() as cache:
            first = float(_process(["-c", _FIRST, method], cache)[1])
            again = min(_process(["-c", _FIRST, method], cache)[0] for _ in range(3))
        rows += [
            Row(f"{method}: first call, compilation included", f"{first:.2f} s", None, "under 3 s", first < 3),
            Row(
                f"{method}: new process, from the disk cache, imports included",
                f"{again:.2f} s",
                None,
                "under 1.5 s",
                again < 1.5,
            ),
        ]
    with tempfile.TemporaryDirectory() as cache:
        help_ = min(_process(["-m", "polhode", "--help"], cache)[0] for _ in range(5))
    rows.append(Row("polhode --help", f"{help_:.2f} s", None, "under 0.3 s", help_ < 0.3))
    return rows
