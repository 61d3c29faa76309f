"""The benchmark bicycle, 24 velocities and 21 rows: a step beside Exudyn's, and the wait for the first one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

from polhode.api import simulate
from polhode.bench.base import Row
from polhode.peers import available
from polhode.problems import problem_of
from polhode.references.bicycle import BicycleStart
from polhode.references.bicycle_parameters import Bicycle

_FIRST = """
import time; began = time.perf_counter()
import polhode as ph
from polhode.problems import problem_of
ph.simulate(problem_of("bicycle").system(), step=0.01, steps=10)
print(time.perf_counter() - began)
"""


def measure() -> list[Row]:
    system = problem_of("bicycle").system()
    runs = [simulate(system, step=0.01, until=20.0, every=100) for _ in range(4)]
    ours = min(r.trajectory.seconds for r in runs[1:]) / runs[0].steps
    variation = 100 * np.ptp(runs[0].energy) / runs[0].energy[0]
    rows = [
        Row("three-field, v = 4.6 m/s", f"{1e6 * ours:.0f} µs a step, p_E = {variation:.0e} %", None, "at most 60 µs",
            ours <= 60e-6),
    ]  # fmt: skip
    return rows + _exudyn(ours) + _waiting()


def _exudyn(ours: float) -> list[Row]:
    if available()["exudyn"] is None:
        return [Row("Exudyn", "not installed: pip install 'polhode[peers]'")]
    from polhode.peers import exudyn

    rows = []
    for solver in exudyn.SOLVERS:
        runs: list[Any] = [
            exudyn.bicycle_motion(Bicycle(), BicycleStart(4.6, 0.5), step=0.01, until=20.0, solver=solver)
            for _ in range(3)
        ]
        seconds = min(m.cost.seconds_per_step for m in runs)
        variation = 100 * np.ptp(runs[0].energy) / runs[0].energy[0]
        rows.append(Row(f"Exudyn, {solver}", f"{1e6 * seconds:.0f} µs a step, p_E = {variation:.0e} %", seconds / ours))
    return rows


def _waiting() -> list[Row]:
    """From starting Python to ten steps done, with an empty cache of compiled programs and then with a full one."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"JAX_COMPILATION_CACHE_DIR": folder, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.1"}
        for name, target in (("nothing in the cache", 15.0), ("from the cache", 3.0)):
            done = subprocess.run([sys.executable, "-c", _FIRST], env=env, capture_output=True, text=True, check=True)
            seconds = float(done.stdout)
            rows.append(Row(f"first ten steps, {name}", f"{seconds:.1f} s", None, f"{target:g} s", seconds <= target))
    return rows
