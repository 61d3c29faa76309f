"""Vilmart (2013): Fig. 1, the tables and algorithms; and two figures more: work and precision, round-off."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from polhode.api import simulate
from polhode.methods import Exact
from polhode.papers.base import Check, Paper, PaperFigure, Result
from polhode.papers.vilmart_algorithms import algorithm_checks, table_1, table_2
from polhode.papers.vilmart_precision import work_precision
from polhode.papers.vilmart_round_off import ROUND_OFF_STEPS, round_off
from polhode.problems import problem_of
from polhode.results.style import COLOURS, house_style


def figure_1() -> tuple[Check, PaperFigure]:
    setup = problem_of("book").problem()
    run = simulate(setup.body, None, setup.start, method="dmv10", step=0.01, until=40.0)
    exact = simulate(setup.body, None, setup.start, method=Exact(), step=40.0, steps=1)
    error = float(np.abs(run.attitude[-1] - exact.attitude[-1]).max())
    with house_style() as Figure:
        figure = Figure(figsize=(6.4, 6.2))
        ax = figure.add_subplot(projection="3d")
        u, v = np.mgrid[0 : 2 * np.pi : 61j, 0 : np.pi : 31j]
        ball = 0.985 * np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)])
        ax.plot_surface(*ball, color="#eef2f6", alpha=0.6, linewidth=0)
        for j, colour in zip(range(3), COLOURS, strict=False):
            ax.plot(*run.attitude[:, :, j].T, color=colour, linewidth=1, label=f"axis {j + 1}")
        ax.set_aspect("equal")
        ax.legend()
        ax.set_title("Axes of the book in space, DMV10, h = 0.01, t ≤ 40")
    check = Check(
        "Fig. 1",
        "trajectories of the axes by DMV10, h = 0.01, to t = 40",
        "drawn",
        f"attitude at t = 40 within {error:.1e} of the exact solution",
        error < 1e-12,
    )
    caption = "Trajectories of the principal axes relative to the fixed frame (columns of Q)."
    return check, PaperFigure("vilmart-1", "Figure 1, right", caption, figure)


def compute(say: Callable[[str], None]) -> Result:
    say("Table 1")
    checks = [table_1()]
    say("Table 2: auditing five methods")
    checks += table_2()
    say("algorithms and errata")
    checks += algorithm_checks()
    say("Fig. 1")
    check, first = figure_1()
    say("work and precision")
    more, work = work_precision()
    say(f"round-off over {ROUND_OFF_STEPS:.0e} steps")
    last, rounding = round_off()
    return Result([*checks, check, *more, last], [first, work, rounding])


PAPER = Paper("vilmart", "G. Vilmart, Rigid body dynamics (2013)", compute)
