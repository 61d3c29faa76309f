"""The figures of Gebhardt & Romero (2020), and three that go beyond the paper."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from polhode.api import simulate
from polhode.papers.base import Check, PaperFigure
from polhode.problems import problem_of
from polhode.results.run import Run
from polhode.results.style import COLOURS, house_style
from polhode.rotation import NonTwistingBody, Potential, State
from polhode.verify import Quotient


def _components(ax: Any, t: np.ndarray, values: np.ndarray, names: str, title: str) -> None:
    for k, colour in zip(range(3), COLOURS, strict=False):
        ax.plot(t, values[:, k], color=colour, linewidth=1.0, label=f"{names}{k + 1}")
    ax.set(title=title, xlabel="t (s)", ylabel="kg m²/s")
    ax.legend(ncols=3)


def histories(case: int, run: Run, q: Quotient) -> list[PaperFigure]:
    """Three figures a case: momenta, energy and quotient, path of d3."""
    first = 3 * case - 2
    with house_style() as Figure:
        momenta = Figure(figsize=(10, 4))
        left, right = momenta.subplots(1, 2)
        _components(left, run.t, run.spatial_momentum, "π", "Spatial angular momentum")
        _components(right, run.t, run.state.momentum.array, "Π", "Material angular momentum")
        energy = Figure(figsize=(10, 4))
        left, right = energy.subplots(1, 2)
        left.plot(run.t, run.energy, color=COLOURS[0])
        left.set(title="Kinetic energy", xlabel="t (s)", ylabel="J")
        if np.ptp(run.energy) < 1e-6 * run.energy.max():
            left.set_ylim(0.98 * run.energy[0], 1.02 * run.energy[0])
        q.plot(ax=right)
        right.set_ylim(3.9, 4.1)
        path = run.plot.director()
    return [
        PaperFigure(f"nontwisting-{first}", f"Figure {first}. Case {case}: momenta",
                    "Components of the angular momentum in space (left) and in the body (right), EM.", momenta),
        PaperFigure(f"nontwisting-{first + 1}", f"Figure {first + 1}. Case {case}: energy and quotient",
                    "Kinetic energy (left) and second quotient of precision (right), EM with h = 0.005.", energy),
        PaperFigure(f"nontwisting-{first + 2}", f"Figure {first + 2}. Case {case}: path of d3",
                    "The third director on the unit sphere.", path),
    ]  # fmt: skip


def compared(runs: dict[str, Run]) -> list[PaperFigure]:
    """Figs 10-12: each component of d3, EM and DLA."""
    found = []
    for k in range(3):
        with house_style() as Figure:
            figure = Figure(figsize=(10, 4))
            for ax, (a, b) in zip(figure.subplots(1, 2), ((0, 5), (4, 5)), strict=True):
                for (name, run), colour, line in zip(runs.items(), COLOURS, ("-", "--"), strict=False):
                    ax.plot(run.t, run.attitude[:, k, 2], line, color=colour, linewidth=1.0, label=name.upper())
                ax.set(xlim=(a, b), xlabel="t (s)", ylabel=f"component {k + 1} of d3")
                ax.legend()
        found.append(
            PaperFigure(f"nontwisting-{10 + k}", f"Figure {10 + k}. Case 1: component {k + 1} of d3",
                        "EM and DLA, whole run and last second.", figure)
        )  # fmt: skip
    return found


def beyond() -> tuple[list[Check], list[PaperFigure]]:
    parts = (_initial_twist(), _million(), _potential())
    return [check for check, _ in parts], [figure for _, figure in parts]


def _initial_twist() -> tuple[Check, PaperFigure]:
    """Theorem 9 with w∥ ≠ 0 at the start: K exact, Π1 and Π2 swing by O(w∥ h²)."""
    twists, steps = (0.5, 0.05), (0.02, 0.01, 0.005)
    swings = np.zeros((2, 3))
    with house_style() as Figure:
        figure = Figure(figsize=(10, 4))
        left, right = figure.subplots(1, 2)
        for i, twist in enumerate(twists):
            for j, h in enumerate(steps):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # that w∥ is not zero is the point
                    run = simulate(NonTwistingBody((3.0, 4.0, 5.0)), None, State.of(omega=(1.0, 2.0, twist)),
                                   method="em", step=h, until=10.0)  # fmt: skip
                swings[i, j] = np.ptp(run.state.momentum.x)
                if i == 0:
                    left.plot(run.t, run.state.momentum.x - run.state.momentum.x[0], color=COLOURS[j],
                              linewidth=0.9, label=f"h = {h:g}")  # fmt: skip
                    energy = run.drift(run.energy)
            right.loglog(steps, swings[i], "o-", color=COLOURS[3 + i], label=f"w∥ = {twist:g} rad/s")
        left.set(title="Π1 − Π1(0), w∥ = 0.5 rad/s at the start", xlabel="t (s)", ylabel="kg m²/s")
        right.set(title="How far Π1 swings", xlabel="h (s)", ylabel="kg m²/s")
        left.legend()
        right.legend()
    in_h = float(np.log2(swings[0, 1] / swings[0, 2]))
    in_w = float(np.log10(swings[0, 1] / swings[1, 1]))
    check = Check(
        "Theorem 9", "with w∥ ≠ 0 at the start Π1 and Π2 are still constant", "exact",
        f"they swing as h^{in_h:.2f} and w∥^{in_w:.2f}; the kinetic energy stays within {energy:.0e}",
        bool(swings.max() < 1e-9) or abs(in_h - 2) > 0.1 or abs(in_w - 1) > 0.1, expected=False,
        note="the theorem needs w∥ = 0",
    )  # fmt: skip
    return check, PaperFigure("nontwisting-13", "Beyond the paper. A twist at the start",
                              "The small print of Theorem 9: a body that starts with w∥ ≠ 0.", figure)  # fmt: skip


def _million() -> tuple[Check, PaperFigure]:
    setup = problem_of("nontwisting-1").problem()
    run = simulate(setup.body, None, setup.start, method="em", step=0.005, steps=10**6, every=1000)
    K, Pi = run.energy / run.energy[0] - 1, run.state.momentum.array[:, :2]
    change = (Pi - Pi[0]) / np.linalg.norm(Pi[0])
    with house_style() as Figure:
        figure = Figure(figsize=(8, 4))
        ax = figure.subplots()
        for values, name, colour in (
            (K, "K", COLOURS[0]),
            *((change[:, k], f"Π{k + 1}", COLOURS[k + 1]) for k in (0, 1)),
        ):
            ax.plot(run.trajectory.steps, values, color=colour, linewidth=0.9, label=name)
        ax.set(title="Relative change over a million steps", xlabel="steps")
        ax.legend(ncols=3)
    worst = max(run.drift(run.energy), run.drift(Pi))
    check = Check("Theorem 9", "K, Π1 and Π2 over 10⁶ steps", "exact", f"within {worst:.1e}, relative", worst < 1e-12)
    return check, PaperFigure(
        "nontwisting-14", "Beyond the paper. A million steps", "Case 1 with EM, h = 0.005.", figure
    )


def _potential() -> tuple[Check, PaperFigure]:
    """A heavy top that may not spin: the non-twisting body under U = m g l d3 · e3."""
    start = State.of(directors=[(1, 0, 0), (0, np.cos(0.4), np.sin(0.4)), (0, -np.sin(0.4), np.cos(0.4))],
                     omega=(0.0, 1.5, 0.0))  # fmt: skip
    run = simulate(NonTwistingBody((3.0, 4.0, 5.0)), Potential(lambda R: 20.0 * R.m33), start, method="em",
                   step=0.005, until=20.0)  # fmt: skip
    with house_style() as Figure:
        figure = Figure(figsize=(10, 4.2))
        left = figure.add_subplot(1, 2, 1)
        for values, name, colour in zip((run.kinetic, run.potential, run.energy), "KUE", COLOURS, strict=False):
            left.plot(run.t, values, color=colour, linewidth=0.9, label=name)
        left.set(title="Energies of a heavy body on the non-twisting frame", xlabel="t (s)", ylabel="J")
        left.legend(ncols=3)
        run.plot.director(ax=figure.add_subplot(1, 2, 2, projection="3d"))
    drift = run.drift(run.energy)
    check = Check("beyond", "the energy under a potential, EM with the discrete gradient", "exact",
                  f"within {drift:.1e}, while K swings by {np.ptp(run.kinetic):.0f} J", drift < 1e-12)  # fmt: skip
    return check, PaperFigure("nontwisting-15", "Beyond the paper. Under a potential",
                              "A heavy body that does not twist: d3 swings all over the sphere.", figure)  # fmt: skip
