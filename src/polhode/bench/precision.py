"""Seconds for the same error in attitude, beside scipy's DOP853 on the quaternion equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.api import simulate
from polhode.bench.base import Row, best_of
from polhode.papers.reference import reference
from polhode.problems import problem_of

UNTIL = 10.0
CASES = (  # method, step, how many times faster than scipy it is to be
    ("imidm", 1e-3, 10.0),
    ("imidm", 4e-3, 10.0),
    ("mk-rk4", 1e-3, None),
    ("mk-gauss2", 1e-3, None),
    ("nystrom4-dmv10", 2e-2, 100.0),
    ("rkn6-dmv10", 2e-2, None),
)
TINY = {"until": 0.1, "cases": CASES[:2], "tolerances": (1e-6, 1e-12)}


def scipy_solution(tolerance: float, until: float) -> np.ndarray:
    """R at the end of the heavy top, as a user of scipy would write it."""
    from scipy.integrate import solve_ivp

    start = problem_of("heavy-top").problem().start

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        w, x, yy, z, p1, p2, p3 = y
        o1, o2, o3 = p1 / 5.0, p2 / 5.0, p3
        R31, R32 = 2 * (x * z - w * yy), 2 * (yy * z + w * x)
        return np.array(
            [
                0.5 * (-x * o1 - yy * o2 - z * o3),
                0.5 * (w * o1 + yy * o3 - z * o2),
                0.5 * (w * o2 + z * o1 - x * o3),
                0.5 * (w * o3 + x * o2 - yy * o1),
                p2 * o3 - p3 * o2 + 20 * R32,
                p3 * o1 - p1 * o3 - 20 * R31,
                p1 * o2 - p2 * o1,
            ]
        )

    y0 = np.array([*start.attitude, 0.0, 0.0, 50.0], dtype=float)
    y = solve_ivp(slope, (0, until), y0, method="DOP853", rtol=tolerance, atol=tolerance).y[:4, -1]
    w, x, yy, z = y / np.linalg.norm(y)
    return np.array(
        [
            [1 - 2 * (yy * yy + z * z), 2 * (x * yy - w * z), 2 * (x * z + w * yy)],
            [2 * (x * yy + w * z), 1 - 2 * (x * x + z * z), 2 * (yy * z - w * x)],
            [2 * (x * z - w * yy), 2 * (yy * z + w * x), 1 - 2 * (x * x + yy * yy)],
        ]
    )


def measure(
    until: float = UNTIL,
    cases: Sequence[tuple[str, float, float | None]] = CASES,
    tolerances: Sequence[float] = tuple(10.0 ** np.arange(-3, -13, -0.5)),
) -> list[Row]:
    setup = problem_of("heavy-top").problem()
    start = setup.start
    exact = reference((5.0, 5.0, 1.0), 20.0, tuple(map(float, start.attitude)), (0.0, 0.0, 50.0), until).attitude
    peers = [(np.abs(scipy_solution(tol, until) - exact).max(), tol) for tol in tolerances]
    rows = []
    for name, step, wanted in cases:
        n = round(until / step)

        def run(name: str = name, step: float = step, n: int = n) -> Any:
            return simulate(setup.body, setup.load, setup.start, method=name, step=step, steps=n, every=n)

        error = np.abs(run().attitude[-1] - exact).max()
        seconds = best_of(5, run)
        tolerance = max((tol for e, tol in peers if e <= error), default=None)
        if tolerance is None:
            rows.append(Row(f"{name}, h = {step:g}", f"error {error:.1e}, {seconds:.4f} s; DOP853 never gets there"))
            continue
        peer = best_of(3, lambda tolerance=tolerance: scipy_solution(tolerance, until))  # type: ignore[misc]
        ratio = peer / seconds
        rows.append(
            Row(
                f"{name}, h = {step:g}",
                f"error {error:.1e} in {seconds * 1e3:.2f} ms; DOP853 (tol {tolerance:.0e}) {peer * 1e3:.0f} ms",
                ratio,
                f"at least {wanted:g} times faster" if wanted else "",
                ratio >= wanted if wanted else None,
            )
        )
    return rows
