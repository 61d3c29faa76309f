"""How long the first answer takes: cold, from the disk cache, and `--help`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable

from polhode.bench.base import Row, best_of, python, with_cache

TINY = {"methods": ("imidm",), "repeats": 1}
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


def measure(methods: Iterable[str] = ("imidm", "swc1", "mk-gauss2"), repeats: int = 3) -> list[Row]:
    rows = []
    for method in methods:
        with tempfile.TemporaryDirectory() as folder:
            cache = with_cache(folder)
            first = float(python("-c", _FIRST, method, **cache))
            again = best_of(repeats, lambda: python("-c", _FIRST, method, **cache))  # noqa: B023  (called at once)
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
    help_ = best_of(repeats, lambda: python("-m", "polhode", "--help"))
    rows.append(Row("polhode --help", f"{help_:.2f} s", None, "under 0.3 s", help_ < 0.3))
    return rows
