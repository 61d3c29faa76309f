"""Pictures of a trajectory. Every function takes axes to draw on or makes a figure.

They read a Dataset, so a file loaded later plots like a run just made.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray

from polhode.model.checks import InputError
from polhode.results.panels import Panel, draw_energy, drawing_on, labelled, legend, line, page
from polhode.results.style import COLOURS
from polhode.rotation import RigidBody


@dataclass(frozen=True)
class Plots:
    dataset: xarray.Dataset

    def __call__(self, path: str | Path | None = None) -> Any:
        """Four on one page: energy, momentum, attitude, and the path of an axis or of the angular velocity."""
        d = self._one_body()
        if "twist_rate" in d:
            last: tuple[Panel, Panel] = (self.material_momentum, None), (self.director, "3d")
        else:
            path_of = (self.polhode, "3d") if self._conserved("kinetic") else (self.tip, None)
            last = (self.attitude, None), path_of
        title = f"{d.attrs['method']}, step {d.attrs['step']:g} s, {d.attrs['steps']} steps"
        return page([(self.energy, None), (self.momentum, None), *last], title, path)

    def energy(self, *, ax: Any = None, path: str | Path | None = None) -> Any:
        """The relative change of the total energy; where the load does not conserve it, the energy and its parts."""
        d = self._one_body()
        with drawing_on(ax, path) as ax:
            draw_energy(ax, d.t, d.energy, d.kinetic, d.potential, self._conserved("energy"))
            return ax.figure

    def momentum(self, *, ax: Any = None, path: str | Path | None = None) -> Any:
        """The angular momentum in space, which stands still without a torque."""
        d = self._one_body()
        return self._components(d.spatial_momentum, "Momentum in space", "π", "xyz", ax, path)

    def material_momentum(self, *, ax: Any = None, path: str | Path | None = None) -> Any:
        """The angular momentum in body components; of a free non-twisting body all three stand still."""
        d = self._one_body()
        return self._components(d.momentum, "Momentum in the body", "Π", "123", ax, path)

    def director(self, *, ax: Any = None, path: str | Path | None = None) -> Any:
        """The path of the third body axis d3 on the unit sphere."""
        d3 = self._body_axes()[2]
        with drawing_on(ax, path, projection="3d") as ax:
            ax.plot_surface(*_ball(), color="#cfe0ee", alpha=0.35, linewidth=0)
            _curve(ax, d3)
            ax.set_title("Third body axis on the unit sphere")
            _frame(ax, [f"{axis} (1)" for axis in "xyz"])
            return ax.figure

    def attitude(self, *, ax: Any = None, path: str | Path | None = None) -> Any:
        """Where the body's own axes point: their height above the horizon."""
        d = self._one_body()
        with drawing_on(ax, path) as ax:
            lines = [line(ax, d.t, axis[2], k) for k, axis in enumerate(self._body_axes())]
            ax.set(title="Height of axes", xlabel="t (s)", ylabel="R₃ⱼ (1)", ylim=(-1.05, 1.05))
            legend(ax, lines, ["axis 1", "axis 2", "axis 3"])
            return ax.figure

    def tip(self, *, ax: Any = None, path: str | Path | None = None) -> Any:
        """The tip of the third body axis, seen from above."""
        x, y, _ = self._body_axes()[2]
        with drawing_on(ax, path) as ax:
            line(ax, x, y, linewidth=0.9)
            line(ax, x[:1], y[:1], 6, markersize=4)
            tip_axes(ax)
            return ax.figure

    def polhode(self, *, ax: Any = None, path: str | Path | None = None) -> Any:
        """The path of the angular velocity in the body: of a free one, on the inertia ellipsoid Ω·IΩ = 2K."""
        d = self._one_body()
        with drawing_on(ax, path, projection="3d") as ax:
            if self._conserved("kinetic"):
                body = RigidBody(np.reshape(d.attrs["inertia"], (3, 3)), allow_unphysical=True)
                axes = np.eye(3) if body.axes is None else body.axes.matrix().array
                semi_axes = np.sqrt(2 * float(d.kinetic[0]) / np.array([*body.moments]))
                surface = np.einsum("ij,jkl->ikl", axes * semi_axes, _ball())
                ax.plot_surface(*surface, color="#cfe0ee", alpha=0.35, linewidth=0)
                ax.set_title("Polhode on the inertia ellipsoid")
            else:
                ax.set_title("Angular velocity in the body")
            _curve(ax, d.omega.values.T)
            _frame(ax, ["Ω₁ (rad/s)", "Ω₂ (rad/s)", "Ω₃ (rad/s)"])
            return ax.figure

    def _components(self, values: xarray.DataArray, title: str, name: str, marks: str, ax: Any, path: Any) -> Any:
        with drawing_on(ax, path) as ax:
            lines = [line(ax, values.t, values.sel(axis=axis), k) for k, axis in enumerate("xyz")]
            ax.set(title=title, xlabel="t (s)", ylabel=labelled(name, "kg m²/s"))
            legend(ax, lines, [f"{name} {mark}" for mark in marks])
            return ax.figure

    def _body_axes(self) -> tuple[tuple[np.ndarray, ...], ...]:
        """The columns of R, each with its three components over time."""
        w, x, y, z = (self._one_body().attitude.sel(quaternion=c).values for c in "wxyz")
        return (
            (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)),
            (2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)),
            (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)),
        )

    def _conserved(self, name: str) -> bool:
        """Whether the motion conserves it; a file that does not say is not taken to."""
        return name in self.dataset.attrs.get("conserved", "").split()

    def _one_body(self) -> xarray.Dataset:
        if self.dataset.energy.ndim > 1:
            raise InputError(
                f"this run is a batch of shape {self.dataset.energy.shape[1:]}; plot one member: "
                "polhode.results.Plots(run.dataset.isel(body=0)).energy()"
            )
        return self.dataset


def tip_axes(ax: Any) -> None:
    ax.set(title="Tip of body axis 3 from above", xlabel="R₁₃ (1)", ylabel="R₂₃ (1)")
    ax.locator_params(axis="x", nbins=6)
    ax.set_aspect("equal", adjustable="datalim")


def _ball() -> np.ndarray:
    """The unit sphere, (3, 41, 21)."""
    u, v = np.mgrid[0 : 2 * np.pi : 41j, 0 : np.pi : 21j]
    return np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)])


def _curve(ax: Any, points: Any) -> None:
    """A path in space and where it starts."""
    ax.plot(*points, color=COLOURS[1], linewidth=1.2)
    ax.scatter(*(c[:1] for c in points), color=COLOURS[6], s=15)


def _frame(ax: Any, labels: list[str]) -> None:
    ax.set(xlabel=labels[0], ylabel=labels[1], zlabel=labels[2])
    ax.locator_params(nbins=5)
    ax.tick_params(labelsize=8, pad=1)
    ax.set_box_aspect((1, 1, 1), zoom=0.88)  # a cube, with room for its labels
    ax.set_aspect("equal", adjustable="datalim")
