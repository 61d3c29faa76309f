"""Beyond Vilmart (2013): how round-off grows over 10⁸ steps of DMV10."""

from __future__ import annotations

import numpy as np

from polhode.api import simulate
from polhode.papers.base import Check, PaperFigure
from polhode.problems import problem_of
from polhode.results.run import Run
from polhode.results.style import COLOURS, house_style

ROUND_OFF_STEPS = 10**8


def growth(values: np.ndarray) -> float:
    """The exponent p in |e(n + k) - e(n)| ~ k^p, over lags from a sample to a tenth of the run:
    1/2 for a random walk, 1 for a drift."""
    lags = np.unique(np.logspace(0, np.log10(len(values) / 10), 20).astype(int))
    sizes = [np.sqrt(np.mean((values[k:] - values[:-k]) ** 2)) for k in lags]
    return float(np.polyfit(np.log(lags), np.log(sizes), 1)[0])


def round_off_run(steps: int = ROUND_OFF_STEPS) -> Run:
    setup = problem_of("book").problem()
    return simulate(
        setup.body, None, setup.start, method="dmv10", step=0.01, steps=steps, every=steps // 2000, progress=False
    )


def round_off() -> tuple[Check, PaperFigure]:
    run = round_off_run()
    pi = run.spatial_momentum
    errors = {
        "C": run.state.momentum.norm2() / run.state.momentum.norm2()[0] - 1,
        "H": run.energy / run.energy[0] - 1,
        "Qy (first component)": pi[:, 0] - pi[0, 0],
        "Qy (second component)": pi[:, 1] - pi[0, 1],
    }
    exponents = {name: growth(e) for name, e in errors.items()}
    steps = run.trajectory.steps
    with house_style() as Figure:
        figure = Figure(figsize=(8, 5))
        ax = figure.add_subplot()
        for (name, e), colour in zip(errors.items(), COLOURS, strict=False):
            ax.loglog(
                steps[1:],
                np.maximum.accumulate(np.abs(e[1:])) + 1e-18,
                color=colour,
                label=f"{name}: exponent {exponents[name]:.2f}",
            )
        guide = 1e-16 * np.sqrt(steps[1:])
        ax.loglog(steps[1:], guide, color="#999999", linestyle="--", linewidth=1, label="1e-16 √n")
        ax.loglog(steps[1:], 1e-16 * steps[1:], color="#cccccc", linestyle=":", linewidth=1, label="1e-16 n")
        ax.set(
            title="Round-off of DMV10, h = 0.01", xlabel="steps n", ylabel="largest error so far", ylim=(1e-16, 1e-9)
        )
        ax.legend()
    check = Check(
        "round-off",
        f"over {run.steps:.0e} steps of DMV10 the errors of C, H and Qy grow like the root of their number",
        "√n (Vilmart 2008)",
        ", ".join(f"{name} n^{p:.2f}, at most {np.abs(errors[name]).max():.0e}" for name, p in exponents.items()),
        max(exponents.values()) < 0.75,
    )
    return check, PaperFigure(
        "vilmart-round-off", "Round-off over 10⁸ steps", "Largest error so far in C, H and Qy.", figure
    )
