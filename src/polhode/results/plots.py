"""Pictures of a trajectory. Every function takes axes to draw on or makes a figure.

They read a Dataset, so a file loaded later plots like a run just made.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray

from polhode.mechanics import RigidBody
from polhode.mechanics.checks import InputError
from polhode.results.style import COLOURS, house_style


@dataclass(frozen=True)
class Plots:
    dataset: xarray.Dataset

    def __call__(self, path: str | Path | None = None) -> Any:
        """All four on one page."""
        with house_style() as Figure:
            figure = Figure(figsize=(11, 8))
            grid = figure.add_gridspec(2, 2)
            self.energy(ax=figure.add_subplot(grid[0, 0]))
            self.momentum(ax=figure.add_subplot(grid[0, 1]))
            if "twist_rate" in self.dataset:
                self.material_momentum(ax=figure.add_subplot(grid[1, 0]))
                self.director(ax=figure.add_subplot(grid[1, 1], projection="3d"))
            else:
                self.attitude(ax=figure.add_subplot(grid[1, 0]))
                self.polhode(ax=figure.add_subplot(grid[1, 1], projection="3d"))
            attrs = self.dataset.attrs
            figure.suptitle(f"{attrs['method']}, step {attrs['step']:g} s, {attrs['steps']} steps", x=0.01, ha="left")
            if path is not None:
                figure.savefig(path)
            return figure

    def energy(self, *, ax: Any = None, path: str | Path | None = None) -> Any:
        """The relative change of the total energy; its parts where there is a potential."""
        d = self._one_body()
        scale = abs(float(d.energy[0])) or 1.0
        with drawing_on(ax, path) as ax:
            ax.plot(d.t, (d.energy - d.energy[0]) / scale, color=COLOURS[0])
            ax.set(title="Energy", xlabel="t (s)", ylabel="(E − E₀) / |E₀|" if scale != 1.0 else "E − E₀ (J)")
            return ax.figure

    def momentum(self, *, ax: Any = None, path: str | Path | None = None) -> Any:
        """The angular momentum in space, which stands still without a torque."""
        d = self._one_body()
        with drawing_on(ax, path) as ax:
            for axis, colour in zip("xyz", COLOURS, strict=False):
                ax.plot(d.t, d.spatial_momentum.sel(axis=axis), color=colour, label=f"π {axis}")
            ax.set(title="Spatial angular momentum", xlabel="t (s)", ylabel="kg m²/s")
            ax.legend(ncols=3)
            return ax.figure

    def material_momentum(self, *, ax: Any = None, path: str | Path | None = None) -> Any:
        """The angular momentum in body components; of a free non-twisting body all three stand still."""
        d = self._one_body()
        with drawing_on(ax, path) as ax:
            for k, (axis, colour) in enumerate(zip("xyz", COLOURS, strict=False), 1):
                ax.plot(d.t, d.momentum.sel(axis=axis), color=colour, label=f"Π{k}")
            ax.set(title="Material angular momentum", xlabel="t (s)", ylabel="kg m²/s")
            ax.legend(ncols=3)
            return ax.figure

    def director(self, *, ax: Any = None, path: str | Path | None = None) -> Any:
        """The path of the third body axis d3 on the unit sphere."""
        d = self._one_body()
        w, x, y, z = (d.attitude.sel(quaternion=c).values for c in "wxyz")
        d3 = 2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)
        u, v = np.mgrid[0 : 2 * np.pi : 41j, 0 : np.pi : 21j]
        with drawing_on(ax, path, projection="3d") as ax:
            ball = np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)
            ax.plot_surface(*ball, color="#cfe0ee", alpha=0.35, linewidth=0)
            ax.plot(*d3, color=COLOURS[1], linewidth=1.2)
            ax.scatter(*(c[:1] for c in d3), color=COLOURS[6], s=15)
            ax.set(title="d3 on the sphere", xlabel="x", ylabel="y", zlabel="z")
            ax.set_aspect("equal")
            return ax.figure

    def attitude(self, *, ax: Any = None, path: str | Path | None = None) -> Any:
        """Where the body's own axes point: their height above the horizon."""
        d = self._one_body()
        w, x, y, z = (d.attitude.sel(quaternion=c) for c in "wxyz")
        heights = (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y))
        with drawing_on(ax, path) as ax:
            for k, (height, colour) in enumerate(zip(heights, COLOURS, strict=False), 1):
                ax.plot(d.t, height, color=colour, label=f"body axis {k}")
            ax.set(title="Height of the body axes (R₃ⱼ)", xlabel="t (s)", ylim=(-1.05, 1.05))
            ax.legend(ncols=3)
            return ax.figure

    def polhode(self, *, ax: Any = None, path: str | Path | None = None) -> Any:
        """The path of the angular velocity on the inertia ellipsoid Ω·IΩ = 2K of the start."""
        d = self._one_body()
        inertia = np.reshape(d.attrs["inertia"], (3, 3))
        body = RigidBody(inertia, allow_unphysical=True)
        axes = np.eye(3) if body.axes is None else body.axes.matrix().array
        semi_axes = np.sqrt(2 * float(d.kinetic[0]) / np.array([*body.moments]))
        u, v = np.mgrid[0 : 2 * np.pi : 41j, 0 : np.pi : 21j]
        ball = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)], axis=-1)
        surface = (ball * semi_axes) @ axes.T
        with drawing_on(ax, path, projection="3d") as ax:
            ax.plot_surface(*np.moveaxis(surface, -1, 0), color="#cfe0ee", alpha=0.35, linewidth=0)
            ax.plot(*d.omega.values.T, color=COLOURS[1], linewidth=1.2)
            ax.scatter(*d.omega.values[:1].T, color=COLOURS[6], s=15)
            ax.set(title="Polhode on the inertia ellipsoid", xlabel="Ω₁", ylabel="Ω₂", zlabel="Ω₃")
            ax.set_aspect("equal")
            return ax.figure

    def _one_body(self) -> xarray.Dataset:
        if self.dataset.energy.ndim > 1:
            raise InputError(
                f"this run is a batch of shape {self.dataset.energy.shape[1:]}; plot one member: "
                "polhode.results.Plots(run.dataset.isel(body=0)).energy()"
            )
        return self.dataset


class drawing_on:  # noqa: N801 (used like a function)
    """Draw on the axes given, or on a figure of its own, saved if a path is given."""

    def __init__(self, ax: Any, path: str | Path | None, projection: str | None = None) -> None:
        self.ax, self.path, self.projection = ax, path, projection
        self.style = house_style()

    def __enter__(self) -> Any:
        Figure = self.style.__enter__()
        if self.ax is None:
            self.ax = Figure(figsize=(6.5, 4.2)).add_subplot(projection=self.projection)
        return self.ax

    def __exit__(self, *error: Any) -> None:
        if self.path is not None and error[0] is None:
            self.ax.figure.savefig(self.path)
        self.style.__exit__(*error)
