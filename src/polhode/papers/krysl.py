"""Krysl (2007): convergence (Figs 1-3), what is conserved (section 3), and long runs against a wall (Figs 4, 5)."""

from __future__ import annotations

from collections.abc import Callable

from polhode.papers.base import Check, Paper, PaperFigure, Result
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


def compute(say: Callable[[str], None]) -> Result:
    checks: list[Check] = []
    figures: list[PaperFigure] = []
    for number, problem_name, longest, levels, more in (
        (1, "free-body", 200, 7, free_body_checks),
        (2, "slow-top", 500, 7, slow_top_checks),
        (3, "fast-top", 2500, 7, fast_top_checks),
    ):
        problem = problem_of(problem_name)
        say(f"Fig. {number}: convergence, {problem.title}")
        c = converge(problem, longest, levels)
        checks += convergence_checks(f"Fig. {number}", c) + more(c)
        figures.append(
            PaperFigure(
                f"krysl-{number}",
                f"Figure {number}. {problem.title}: convergence",
                f"Errors at t = {problem.until:g} in body-frame momentum (left) and attitude matrix (right), against a "
                f"reference with an error below {c.reference.error:.0e}.",
                draw_convergence(c, f"{problem.title}, error at t = {problem.until:g}"),
            )
        )
    say("Section 3: what is conserved")
    checks += section_three_checks()
    say("Figs 4, 5: Coulomb potential with a wall, both readings")
    printed, right, fine = (
        {name: wall_run(name, sign, step) for name in METHODS} for sign, step in ((-1.0, 0.5), (1.0, 0.5), (1.0, 0.01))
    )
    checks += wall_checks(printed, right, fine)
    for runs, reading, limits in (
        (printed, "torque as printed, Δt = 0.5", (0.08, 0.016)),
        (right, "torque as described in the text, Δt = 0.5", (1.0, 1.0)),
        (fine, "torque as described in the text, Δt = 0.01", (0.01, 0.01)),
    ):
        for number, names, limit in ((4, COMPARED, limits[0]), (5, PRESENT, limits[1])):
            figures.append(
                PaperFigure(
                    f"krysl-{number}-{len(figures)}",
                    f"Figure {number}, {reading}",
                    f"Normalised Hamiltonian of the body in a Coulombic potential with a soft wall; {reading}, "
                    "40 000 steps.",
                    draw_wall(runs, names, f"Coulomb potential with a wall: {reading}", limit),
                )
            )
    return Result(checks, figures)


PAPER = Paper(
    "krysl",
    "P. Krysl, Dynamically equivalent implicit algorithms for the integration of rigid body rotations (2007)",
    compute,
)
