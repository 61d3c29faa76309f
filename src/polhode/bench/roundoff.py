"""Round-off over ten million steps: the energy of SWC1 on the free body."""

from __future__ import annotations

import numpy as np

from polhode.api import simulate
from polhode.bench.base import Row
from polhode.problems import problem_of

STEPS = 10**7
TINY = {"steps": 2000}


def measure(steps: int = STEPS) -> list[Row]:
    """A random walk of n roundings of 1e-16 reaches 1e-16 √n = 3.5e-13 here; a trend
    would show as a line fitted through the samples that ends well outside of it."""
    setup = problem_of("free-body").problem()
    rows = []
    for step in (0.1, 0.01):
        run = simulate(setup.body, None, setup.start, method="swc1", step=step, steps=steps, every=steps // 1000)
        change = (run.energy - run.energy[0]) / run.energy[0]
        rise = np.polyfit(np.linspace(0, 1, len(change)), change, 1)[0]
        size = np.abs(change).max()
        rows.append(
            Row(
                f"SWC1, h = {step:g}, {steps:,} steps",
                f"largest relative change {size:.1e}, fitted rise {rise:+.1e}",
                None,
                "within 1e-12, no trend",
                bool(size < 1e-12 and abs(rise) < 7e-13),
            )
        )
    return rows
