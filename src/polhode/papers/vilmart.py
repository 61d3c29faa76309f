"""Vilmart (2013): Fig. 1, the tables and algorithms; and two figures more: work and precision, round-off."""

from __future__ import annotations

from functools import partial

import numpy as np

from polhode.api import simulate
from polhode.methods import Exact
from polhode.papers.base import Check, Paper, PaperFigure, Part, Result, Say
from polhode.papers.catalogue import VILMART
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


def tables(number: int, say: Say) -> Result:
    say(f"Table {number}" + (": auditing five methods" if number == 2 else ""))
    return Result([table_1()] if number == 1 else table_2())


def algorithms(say: Say) -> Result:
    say("algorithms and errata")
    return Result(algorithm_checks())


def book(say: Say) -> Result:
    say("Fig. 1")
    check, figure = figure_1()
    return Result([check], [figure])


def precision(say: Say) -> Result:
    say("work and precision")
    checks, figure = work_precision()
    return Result(checks, [figure])


def rounding(say: Say) -> Result:
    say(f"round-off over {ROUND_OFF_STEPS:.0e} steps")
    check, figure = round_off()
    return Result([check], [figure])


PAPER = Paper(
    "vilmart",
    "G. Vilmart, Rigid body dynamics (2013)",
    (
        Part("table 1", partial(tables, 1), ("table1",)),
        Part("table 2", partial(tables, 2), ("table2",)),
        Part("algorithms", algorithms, ("example1",)),
        Part("book", book, ("fig1",)),
        Part("work and precision", precision),
        Part("round-off", rounding),
    ),
    VILMART,
    "https://hal.science/hal-00912388",
)
