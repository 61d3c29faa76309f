"""Krysl (2007): convergence (Figs 1-3), what is conserved (section 3), and long runs against a wall (Figs 4, 5)."""

from __future__ import annotations

from functools import partial

from polhode.papers.base import Paper, PaperFigure, Part, Result, Say
from polhode.papers.catalogue import KRYSL
from polhode.papers.krysl_conservation import section_three_checks
from polhode.papers.krysl_convergence import (
    COMPARED,
    METHODS,
    PRESENT,
    converge,
    convergence_checks,
    draw_convergence,
    fast_top_checks,
    free_body_checks,
    slow_top_checks,
)
from polhode.papers.krysl_wall import draw_wall, wall_checks, wall_run
from polhode.problems import problem_of

_MORE = {"free-body": free_body_checks, "slow-top": slow_top_checks, "fast-top": fast_top_checks}


def convergence(number: int, name: str, longest: int, levels: int, say: Say) -> Result:
    """Figs 1 to 3."""
    problem = problem_of(name)
    say(f"Fig. {number}: convergence, {problem.title}")
    c = converge(problem, longest, levels)
    figure = PaperFigure(
        f"krysl-{number}",
        f"Figure {number}. {problem.title}: convergence",
        f"Errors at t = {problem.until:g} in body-frame momentum (left) and attitude matrix (right), against a "
        f"reference with an error below {c.reference.error:.0e}.",
        draw_convergence(c, f"{problem.title}, error at t = {problem.until:g}"),
    )
    return Result(convergence_checks(f"Fig. {number}", c) + _MORE[name](c), [figure])


def section_3(say: Say) -> Result:
    say("Section 3: what is conserved")
    return Result(section_three_checks())


def wall(say: Say) -> Result:
    """Figs 4 and 5."""
    say("Figs 4, 5: Coulomb potential with a wall, both readings")
    figures: list[PaperFigure] = []
    printed, right, fine = (
        {name: wall_run(name, sign, step) for name in METHODS} for sign, step in ((-1.0, 0.5), (1.0, 0.5), (1.0, 0.01))
    )
    for runs, reading, limits in (
        (printed, "torque as printed, Δt = 0.5", (0.08, 0.016)),
        (right, "torque as described in the text, Δt = 0.5", (1.0, 1.0)),
        (fine, "torque as described in the text, Δt = 0.01", (0.01, 0.01)),
    ):
        for number, names, limit in ((4, COMPARED, limits[0]), (5, PRESENT, limits[1])):
            figures.append(
                PaperFigure(
                    f"krysl-{number}-{len(figures) // 2 + 1}",
                    f"Figure {number}, {reading}",
                    f"Normalised Hamiltonian of the body in a Coulombic potential with a soft wall; {reading}, "
                    "40 000 steps.",
                    draw_wall(runs, names, f"Coulomb potential with a wall: {reading}", limit),
                )
            )
    return Result(wall_checks(printed, right, fine), figures)


PAPER = Paper(
    "krysl",
    "P. Krysl, Dynamically equivalent implicit algorithms for the integration of rigid body rotations (2007)",
    (
        Part("free body", partial(convergence, 1, "free-body", 200, 7), ("fig1", "5.1")),
        Part("slow top", partial(convergence, 2, "slow-top", 500, 7), ("fig2", "5.2")),
        Part("fast top", partial(convergence, 3, "fast-top", 2500, 7), ("fig3", "5.3")),
        Part("section 3", section_3),
        Part("wall", wall, ("fig4", "fig5", "5.4")),
    ),
    KRYSL,
    "https://doi.org/10.1002/cnm.963",
)
