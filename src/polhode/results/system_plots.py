"""Pictures of a system's motion, from its Dataset, so that a file loaded later plots like a run just made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray

from polhode.results.plots import drawing_on
from polhode.results.style import COLOURS, house_style


@dataclass(frozen=True)
class SystemPlots:
    dataset: xarray.Dataset

    def __call__(self, path: str | Path | None = None) -> Any:
        """Observables, energy, the path from above, and how well the constraints are kept."""
        with house_style() as Figure:
            figure = Figure(figsize=(11, 8))
            axes = figure.subplots(2, 2).ravel()
            for draw, ax in zip((self.observables, self.energy, self.path, self.constraints), axes, strict=True):
                draw(ax=ax)
            attrs = self.dataset.attrs
            figure.suptitle(f"{attrs['method']}, step {attrs['step']:g} s, {attrs['steps']} steps", x=0.01, ha="left")
            if path is not None:
                figure.savefig(path)
            return figure

    def observables(self, *names: str, ax: Any = None, path: str | Path | None = None) -> Any:
        """Those named, or all, over time."""
        d = self.dataset
        shown = names or tuple(np.atleast_1d(d.attrs["observables"]))
        with drawing_on(ax, path) as ax:
            for name, colour in zip(shown, COLOURS, strict=False):
                ax.plot(
                    d.t,
                    d[f"observable_{name}" if f"observable_{name}" in d else name],
                    color=colour,
                    linewidth=1.0,
                    label=name,
                )
            ax.set(title="Observables", xlabel="t (s)")
            if shown:
                ax.legend(ncols=2)
            return ax.figure

    def energy(self, *, ax: Any = None, path: str | Path | None = None) -> Any:
        """The change of the total energy, relative to the start."""
        d = self.dataset
        scale = abs(float(d.energy[0])) or 1.0
        with drawing_on(ax, path) as ax:
            ax.plot(d.t, (d.energy - d.energy[0]) / scale, color=COLOURS[0], linewidth=1.0)
            ax.set(title="Energy", xlabel="t (s)", ylabel="(E − E₀) / |E₀|")
            return ax.figure

    def path(self, *, ax: Any = None, path: str | Path | None = None) -> Any:
        """Contacts and other points followed, or else the centres of mass, seen from above."""
        d = self.dataset
        lines = [(str(p), d.trace.sel(point=p)) for p in d.point.values]
        lines = lines or [(str(b), d.position.sel(body=b)) for b in d.body.values]
        with drawing_on(ax, path) as ax:
            for (name, points), colour in zip(lines, COLOURS, strict=False):
                ax.plot(points.sel(axis="x"), points.sel(axis="y"), color=colour, linewidth=1.0, label=name)
            ax.set(title="Path from above", xlabel="x (m)", ylabel="y (m)")
            ax.set_aspect("equal", adjustable="datalim")
            ax.legend()
            return ax.figure

    def constraints(self, *, ax: Any = None, path: str | Path | None = None) -> Any:
        """Largest residuals: slip of rolling rows, gaps of joints and contacts."""
        d = self.dataset
        with drawing_on(ax, path) as ax:
            for values, name, colour in ((d.slip, "slip (m/s)", COLOURS[0]), (d.gap, "gap (m)", COLOURS[1])):
                ax.semilogy(d.t, np.maximum(values, 1e-18), color=colour, linewidth=0.9, label=name)
            ax.set(title="Constraint residuals", xlabel="t (s)")
            ax.legend()
            return ax.figure

    def forces(self, *rows: str, ax: Any = None, path: str | Path | None = None) -> Any:
        """Forces and torques of the rows named, or of all, half a step before each sample."""
        d = self.dataset
        with drawing_on(ax, path) as ax:
            for name, colour in zip(rows or d.row.values, COLOURS * 4, strict=False):
                ax.plot(d.t[1:], d.force.sel(row=name)[1:], color=colour, linewidth=0.9, label=str(name))
            ax.set(title="Constraint forces", xlabel="t (s)", ylabel="N, N m")
            ax.legend(ncols=2, fontsize=7)
            return ax.figure
