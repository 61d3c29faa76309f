"""Vilmart (2013): Fig. 1, Tables 1 and 2, the heavy top; and two figures more: work and precision, round-off."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.algebra import exp
from polhode.api import simulate
from polhode.methods import Exact, method_of
from polhode.model.problem import Problem
from polhode.papers import precision
from polhode.papers.base import Check, Paper, PaperFigure, Result
from polhode.papers.reference import reference
from polhode.papers.vilmart_table import (
    PrintedAlgorithm4,
    PrintedNystrom,
    PrintedThreeRotation,
    our_table,
    printed_table,
)
from polhode.problems import problem_of
from polhode.results.run import Run
from polhode.results.style import COLOURS, house_style
from polhode.rotation import Potential, RigidBody, Rotation, State
from polhode.verify import audit
from polhode.verify.order import converge
from polhode.verify.trials import TRIALS

TABLE_2 = {  # method: (row of the paper, order, Qy, C, H, Poisson, symplectic) as printed
    "exact": ("Jacobi's analytic solution (Alg. 1)", "exact", True, True, True, True, True),
    "symmetric-rotation": ("Symmetric+Rotation splitting (Alg. 2)", "2", True, True, False, True, True),
    "dmv": ("RATTLE/DMV algorithm (Alg. 3)", "2", True, True, True, True, True),
    "midpoint": ("Implicit midpoint rule (Rem. 4)", "2", True, True, True, False, False),
    "dmv10": ("Preprocessed DMV algorithm (Alg. 4)", "10", True, True, True, True, False),
}
_COLUMNS = ("Qy", "C", "H", "Poisson", "symplectic")


def table_1() -> Check:
    """The printed coefficients against polhode's, in exact arithmetic."""
    I, H, C = (Fraction(3, 8), Fraction(5, 8), Fraction(7, 9)), Fraction(2, 7), Fraction(5, 3)
    printed, ours = printed_table(I, H, C), our_table(I, H, C)
    equal = [name for name in printed if printed[name] == ours[name]]
    return Check(
        "Table 1",
        "the coefficients s3 ... t7",
        ", ".join(printed),
        f"{len(equal)} of {len(printed)} equal, as fractions, to those that polhode runs",
        len(equal) == len(printed),
    )


def table_2() -> list[Check]:
    checks = []
    for name, (row, order, *ticks) in TABLE_2.items():
        certificate = audit(name)
        measured = [certificate.yes(column) for column in _COLUMNS]
        found = "exact" if np.isinf(certificate.order) else str(round(certificate.order))
        show = lambda order, marks: f"{order}; " + " ".join("✓" if m else "no" for m in marks)  # noqa: E731
        checks.append(
            Check(
                "Table 2",
                f"{row}: order; {', '.join(_COLUMNS)}",
                show(order, ticks),
                show(found, measured),
                found == order and measured == ticks,
                note=f"order {certificate.order:.2f}; one-step defects Poisson {certificate.defects['Poisson']:.0e}, "
                f"symplectic {certificate.defects['symplectic']:.0e}",
            )
        )
    return checks


def one_step_difference(a: str, b: str, loaded: bool) -> float:
    case = TRIALS[1] if loaded else TRIALS[0]
    system = Rotation(case.body, case.load)
    start = jax.tree.map(jnp.asarray, case.start.on(case.body))
    ends = [jax.jit(method_of(name).step)(system, start, 0.0, 0.1).state for name in (a, b)]
    turned = ends[0].attitude.conjugate * ends[1].attitude
    return float(turned.vector.norm() + (ends[0].momentum - ends[1].momentum).norm())


def heavy_top_setup() -> Problem:
    """Example 1 with the body of Fig. 1: asymmetric, U = Q33."""
    body = RigidBody((0.376, 0.627, 1.0))
    return Problem(
        Rotation(body, Potential(_height)),
        State.of(attitude=exp((0.4, -0.2, 0.3)), momentum=(0.3, 0.6, -0.8)),
    )


def _height(R: Any) -> Any:
    return R.m33


def algorithm_checks() -> list[Check]:
    free, top = TRIALS[0], TRIALS[1]
    pairs = {
        False: one_step_difference("rattle", "strang-dmv", False),
        True: one_step_difference("rattle", "strang-dmv", True),
    }
    printed_split = converge(PrintedThreeRotation(), free)
    printed_4 = converge(PrintedAlgorithm4(high_order=8), free)
    nystrom = converge(method_of("nystrom4-exact"), top).order
    printed_nystrom = converge(PrintedNystrom(), TRIALS[1]).order
    return [
        Check(
            "(11), (12)",
            "RATTLE and DMV are the same map (with a potential: Strang's splitting with DMV)",
            "equivalent",
            f"one step differs by {pairs[False]:.0e} free, {pairs[True]:.0e} on the heavy top",
            max(pairs.values()) < 1e-14,
        ),
        Check(
            "three rotations",
            "the splitting as printed, last factor R1 of half a step",
            "order 2",
            f"does not converge: error {printed_split.errors[-1]:.1e} at the shortest step",
            abs(printed_split.order - 2) < 0.2,
            expected=False,
            note=f"with R3 the order is {converge(method_of('three-rotation'), free).order:.2f}",
        ),
        Check(
            "Alg. 4",
            "h² before every term, as printed, for order 8",
            "order 8",
            f"order {printed_4.order:.2f}",
            abs(printed_4.order - 8) < 0.5,
            expected=False,
            note=f"with h², h⁴, h⁶ the order is {converge(method_of('dmv8'), free).order:.2f}",
        ),
        Check("Nyström", "the splitting with V has order 4", "4", f"{nystrom:.2f}", abs(nystrom - 4) < 0.1),
        Check(
            "Example 1",
            "the V flow as printed for the heavy top gives order 4",
            "4",
            f"{printed_nystrom:.2f}",
            abs(printed_nystrom - 4) < 0.3,
            expected=False,
            note="V = τ · J⁻¹τ has the flow (-2 Q32 Q33/I1, 2 Q31 Q33/I2, 2 Q31 Q32 (1/I1 - 1/I2))",
        ),
    ]


# --- Figure 1 ----------------------------------------------------------------------------


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


# --- beyond the paper: work and precision ------------------------------------------------

FREE = (
    "imidm", "swc1", "akw", "mk-rk4", "mk-gauss2", "three-rotation", "symmetric-rotation", "midpoint", "dmv", "dmv4",
    "dmv6", "dmv8", "dmv10", "kahan-li6-imidm", "exact",
)  # fmt: skip
LOADED = (
    "imidm", "swc1", "akw", "mk-rk4", "mk-gauss2", "strang-symmetric-rotation", "strang-dmv", "strang-exact",
    "nystrom4-exact", "nystrom4-dmv10", "rkn6-exact", "rkn6-dmv10", "suzuki4-strang-dmv", "kahan-li6-strang-dmv",
    "kahan-li8-strang-dmv",
)  # fmt: skip


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


# --- beyond the paper: round-off ---------------------------------------------------------

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
