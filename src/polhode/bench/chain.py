"""A chain of rods with sparse matrices: seconds a step, and how they grow with the number of rods."""

from __future__ import annotations

import numpy as np

from polhode.api import simulate
from polhode.bench.base import Row
from polhode.problems import problem_of

BODIES = (10, 30, 100, 300)
STEPS = 50
STEP = 0.005  # s: rods of 1 m
LARGEST = 1.15  # exponent that still counts as linear: fixed costs of a step lower it, fill would raise it


def seconds_a_step(bodies: int, method: str = "three-field-sparse") -> float:
    """The least of three runs, compilation not counted."""
    system = problem_of("chain").system(bodies=bodies)
    runs = [simulate(system, method=method, step=STEP, steps=STEPS, every=STEPS) for _ in range(4)]
    return min(run.trajectory.seconds for run in runs[1:]) / STEPS


def exponent(times: dict[int, float]) -> float:
    """p of the fit seconds = c Nᵖ."""
    return float(np.polyfit(np.log(list(times)), np.log(list(times.values())), 1)[0])


def measure() -> list[Row]:
    times = {bodies: seconds_a_step(bodies) for bodies in BODIES}
    rows = [
        Row(f"{bodies} rods", f"{1e3 * seconds:.2f} ms a step, {1e6 * seconds / bodies:.0f} µs a rod")
        for bodies, seconds in times.items()
    ]
    dense = seconds_a_step(BODIES[0], "three-field")
    rows.append(Row(f"{BODIES[0]} rods, dense", f"{1e3 * dense:.2f} ms a step", dense / times[BODIES[0]]))
    p = exponent({bodies: seconds for bodies, seconds in times.items() if bodies >= 30})
    rows.append(Row("exponent, 30 to 300 rods", f"{p:.2f}", None, f"at most {LARGEST}", p <= LARGEST))
    return rows
