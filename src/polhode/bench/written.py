"""What it takes to write a run as it goes, and to look in its samples for what the method promises."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from polhode.api import simulate
from polhode.bench.base import Row
from polhode.problems import problem_of

STEPS, EVERY, REPEATS = 2_000_000, 100, 5
TINY = {"steps": 2000, "every": 10, "repeats": 1, "cases": (("free-body", "dmv"),)}
CASES = (("free-body", "dmv"), ("heavy-top", "imidm"))


def measure(
    steps: int = STEPS, every: int = EVERY, repeats: int = REPEATS, cases: tuple[tuple[str, str], ...] = CASES
) -> list[Row]:
    """Seconds of the processor; ratios to the run in memory without sentinels, by turns in the same process."""
    rows = []
    for name, method in cases:
        problem = problem_of(name).problem()
        how: dict[str, Any] = {"method": method, "step": 0.001, "steps": steps, "every": every, "progress": False}
        with tempfile.TemporaryDirectory() as folder:
            out = {"out": Path(folder) / "run.zarr", "force": True}
            ways: dict[str, dict[str, Any]] = {
                "in memory, no sentinels": {"sentinels": False},
                "in memory": {},
                "written, no sentinels": {"sentinels": False, **out},
                "written": out,
            }
            best = dict.fromkeys(ways, float("inf"))
            for turn in range(1 + repeats):  # the first compiles
                for way, more in ways.items():
                    began = time.process_time()
                    simulate(problem, **how, **more)
                    if turn:
                        best[way] = min(best[way], time.process_time() - began)
        plain, bare = best["in memory, no sentinels"], best["written, no sentinels"]
        for way, seconds in best.items():
            about = f"{name}, {method}, {way}"
            rows.append(Row(about, f"{seconds / steps * 1e9:.0f} ns a step", seconds / plain))
        rows.append(_overhead(f"{name}, {method}: sentinels in memory", best["in memory"] / plain))
        rows.append(_overhead(f"{name}, {method}: sentinels of a written run", best["written"] / bare))
    return rows


def _overhead(what: str, ratio: float) -> Row:
    return Row(what, f"{100 * (ratio - 1):+.1f} %", ratio, "under 1.02", ratio < 1.02)
