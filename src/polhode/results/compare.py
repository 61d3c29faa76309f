"""Several runs of one problem in one picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from polhode.results.panels import Panel, change, labelled, page, run_line
from polhode.results.plots import tip_axes
from polhode.results.run import Run
from polhode.results.style import exactly, plain
from polhode.results.system_plots import draw_paths, draw_residual, moving, residuals
from polhode.results.system_run import SystemRun

_OBSERVABLES = 4  # as many of a system's have a panel


def compare(runs: Sequence[Run], title: str, path: str | Path | None = None) -> Any:
    """Energy, momentum, the height of the body's third axis, and its tip seen from above: one line a run."""

    def height(ax: Any) -> None:
        for k, run in enumerate(runs):
            run_line(ax, run.t, run.attitude[:, 2, 2], k)
        ax.set(title="Height of body axis 3", xlabel="t (s)", ylabel="R₃₃ (1)")

    def tip(ax: Any) -> None:
        for k, run in enumerate(runs):
            run_line(ax, run.attitude[:, 0, 2], run.attitude[:, 1, 2], k, linewidth=0.8)
        tip_axes(ax)

    unit = "kg m²/s"
    if runs[0].body.twist_axis is None:
        momentum = _over_time(
            runs,
            "vertical_momentum",
            ("Vertical momentum", "π₃", unit),
            lambda run: (run.spatial_momentum[:, 2], run.spatial_momentum),
        )
    else:
        momentum = _over_time(
            runs,
            "nonholonomic_momentum",
            ("First momentum in the body", "Π₁", unit),
            lambda run: (run.state.momentum.x, run.state.momentum.array),
        )
    panels: list[Panel] = [(_energy(runs), None), (momentum, None), (height, None), (tip, None)]
    return page(panels, title, path, _names(runs))


def compare_systems(runs: Sequence[SystemRun], title: str, path: str | Path | None = None) -> Any:
    """What there is of energy, the first observables, a path, slip and gap: one line a run."""

    def observed(name: str, ax: Any) -> None:
        for k, run in enumerate(runs):
            run_line(ax, run.t, run.observables[name].values, k)
        unit = runs[0].observables[name].unit
        ax.set(title=plain(name, 40), xlabel="t (s)", ylabel=labelled(name, unit))

    def followed(name: str, ax: Any) -> None:
        paths = {str(k): _points(run)[name] for k, run in enumerate(runs)}
        draw_paths(ax, paths, runs[0].system.up, named=False)
        ax.set_title(f"{ax.get_title(loc='left')}: {plain(name, 24)}", loc="left")

    def residual(name: str, ax: Any) -> None:
        draw_residual(ax, name, [(run.t, getattr(run, name)) for run in runs])

    panels: list[Panel] = [(_energy(runs), None)]
    panels += [(partial(observed, name), None) for name in list(runs[0].observables)[:_OBSERVABLES]]
    panels += [(partial(followed, name), None) for name in list(moving(_points(runs[0])))[:1]]
    slip, gap = (np.concatenate([getattr(run, name) for run in runs]) for name in ("slip", "gap"))
    panels += [(partial(residual, name), None) for name in residuals(slip, gap)]
    return page(panels, title, path, _names(runs))


def _energy(runs: Sequence[Any]) -> Callable[..., None]:
    return _over_time(runs, "energy", ("Energy", "E", "J"), lambda run: (run.energy, [run.kinetic, run.potential]))


def _over_time(
    runs: Sequence[Any], name: str, words: tuple[str, str, str], read: Callable[[Any], tuple[Any, Any]]
) -> Callable[..., None]:
    """A panel of the quantity `name` (`words`: title, symbol, unit): its change where the motion conserves it, else
    itself. `read` gives a run's values and those whose size they are measured by."""
    title, symbol, unit = words
    conserved = all(name in run.conserved for run in runs)

    def draw(ax: Any) -> None:
        label = labelled(symbol, unit)
        for k, run in enumerate(runs):
            values, parts = read(run)
            if conserved:
                values, label = change(values, parts, symbol, unit)
            run_line(ax, run.t, values, k)
        said = f"{title}, change since the start" if conserved else f"{title}, changed by the load"
        ax.set(title=said, xlabel="t (s)", ylabel=label)

    return draw


def _points(run: SystemRun) -> dict[str, np.ndarray]:
    """The points it follows, or else the centres of mass."""
    return run.traces or {name: run.positions[:, i] for i, name in enumerate(run.system.names)}


def _names(runs: Sequence[Any]) -> list[str]:
    return [f"{run.method.name}, h = {exactly(run.step)} s" for run in runs]
