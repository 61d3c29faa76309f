"""Pictures of a system's motion, from its Dataset, so that a file loaded later plots like a run just made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import xarray

from polhode.model.checks import InputError, unknown
from polhode.results.panels import Panel, draw_energy, drawing_on, labelled, legend, line, page, run_line
from polhode.results.style import plain

_STILL = 1e-9  # of the largest distance from the origin: a path smaller than this is a point


@dataclass(frozen=True)
class SystemPlots:
    dataset: xarray.Dataset

    def __call__(self, path: str | Path | None = None) -> Any:
        """What there is of observables (those of one unit together), energy, paths, and residuals of constraints."""
        d = self.dataset
        panels: list[Panel] = [(partial(self.observables, *names), None) for names in self._by_unit().values()]
        panels.append((self.energy, None))
        if self._lines():
            panels.append((self.path, None))
        panels += [(getattr(self, name), None) for name in residuals(d.slip, d.gap)]
        return page(panels, f"{d.attrs['method']}, step {d.attrs['step']:g} s, {d.attrs['steps']} steps", path)

    def observables(self, *names: str, ax: Any = None, path: str | Path | None = None) -> Any:
        """Those named, over time, if they have one unit; or all, a panel for each unit."""
        groups = self._by_unit(names)
        if not groups:
            raise InputError("this system has no observables; give System(..., observables={'x': (function, 'm')})")
        if len(groups) > 1:
            if ax is not None:
                raise InputError(
                    f"observables of the units {', '.join(groups)} do not fit one axis; name those of one unit"
                )
            return page([(partial(self.observables, *group), None) for group in groups.values()], "Observables", path)
        ((unit, shown),) = groups.items()
        with drawing_on(ax, path) as ax:
            lines = [line(ax, self.dataset.t, self._observable(name), k) for k, name in enumerate(shown)]
            title = plain(shown[0], 40) if len(shown) == 1 else "Observables"
            ax.set(title=title, xlabel="t (s)", ylabel=labelled(", ".join(shown), unit))
            if len(shown) > 1:
                legend(ax, lines, shown)
            return ax.figure

    def energy(self, *, ax: Any = None, path: str | Path | None = None) -> Any:
        """The relative change of the total energy; where the system does not conserve it, the energy and its parts."""
        d = self.dataset
        conserved = "energy" in d.attrs.get("conserved", "").split()
        with drawing_on(ax, path) as ax:
            draw_energy(ax, d.t, d.energy, d.kinetic, d.potential, conserved)
            return ax.figure

    def path(self, *, ax: Any = None, path: str | Path | None = None) -> Any:
        """Contacts and other points followed, or else the centres of mass, seen from above; those that move in an
        upright plane, from its side."""
        lines = self._lines()
        if not lines:
            raise InputError("nothing moves in this run, so there is no path to draw")
        with drawing_on(ax, path) as ax:
            draw_paths(ax, lines, self.dataset.attrs.get("up", "z"))
            return ax.figure

    def constraints(self, *, path: str | Path | None = None) -> Any:
        """What there is of slip and gap, a panel each."""
        d = self.dataset
        panels: list[Panel] = [(getattr(self, name), None) for name in residuals(d.slip, d.gap)]
        if not panels:
            raise InputError("this run has no constraints, or keeps them exactly: there are no residuals to draw")
        return page(panels, "Residuals of the constraints", path)

    def slip(self, *, ax: Any = None, path: str | Path | None = None) -> Any:
        """The largest residual of the rows that roll or otherwise bind velocities."""
        return self._residual("slip", ax, path)

    def gap(self, *, ax: Any = None, path: str | Path | None = None) -> Any:
        """The largest residual of joints and contacts: how far they are apart."""
        return self._residual("gap", ax, path)

    def _residual(self, name: str, ax: Any, path: str | Path | None) -> Any:
        values = self.dataset[name]
        if not values.any():
            raise InputError(f"the {name} of this run is zero throughout: there is nothing to draw")
        with drawing_on(ax, path) as ax:
            draw_residual(ax, name, [(self.dataset.t, values)])
            return ax.figure

    def forces(self, *rows: str, ax: Any = None, path: str | Path | None = None) -> Any:
        """Forces and torques of the rows named, or of all, half a step before each sample."""
        d = self.dataset
        shown = rows or tuple(map(str, d.row.values))
        if not shown:
            raise InputError("this system has no constraints, so there are no constraint forces to draw")
        for name in shown:
            if name not in d.row.values:
                raise unknown("row", name, list(d.row.values))
        after = slice(1, None) if d.sizes["t"] > 1 else slice(None)
        with drawing_on(ax, path) as ax:
            lines = [
                line(ax, d.t[after], d.force.sel(row=name)[after], k, linewidth=0.9) for k, name in enumerate(shown)
            ]
            ax.set(title="Constraint forces", xlabel="t (s)", ylabel="force (N) or torque (N m)")
            legend(ax, lines, shown)
            return ax.figure

    def _by_unit(self, names: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
        """Unit -> the observables that have it."""
        known = tuple(map(str, np.atleast_1d(self.dataset.attrs["observables"])))
        found: dict[str, tuple[str, ...]] = {}
        for name in names or known:
            if name not in known:
                raise unknown("observable", name, known)
            unit = self._observable(name).attrs["units"]
            found[unit] = (*found.get(unit, ()), name)
        return found

    def _observable(self, name: str) -> xarray.DataArray:
        other = f"observable_{name}"  # where the system itself has a quantity of this name
        return self.dataset[other if other in self.dataset else name]

    def _lines(self) -> dict[str, np.ndarray]:
        d = self.dataset
        traces = {str(p): d.trace.sel(point=p).values for p in d.point.values}
        return moving(traces or {str(b): d.position.sel(body=b).values for b in d.body.values})


def moving(points: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Those of the paths (samples, 3) that are more than a point; of a single sample, all."""
    size = max((float(np.abs(p).max()) for p in points.values()), default=0.0)
    return {name: p for name, p in points.items() if len(p) == 1 or np.ptp(p, axis=0).max() > _STILL * size}


def draw_paths(ax: Any, paths: dict[str, np.ndarray], up: str, *, named: bool = True) -> None:
    """One line a path, seen from above; those of an upright plane from its side, where from above they are a line."""
    vertical, sign = "xyz".index(up[-1]), -1 if up.startswith("-") else 1
    level = [k for k in range(3) if k != vertical]
    extent = np.max([np.ptp(p, axis=0) for p in paths.values()], axis=0)
    flat = [k for k in level if extent[k] <= _STILL * extent.max() < extent[vertical]]
    if flat:
        across, height, title = sum(level) - flat[0], vertical, f"Path seen along {'xyz'[flat[0]]}"
        upside_down = sign < 0
    else:
        (across, height), title = level, "Path from above"
        upside_down = sign * (1, -1, 1)[vertical] < 0  # else it would be seen from below
    draw = line if named else run_line
    lines = [draw(ax, p[:, across], p[:, height], k, linewidth=1.0) for k, p in enumerate(paths.values())]
    ax.set(title=title, xlabel=f"{'xyz'[across]} (m)", ylabel=f"{'xyz'[height]} (m)")
    ax.set_aspect("equal", adjustable="datalim")
    if upside_down:
        ax.invert_yaxis()
    if named and len(lines) > 1:
        legend(ax, lines, list(paths))
    elif named:
        ax.set_title(f"{title}: {plain(next(iter(paths)), 24)}")


def residuals(slip: Any, gap: Any) -> tuple[str, ...]:
    """Those of the two that are not zero throughout: a system without rolling rows has no slip."""
    return tuple(name for name, values in (("slip", slip), ("gap", gap)) if np.any(values))


def draw_residual(ax: Any, name: str, runs: Sequence[tuple[Any, Any]]) -> None:
    """Dots for each (times, values), of those that are not zero: residuals at round-off are noise, not lines."""
    for k, (t, values) in enumerate(runs):
        size = np.asarray(values)
        line(ax, t, np.where(size > 0, size, np.nan), k, marker=".", markersize=4, linestyle="", markeredgewidth=0)
    ax.set_yscale("log")
    what, unit = {"slip": ("Largest slip", "m/s or rad/s"), "gap": ("Largest gap", "m or rad")}[name]
    ax.set(title=what, xlabel="t (s)", ylabel=labelled(name, unit))
