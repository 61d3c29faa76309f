"""A chain of rods with sparse matrices: seconds a step, and how they grow with the number of rods."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polhode.api import simulate
from polhode.bench.base import Row
from polhode.problems import problem_of

BODIES = (10, 30, 100, 300)
STEPS = 50
STEP = 0.005  # s: rods of 1 m
TINY = {"bodies": (1, 2), "steps": 2}
LARGEST = 1.15  # exponent that still counts as linear: fixed costs of a step lower it, fill would raise it


def seconds_a_step(bodies: int, steps: int, method: str = "three-field-sparse") -> float:
    """The least of three runs, compilation not counted."""
    system = problem_of("chain").problem(bodies=bodies).system
    runs = [simulate(system, method=method, step=STEP, steps=steps, every=steps) for _ in range(4)]
    return min(run.trajectory.seconds for run in runs[1:]) / steps


def exponent(times: dict[int, float]) -> float:
    """p of the fit seconds = c Nᵖ."""
    return float(np.polyfit(np.log(list(times)), np.log(list(times.values())), 1)[0])


def measure(bodies: Sequence[int] = BODIES, steps: int = STEPS) -> list[Row]:
    times = {n: seconds_a_step(n, steps) for n in bodies}
    rows = [
        Row(f"{n} rods", f"{1e3 * seconds:.2f} ms a step, {1e6 * seconds / n:.0f} µs a rod")
        for n, seconds in times.items()
    ]
    dense = seconds_a_step(bodies[0], steps, "three-field")
    rows.append(Row(f"{bodies[0]} rods, dense", f"{1e3 * dense:.2f} ms a step", dense / times[bodies[0]]))
    few, many = bodies[-3:][0], bodies[-1]  # fixed costs hide how the smallest grows
    p = exponent({n: seconds for n, seconds in times.items() if n >= few})
    rows.append(Row(f"exponent, {few} to {many} rods", f"{p:.2f}", None, f"at most {LARGEST}", p <= LARGEST))
    return rows
