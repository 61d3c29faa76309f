"""Solfec's heavy symmetrical top: the Hamiltonian of three schemes at three steps (Figs 2-4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.api import simulate
from polhode.papers.base import Check, Paper, PaperFigure, Part, Result, agreeing_digits
from polhode.papers.catalogue import SOLFEC_TOP
from polhode.papers.reference import reference
from polhode.problems import problem_of
from polhode.results.run import Run
from polhode.results.style import COLOURS, house_style

SCHEMES = ("rig_pos", "rig_neg", "rig_imp")
STEPS = (0.001, 0.003, 0.009)


def run_scheme(name: str, step: float) -> Run:
    setup = problem_of("heavy-top").problem()
    return simulate(setup.body, setup.load, setup.start, method=name, step=step, steps=int(10 / step + 1e-9))


def draw(runs: dict[float, Run], title: str) -> Any:
    with house_style() as Figure:
        figure = Figure(figsize=(10, 6.2))
        axes = figure.subplots(3, 1, sharex=True)
        for ax, (step, run), colour in zip(axes, runs.items(), COLOURS, strict=False):
            ax.plot(run.t, run.energy - run.energy[0], color=colour, linewidth=0.9)
            ax.set_title(f"h = {step:g}   (H₀ = {run.energy[0]:.6f})", fontsize=9)
        axes[1].set_ylabel("H − H₀ (J)")
        axes[-1].set_xlabel("t (s)")
        figure.suptitle(title, x=0.01, ha="left")
        return figure


def change(run: Run) -> float:
    """Largest |H - H₀| / H₀."""
    return run.drift(run.energy)


def trend(run: Run) -> float:
    """The change of the mean Hamiltonian from the first fifth to the last, relative."""
    fifth = len(run.t) // 5
    return float((run.energy[-fifth:].mean() - run.energy[:fifth].mean()) / run.energy[0])


def attitude_order(name: str) -> float:
    problem = problem_of("heavy-top")
    setup = problem.problem()
    start = setup.start.on(setup.body)
    exact = reference((5.0, 5.0, 1.0), 20.0, tuple(map(float, start.attitude)), (0.0, 0.0, 50.0), 1.0)
    errors = []
    for n in (1000, 2000):
        run = simulate(setup.body, setup.load, setup.start, method=name, step=1.0 / n, steps=n, every=n)
        errors.append(np.linalg.norm(run.attitude[-1] - exact.attitude, 2))
    return float(np.log2(errors[0] / errors[1]))


def compute(say: Callable[[str], None]) -> Result:
    say("Figs 2-4: Hamiltonian histories")
    runs = {name: {step: run_scheme(name, step) for step in STEPS} for name in SCHEMES}
    first = runs["rig_pos"][0.001]
    H0, tilt = float(first.energy[0]), float(first.attitude[0, 2, 2])
    changes = {name: {step: change(run) for step, run in by_step.items()} for name, by_step in runs.items()}
    trends = {name: trend(runs[name][0.009]) for name in SCHEMES}
    worst = max(changes[name][0.009] for name in SCHEMES)
    say("order of the schemes")
    orders = {name: attitude_order(name) for name in SCHEMES}
    rates = {name: np.log(abs(trend(runs[name][0.009]) / trend(runs[name][0.003]))) / np.log(3) for name in SCHEMES[:2]}
    angles = {step: np.degrees(50 * step) for step in STEPS}
    checks = [
        Check(
            "Results",
            "the Hamiltonian at the start",
            "1269.975",
            f"{H0:.11f}",
            agreeing_digits("1269.975", H0) == 7,
            digits=agreeing_digits("1269.975", H0),
        ),
        Check(
            "Results",
            "Λ33 at the start",
            "0.99875",
            f"{tilt:.11f}",
            agreeing_digits("0.99875", tilt) == 5,
            digits=agreeing_digits("0.99875", tilt),
        ),
        Check(
            "Results, Figs 2-4",
            "for the largest step the change of the Hamiltonian is smaller than 0.1 %",
            "< 1e-3",
            ", ".join(f"{name} {changes[name][0.009]:.1e}" for name in SCHEMES),
            worst < 1e-3,
            note="a loose bound: all stay below 1e-6",
        ),
        Check(
            "Figs 2, 3",
            "the sign of the drift at h = 0.009: RIG_POS gains, RIG_NEG loses, RIG_IMP only oscillates",
            "decay (Fig. 3)",
            ", ".join(f"{name} {trends[name]:+.1e}" for name in SCHEMES),
            trends["rig_pos"] > 0 > trends["rig_neg"]
            and abs(trends["rig_imp"]) < 0.05 * min(abs(trends["rig_pos"]), abs(trends["rig_neg"])),
        ),
        Check(
            "Results, Figs 2-4",
            "the drift shrinks rapidly with the step",
            "rapidly",
            ", ".join(f"{name} as h^{rates[name]:.2f}" for name in SCHEMES[:2]),
            all(2.5 < r < 3.5 for r in rates.values()),
        ),
        Check(
            "Results, Figs 2-4",
            "conservation is nearly exact for h = 0.001",
            "nearly exact",
            ", ".join(f"{name} {changes[name][0.001]:.1e}" for name in SCHEMES),
            max(changes[name][0.001] for name in SCHEMES) < 1e-8,
        ),
        Check(
            "Results",
            "the rotation in a step is about 26° for h = 0.009 and 3° for h = 0.001",
            "26°, 3°",
            f"{angles[0.009]:.1f}°, {angles[0.001]:.1f}°",
            round(angles[0.009]) == 26 and round(angles[0.001]) == 3,
        ),
        Check(
            "Summary",
            "second-order accuracy",
            "2",
            ", ".join(f"{name} {orders[name]:.3f}" for name in SCHEMES),
            all(abs(order - 2) < 0.05 for order in orders.values()),
        ),
    ]
    figures = [
        PaperFigure(
            f"solfec-top-{number}",
            f"Figure {number}. {name.upper()}",
            f"Change of the Hamiltonian of the heavy symmetrical top over [0, 10] with {name.upper()} for three steps; "
            "the vertical scales differ.",
            draw(runs[name], f"Heavy symmetrical top, {name.upper()}: change of the Hamiltonian"),
        )
        for number, name in zip((2, 3, 4), SCHEMES, strict=True)
    ]
    return Result(checks, figures)


PAPER = Paper(
    "solfec-top",
    "Solfec verification: heavy symmetrical top of Simo and Wong (schemes of Koziara and Bićanić 2010)",
    (Part("top", compute, ("fig2", "fig3", "fig4")),),
    SOLFEC_TOP,
    "https://doi.org/10.1002/nme.1620310103",
)
