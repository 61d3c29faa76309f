"""Several runs of one problem in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from polhode.results.run import Run
from polhode.results.style import COLOURS, house_style
from polhode.results.system_run import SystemRun


def compare(runs: Sequence[Run], title: str, path: str | Path | None = None) -> Any:
    """Energy, vertical momentum, the tip of the body's third axis seen from above, and
    its height: one line a run."""
    with house_style() as Figure:
        figure = Figure(figsize=(11, 8))
        energy, momentum, height, tip = figure.subplots(2, 2).ravel()
        for i, run in enumerate(runs):
            style: dict[str, Any] = {
                "color": COLOURS[i % len(COLOURS)],
                "linestyle": ("-", "--", ":", "-.")[i // len(COLOURS) % 4],
                "label": f"{run.method.name}, h = {run.step:g}",
            }
            R = run.attitude
            energy.plot(run.t, _relative(run.energy), **style)
            momentum.plot(run.t, _relative(run.spatial_momentum[:, 2]), **style)
            height.plot(run.t, R[:, 2, 2], **style)
            tip.plot(R[:, 0, 2], R[:, 1, 2], linewidth=0.8, **{k: v for k, v in style.items() if k != "linewidth"})
        energy.set(title="Energy, relative change", xlabel="t (s)")
        momentum.set(title="Vertical momentum, relative change", xlabel="t (s)")
        height.set(title="Height of body axis 3 (R₃₃)", xlabel="t (s)")
        tip.set(title="Tip of body axis 3 from above", xlabel="R₁₃", ylabel="R₂₃", aspect="equal")
        tip.set_aspect("equal", adjustable="datalim")
        handles, labels = energy.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(4, len(runs)))
        figure.suptitle(title, x=0.01, ha="left")
        if path is not None:
            figure.savefig(path)
        return figure


def _relative(values: np.ndarray) -> np.ndarray:
    return (values - values[0]) / (abs(values[0]) or 1.0)


def compare_systems(runs: Sequence[SystemRun], title: str, path: str | Path | None = None) -> Any:
    """Energy, the first observables, and the path from above: one line a run."""
    with house_style() as Figure:
        figure = Figure(figsize=(11, 8))
        energy, *axes = figure.subplots(2, 2).ravel()
        names = list(runs[0].observables)[:3]
        for i, run in enumerate(runs):
            style: dict[str, Any] = {
                "color": COLOURS[i % len(COLOURS)],
                "linestyle": ("-", "--", ":", "-.")[i // len(COLOURS) % 4],
                "label": f"{run.method.name}, h = {run.step:g}",
            }
            energy.plot(run.t, _relative(run.energy), **style)
            for ax, name in zip(axes, names, strict=False):
                ax.plot(run.t, run.observables[name].values, **style)
                ax.set(title=name, xlabel="t (s)")
        energy.set(title="Energy, relative change", xlabel="t (s)")
        handles, labels = energy.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(4, len(runs)))
        figure.suptitle(title, x=0.01, ha="left")
        if path is not None:
            figure.savefig(path)
        return figure
