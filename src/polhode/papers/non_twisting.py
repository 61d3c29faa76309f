"""Gebhardt & Romero (2020): the rotating body on the non-twisting frame; Tables 1-9, Figures 1-12."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from polhode.algebra import exp
from polhode.api import simulate
from polhode.papers.base import Check, Paper, Part, Result, Say, agreeing_digits, truncated
from polhode.papers.catalogue import NONTWISTING
from polhode.papers.non_twisting_figures import beyond, compared, histories
from polhode.papers.non_twisting_tables import COMPARED, PRINTED_PUSH, QUOTIENTS, STATIONARY
from polhode.problems import problem_of
from polhode.results.run import Run
from polhode.verify import Quotient, quotient

STEP = 0.005
SECONDS = (1, 2, 3, 4, 5)


def run_case(case: int, method: str, **parameters: Any) -> Run:
    setup = problem_of(f"nontwisting-{case}").problem(**parameters)
    return simulate(setup.body, setup.load, setup.start, method=method, step=STEP, steps=1000)


def chord_energy(run: Run) -> np.ndarray:
    """(128): the kinetic energy of the chord from a step to the next."""
    J = run.body.tensor
    E = np.trace(J) / 2 * np.eye(3) - J
    rate = np.diff(run.attitude, axis=0) / run.step
    return 0.5 * np.einsum("nij,jk,nik->n", rate, E, rate)


def _numbers(where: str, claim: str, printed: tuple[str, ...], values: tuple[float, ...], note: str = "") -> Check:
    """Several printed numbers at once: all their digits must come out."""
    ours = [truncated(v, 6) for v in values]
    digits = [agreeing_digits(p, v, cut=True) for p, v in zip(printed, values, strict=True)]
    return Check(
        where, claim, ", ".join(printed), ", ".join(ours), ours == list(printed), digits=min(digits), note=note
    )


def stationary(case: int, run: Run) -> list[Check]:
    rows = []
    for second in SECONDS:
        i = round(second / STEP)
        Pi = run.state.momentum.array[i]
        rows.append(
            _numbers(
                f"Table {2 * case}", f"case {case}: Π1, Π2, K at t = {second}", STATIONARY[case],
                (Pi[0], Pi[1], float(run.energy[i])),
            )
        )  # fmt: skip
    return rows


def quotients(case: int, double: Quotient, rounded: Quotient) -> list[Check]:
    """The authors' directors had eight decimals; in double precision the last digits differ."""
    rows = []
    for second, printed in zip(SECONDS, QUOTIENTS[case], strict=True):
        i = round(second / STEP)
        ours, exact = float(rounded.values[i]), float(double.values[i])
        rows.append(
            Check(
                f"Table {2 * case - 1}",
                f"case {case}: QII at t = {second}, directors rounded to eight decimals",
                printed,
                truncated(ours, 6),
                truncated(ours, 6) == printed,
                digits=agreeing_digits(printed, ours, cut=True),
                note=f"in double precision {truncated(exact, 6)}: {agreeing_digits(printed, exact, cut=True)} digits",
            )
        )
    return rows


def table_of_methods(case: int, runs: dict[str, Run]) -> list[Check]:
    rows = []
    for name, run in runs.items():
        Pi, H = run.state.momentum.array[-1], float(run.energy[-1])
        K = H if name == "em" else float(chord_energy(run)[-1])
        rows.append(
            _numbers(
                f"Table {6 + case}", f"case {case}, {name.upper()}: Π1, Π2, H, K", COMPARED[case][name],
                (Pi[0], Pi[1], H, K),
                "" if name == "em" else "K is the energy of the chord (128), H of the momenta (129)",
            )
        )  # fmt: skip
    return rows


def off_plane(d3: np.ndarray) -> float:
    """How far a curve on the sphere is from the best plane through the centre."""
    return float(np.linalg.svd(d3, full_matrices=False)[1][-1] / np.sqrt(len(d3)))


def statements(runs: dict[int, dict[str, Run]], orders: dict[str, float], full: dict[str, float]) -> list[Check]:
    d3 = {case: by["em"].attitude[:, :, 2] for case, by in runs.items()}
    lag = {m: _turned(runs[1][m]) - np.hypot(6, 18) * 5.0 for m in ("em", "dla")}
    third = max(np.abs(by["em"].state.momentum.z).max() for by in runs.values())
    finer = quotient("nontwisting-2", "em", STEP / 2).solution(1).reshape(-1, 3, 3)[:, :, 2]
    shrinks = float(np.log2(off_plane(d3[2]) / off_plane(finer)))
    wrong = {c: run_case(c, "em", push=push).state.momentum.array[-1] for c, push in PRINTED_PUSH.items()}
    found = [
        Check("6.1, Fig. 3", "case 1: d3 moves in a plane through the centre", "geodesic",
              f"off the plane by {off_plane(d3[1]):.1e}", off_plane(d3[1]) < 1e-12),
        Check("6.2, Fig. 6", "case 2: d3 moves in a plane through the centre, under the load too", "geodesic",
              f"off the plane by {off_plane(d3[2]):.1e}, which shrinks as h^{shrinks:.2f}",
              off_plane(d3[2]) < 1e-5 and abs(shrinks - 2) < 0.05),
        Check("6.3, Fig. 9", "case 3: not during the first second, then a circle of radius 1", "not, then yes",
              f"off by {off_plane(d3[3][:201]):.1e}, then {off_plane(d3[3][200:]):.1e}",
              off_plane(d3[3][:201]) > 1e-3 and off_plane(d3[3][200:]) < 1e-7),
        Check("6", "the third component of the material momentum stays zero", "0", f"at most {third:.1e} kg m²/s",
              third < 2e-3, note="exactly zero at half steps; at the nodes O(h²) while a load acts"),
        Check("6.4, Fig. 10", "EM shows slower oscillations than DLA", "slower",
              f"after 5 s EM is {lag['em']:+.3f} rad, DLA {lag['dla']:+.3f} rad from the exact angle",
              lag["em"] < 0 and lag["em"] < lag["dla"]),
        Check("6.4", "both methods converge quadratically", "2",
              ", ".join(f"{name} {order:.4f}" for name, order in orders.items()),
              all(abs(order - 2) < 0.005 for order in orders.values()),
              note="order observed from the quotient, extrapolated (five step sizes)"),
        Check("6.4", "they take 3 to 4 Newton iterations on average", "3-4",
              ", ".join(f"{name} {count:.2f}" for name, count in full.items()),
              all(3 <= count <= 4 for count in full.values()),
              note="of the full systems of 16 unknowns; reduced, EM takes none without a load, else 1, and DLA 2"),
        Check("(126)", "G_d of DLA substantially differs from that of EM (93)", "differs",
              f"by {_difference_of_rows():.0e}: G is linear, its average over a chord is its value in the middle",
              _difference_of_rows() > 1e-12, expected=False,
              note="the methods differ in where the constraint forces act: at the middle, and at the nodes"),
    ]  # fmt: skip
    for case, Pi in wrong.items():
        equation = "(115)" if case == 2 else "(118)"
        printed = f"{STATIONARY[case][0]}, {STATIONARY[case][1]}"
        ours = f"{Pi[0]:.6f}, {Pi[1]:.6f}"
        found.append(
            Check(equation, f"case {case} with the amplitude as printed gives Table {2 * case}: Π1, Π2", printed, ours,
                  ours == printed, expected=False, note="one twentieth of it gives all digits of the tables")
        )  # fmt: skip
    return found


def _difference_of_rows() -> float:
    """(93) by quadrature against (126), for directors of two attitudes."""
    q0, q1 = np.eye(3), exp((0.3, -0.8, 0.5)).matrix().array
    points, weights = np.polynomial.legendre.leggauss(4)

    def row(q: np.ndarray) -> np.ndarray:
        return np.stack([q[:, 1], -q[:, 0]]) / 2  # a = ½ in (80)

    averaged = sum(w / 2 * row((1 - x) / 2 * q0 + (1 + x) / 2 * q1) for x, w in zip(points, weights, strict=True))
    return float(np.abs(averaged - row((q0 + q1) / 2)).max())


def _turned(run: Run) -> float:
    """The angle turned through, summed over the steps."""
    R = run.attitude
    cosine = (np.einsum("nij,nij->n", R[:-1], R[1:]) - 1) / 2
    return float(np.arccos(cosine).sum())


@cache
def _run(case: int, method: str) -> Run:
    """As the paper has it; several parts look at it."""
    return run_case(case, method)


@cache
def _quotient(case: int, method: str, decimals: int | None = None) -> Quotient:
    return quotient(f"nontwisting-{case}", method, STEP, decimals=decimals)


def one_case(case: int, say: Say) -> Result:
    """Two tables and three figures."""
    say(f"case {case}: second quotient of precision")
    double, rounded = _quotient(case, "em"), _quotient(case, "em", 8)
    run = _run(case, "em")
    return Result(quotients(case, double, rounded) + stationary(case, run), histories(case, run, double))


def comparison(say: Say) -> Result:
    """Tables 7 to 9, Figures 10 to 12."""
    say("Tables 7-9: three cases with EM and DLA")
    runs = {case: {method: _run(case, method) for method in ("em", "dla")} for case in (1, 2, 3)}
    checks = [check for case in (1, 2, 3) for check in table_of_methods(case, runs[case])]
    return Result(checks, compared(runs[1]))


def said(say: Say) -> Result:
    """What the text says."""
    say("orders and iterations")
    runs = {case: {method: _run(case, method) for method in ("em", "dla")} for case in (1, 2, 3)}
    orders = {m: float(_quotient(1, m).extrapolated_order[-1]) for m in ("em", "dla")}
    full = {f"{m}-full, case {c}": _run(c, f"{m}-full").trajectory.iterations for m in ("em", "dla") for c in (1, 3)}
    return Result(statements(runs, orders, full))


def further(say: Say) -> Result:
    say("beyond the paper: a twist at the start, a million steps, a potential")
    return Result(*beyond())


PAPER = Paper(
    "nontwisting",
    "C. G. Gebhardt, I. Romero, The rotating rigid body model based on a non-twisting frame (J. Nonlinear Sci. 2020)",
    (
        Part("case 1", partial(one_case, 1), ("table1", "table2", "fig1", "fig2", "fig3")),
        Part("case 2", partial(one_case, 2), ("table3", "table4", "fig4", "fig5", "fig6")),
        Part("case 3", partial(one_case, 3), ("table5", "table6", "fig7", "fig8", "fig9")),
        Part("comparison", comparison, ("table7", "table8", "table9", "fig10", "fig11", "fig12")),
        Part("statements", said, ("6.1", "6.2", "6.3", "6.4", "fig3", "fig6", "fig9", "fig10")),
        Part("beyond", further),
    ),
    NONTWISTING,
    "https://doi.org/10.1007/s00332-020-09648-3",
)
