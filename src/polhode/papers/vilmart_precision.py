"""Beyond Vilmart (2013): work and precision, on a free body and on a heavy top."""

from __future__ import annotations

from typing import Any

from polhode.algebra import exp
from polhode.api import simulate
from polhode.methods import Exact, method_of
from polhode.model.problem import Problem
from polhode.papers import precision
from polhode.papers.base import Check, PaperFigure
from polhode.papers.reference import reference
from polhode.problems import problem_of
from polhode.rotation import Potential, RigidBody, Rotation, State

FREE = (
    "imidm", "swc1", "akw", "mk-rk4", "mk-gauss2", "three-rotation", "symmetric-rotation", "midpoint", "dmv", "dmv4",
    "dmv6", "dmv8", "dmv10", "kahan-li6-imidm", "exact",
)  # fmt: skip
LOADED = (
    "imidm", "swc1", "akw", "mk-rk4", "mk-gauss2", "strang-symmetric-rotation", "strang-dmv", "strang-exact",
    "nystrom4-exact", "nystrom4-dmv10", "rkn6-exact", "rkn6-dmv10", "suzuki4-strang-dmv", "kahan-li6-strang-dmv",
    "kahan-li8-strang-dmv",
)  # fmt: skip


def heavy_top_setup() -> Problem:
    """Example 1 with the body of Fig. 1: asymmetric, U = Q33."""
    body = RigidBody((0.376, 0.627, 1.0))
    return Problem(
        Rotation(body, Potential(_height)),
        State.of(attitude=exp((0.4, -0.2, 0.3)), momentum=(0.3, 0.6, -0.8)),
    )


def _height(R: Any) -> Any:
    return R.m33


def work_precision() -> tuple[list[Check], PaperFigure]:
    free, top = problem_of("book").problem(), heavy_top_setup()
    exact_free = simulate(free.body, None, free.start, method=Exact(), step=40.0, steps=1).attitude[-1]
    start = top.start.on(top.body)
    omega = Rotation(top.body).omega(start.momentum)
    exact_top = reference(
        tuple(map(float, top.body.moments)), 1.0, tuple(map(float, start.attitude)), tuple(map(float, omega)), 8.0
    ).attitude
    panels = {
        "Free asymmetric body, t = 40": precision.measure_all(FREE, free, 40.0, exact_free, 64, 2**16),
        "Asymmetric heavy top, t = 8": precision.measure_all(LOADED, top, 8.0, exact_top, 16, 2**16),
    }
    checks = []
    for title, works in panels.items():
        words = []
        for error in (1e-3, 1e-6, 1e-9):
            ranked = list(precision.fastest(works, error).items())[:3]
            words.append(f"{error:.0e}: " + ", ".join(f"{name} {1e3 * s:.2f} ms" for name, s in ranked))
        orders = {name: method_of(name).traits.order for name in works}
        best = next(iter(precision.fastest(works, 1e-9)))
        checks.append(
            Check(
                "beyond",
                f"{title}: the fastest to an error of 1e-9 is a method of high order",
                "not in the paper",
                "; ".join(words),
                orders[best] >= 4,
            )
        )
    caption = "Error in attitude at the end against CPU time, one trajectory, one core, compilation not counted."
    return checks, PaperFigure("vilmart-work", "Work and precision", caption, precision.draw(panels))
