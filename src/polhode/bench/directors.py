"""EM and DLA on the non-twisting frame: the reduced step beside the full system of 16 unknowns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from polhode.api import simulate
from polhode.bench.base import Row
from polhode.problems import problem_of

STEPS = {"em": 200_000, "dla": 200_000, "em-full": 5_000, "dla-full": 5_000}
CASES = {1: "free", 3: "under a load"}
BESIDE = {"dla": "em", "em-full": "em", "dla-full": "dla"}  # what its time is divided by
TINY = {"steps": {"em": 20, "dla": 20}, "cases": (1,)}


def _seconds_a_step(method: str, case: int, count: int) -> float:
    setup = problem_of(f"nontwisting-{case}").problem()
    # Short steps, so that the load of case 3 acts all the time.
    run = [
        simulate(setup.body, setup.load, setup.start, method=method, step=1.0 / count, steps=count, every=count)
        for _ in range(4)
    ]
    return min(r.trajectory.seconds for r in run[1:]) / count


def measure(steps: Mapping[str, int] = STEPS, cases: Iterable[int] = tuple(CASES)) -> list[Row]:
    rows = []
    for case in cases:
        words = CASES[case]
        times = {method: _seconds_a_step(method, case, count) for method, count in steps.items()}
        for method, seconds in times.items():
            ratio = seconds / times[BESIDE[method]] if method in BESIDE else None
            target = ("at most 5 µs", seconds <= 5e-6) if method == "em" else ("", None)
            rows.append(Row(f"{method}, {words}", f"{1e6 * seconds:.2f} µs a step", ratio, *target))
    return rows
