"""EM and DLA on the non-twisting frame: the reduced step beside the full system of 16 unknowns."""

from __future__ import annotations

from polhode.api import simulate
from polhode.bench.base import Row
from polhode.problems import problem_of

STEPS = {"em": 200_000, "dla": 200_000, "em-full": 5_000, "dla-full": 5_000}


def _seconds_a_step(method: str, case: int) -> float:
    setup = problem_of(f"nontwisting-{case}").setup()
    count = STEPS[method]
    # Short steps, so that the load of case 3 acts all the time.
    run = [
        simulate(setup.body, setup.load, setup.start, method=method, step=1.0 / count, steps=count, every=count)
        for _ in range(4)
    ]
    return min(r.trajectory.seconds for r in run[1:]) / count


def measure() -> list[Row]:
    rows = []
    for case, words in ((1, "free"), (3, "under a load")):
        times = {method: _seconds_a_step(method, case) for method in STEPS}
        for method, seconds in times.items():
            base = method.removesuffix("-full")
            ratio = None if base == method else seconds / times[base]
            target = ("at most 5 µs", seconds <= 5e-6) if method == "em" else ("", None)
            rows.append(Row(f"{method}, {words}", f"{1e6 * seconds:.2f} µs a step", ratio, *target))
        rows.append(Row(f"dla / em, {words}", f"{times['dla'] / times['em']:.2f} times", times["dla"] / times["em"]))
    return rows
