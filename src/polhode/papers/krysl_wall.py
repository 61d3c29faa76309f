"""Krysl (2007), Figures 4 and 5: 40 000 steps in a Coulombic potential with a soft wall."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.api import simulate
from polhode.papers.base import Check
from polhode.papers.krysl_convergence import COMPARED, PRESENT, STYLE
from polhode.problems import problem_of
from polhode.results.run import Run
from polhode.results.style import house_style
from polhode.simulation import StepError


def wall_run(name: str, sign: float, step: float, count: int = 40_000) -> Run:
    """The run, or as much of it as the method could solve."""
    setup = problem_of("coulomb-wall").problem(sign=sign)
    try:
        return simulate(setup.body, setup.load, setup.start, method=name, step=step, steps=count)
    except StepError as error:
        return error.run


def draw_wall(runs: dict[str, Run], names: tuple[str, ...], title: str, limit: float) -> Any:
    with house_style() as Figure:
        figure = Figure(figsize=(10, 1.5 + 1.35 * len(names)))
        axes = figure.subplots(len(names), 1, sharex=True, sharey=True)
        for ax, name in zip(axes, names, strict=True):
            run = runs[name]
            ax.plot(run.t, run.energy / run.energy[0], color=STYLE[name]["color"], linewidth=0.5, rasterized=True)
            ended = "" if run.ok else f": not solved beyond step {run.steps}"
            ax.set_title(name.upper() + ended, fontsize=9)
            ax.set_ylim(1 - limit, 1 + limit)
        axes[-1].set_xlabel("t (s)")
        figure.supylabel("H / H₀ (1)", fontsize=10)
        figure.suptitle(title, x=0.01, ha="left")
        return figure


def deviation(run: Run) -> float:
    return float(np.abs(run.energy / run.energy[0] - 1).max())


def wall_checks(printed: dict[str, Run], right: dict[str, Run], fine: dict[str, Run]) -> list[Check]:
    ours = {name: deviation(printed[name]) for name in PRESENT}
    theirs = {name: deviation(printed[name]) for name in COMPARED}
    R = printed["imidm"].attitude
    turns = np.einsum("nij,nij->n", R[1:], R[:-1])
    angle = np.degrees(np.arccos(np.clip((turns - 1) / 2, -1, 1))).max()
    failed = {name: run.steps for name, run in right.items() if not run.ok}
    return [
        Check(
            "5.4",
            "rotations within a step of well over 30°",
            "> 30°",
            f"up to {angle:.0f}° (IMIDM)",
            angle > 30,
        ),
        Check(
            "5.4, Figs 4, 5",
            "none of the solutions blow up in 40 000 steps of 0.5 (torque as printed)",
            "none",
            f"all {sum(run.ok for run in printed.values())} of 7 reach the end; largest |H/H₀ - 1| "
            f"{max(*ours.values(), *theirs.values()):.3f}",
            all(run.ok for run in printed.values()),
            note="the figures come from the torque as printed, which repels where the text says it attracts",
        ),
        Check(
            "5.4, Figs 4, 5",
            "the present algorithms stay within a fifth of the others' scale (torque as printed)",
            "1/5",
            f"{max(ours.values()) / max(theirs.values()):.2f} (largest |H/H₀ - 1|: {max(ours.values()):.4f} and "
            f"{max(theirs.values()):.4f})",
            max(ours.values()) < 0.3 * max(theirs.values()),
        ),
        Check(
            "5.4, Fig. 5",
            "the trapezoidal rules have a somewhat higher error than the midpoint rules (torque as printed)",
            "somewhat higher",
            f"TRAP {ours['trap']:.4f}, TRAPM {ours['trapm']:.4f}; IMID {ours['imid']:.4f}, IMIDM {ours['imidm']:.4f}",
            min(ours["trap"], ours["trapm"]) > max(ours["imid"], ours["imidm"]),
        ),
        Check(
            "5.4, Figs 4, 5",
            "none of the solutions blow up (torque as the text describes it: attraction and a wall)",
            "none",
            "not solved beyond step " + ", ".join(f"{n} ({name.upper()})" for name, n in failed.items()),
            not failed,
            expected=False,
            note="a step of 0.5 does not resolve the wall",
        ),
        Check(
            "5.4",
            "with the wall resolved (Δt = 0.01) all seven run 40 000 steps with bounded energy",
            "not said",
            f"largest |H/H₀ - 1| {min(map(deviation, fine.values())):.4f} to {max(map(deviation, fine.values())):.4f}",
            all(run.ok and deviation(run) < 0.02 for run in fine.values()),
        ),
    ]
