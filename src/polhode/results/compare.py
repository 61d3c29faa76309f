"""Several runs of one problem in one picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from polhode.results.panels import Panel, change, labelled, page, run_line
from polhode.results.paths import draw_paths, moving, tip_axes
from polhode.results.residuals import draw_residual, residuals
from polhode.results.sizes import above_round_off
from polhode.results.style import exactly, plain

_OBSERVABLES = 4  # as many have a panel


def compare(runs: Sequence[Any], title: str, path: str | Path | None = None) -> Any:
    """One line a run. Of rotations: energy, momentum, the height of the body's third axis, and its tip seen from above.
    Of systems what there is of energy, the first observables, a path, slip and gap."""
    panels = _of_systems(runs) if "position" in runs[0] else _of_rotations(runs)
    return page([(_energy(runs), None), *panels], title, path, _names(runs))


def _of_rotations(runs: Sequence[Any]) -> list[Panel]:
    def height(ax: Any) -> None:
        for k, run in enumerate(runs):
            run_line(ax, run.t, run.attitude[:, 2, 2], k)
        ax.set(title="Height of body axis 3", xlabel="t (s)", ylabel="R₃₃ (1)")

    def tip(ax: Any) -> None:
        for k, run in enumerate(runs):
            run_line(ax, run.attitude[:, 0, 2], run.attitude[:, 1, 2], k, linewidth=0.8)
        tip_axes(ax)

    if "twist_rate" in runs[0]:
        name, words, where = "nonholonomic_momentum", ("First momentum in the body", "Π₁"), ("momentum", 0)
    else:
        name, words, where = "vertical_momentum", ("Vertical momentum", "π₃"), ("spatial_momentum", 2)
    momentum = _over_time(runs, name, (*words, "kg m²/s"), lambda run: (run[where[0]][:, where[1]], run[where[0]]))
    return [(momentum, None), (height, None), (tip, None)]


def _of_systems(runs: Sequence[Any]) -> list[Panel]:
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
        draw_residual(ax, name, [(run.t, above_round_off(run, name)) for run in runs])

    panels: list[Panel] = [(partial(observed, name), None) for name in list(runs[0].observables)[:_OBSERVABLES]]
    panels += [(partial(followed, name), None) for name in list(moving(_points(runs[0])))[:1]]
    slip, gap = (np.concatenate([run[name] for run in runs]) for name in ("slip", "gap"))
    return [*panels, *((partial(residual, name), None) for name in residuals(slip, gap))]


def _energy(runs: Sequence[Any]) -> Callable[..., None]:
    return _over_time(
        runs, "energy", ("Energy", "E", "J"), lambda run: (run["energy"], [run["kinetic"], run["potential"]])
    )


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


def _points(run: Any) -> dict[str, np.ndarray]:
    """The points it follows, or else the centres of mass."""
    return run.traces or {name: run["position"][:, i] for i, name in enumerate(run.system.names)}


def _names(runs: Sequence[Any]) -> list[str]:
    return [f"{run.method.name}, h = {exactly(run.step)} s" for run in runs]
