"""The benchmark bicycle, 24 velocities and 21 rows: a step beside Exudyn's, and the wait for the first one."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.api import simulate
from polhode.bench.base import Row, cache, python
from polhode.peers import available, exudyn
from polhode.problems import problem_of
from polhode.references.bicycle import BicycleStart
from polhode.references.bicycle_parameters import Bicycle

TINY = {"problem": "pendulum", "until": 0.1, "repeats": 1, "empty": False}
_FIRST = """
import sys, time; began = time.perf_counter()
import polhode as ph
from polhode.problems import problem_of
ph.simulate(problem_of(sys.argv[1]).problem().system, step=0.01, steps=10)
print(time.perf_counter() - began)
"""


def measure(problem: str = "bicycle", until: float = 20.0, repeats: int = 3, empty: bool = True) -> list[Row]:
    system = problem_of(problem).problem().system
    runs = [simulate(system, step=0.01, until=until, every=100) for _ in range(1 + repeats)]
    ours = min(r.trajectory.seconds for r in runs[1:]) / runs[0].steps
    variation = 100 * np.ptp(runs[0].energy) / runs[0].energy[0]
    rows = [
        Row(f"three-field, {problem}", f"{1e6 * ours:.0f} µs a step, p_E = {variation:.0e} %", None, "at most 60 µs",
            ours <= 60e-6),
    ]  # fmt: skip
    return rows + _exudyn(ours, until, repeats) + _waiting(problem, empty)


def _exudyn(ours: float, until: float, repeats: int) -> list[Row]:
    if available()["exudyn"] is None:
        return [Row("Exudyn", "not installed: pip install 'polhode[peers]'")]
    rows = []
    for solver in exudyn.SOLVERS:
        runs: list[Any] = [
            exudyn.bicycle_motion(Bicycle(), BicycleStart(4.6, 0.5), step=0.01, until=until, solver=solver)
            for _ in range(repeats)
        ]
        seconds = min(m.cost.seconds_per_step for m in runs)
        variation = 100 * np.ptp(runs[0].energy) / runs[0].energy[0]
        rows.append(Row(f"Exudyn, {solver}", f"{1e6 * seconds:.0f} µs a step, p_E = {variation:.0e} %", seconds / ours))
    return rows


def _waiting(problem: str, empty: bool) -> list[Row]:
    """From starting Python to ten steps done, with an empty cache of compiled programs and then with a full one."""
    rows = []
    with cache(empty) as there:
        for name, target in (("nothing in the cache", 15.0), ("from the cache", 3.0)):
            seconds = float(python("-c", _FIRST, problem, **there))
            rows.append(Row(f"first ten steps, {name}", f"{seconds:.1f} s", None, f"{target:g} s", seconds <= target))
    return rows
