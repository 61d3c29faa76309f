"""Paths: of points in space, of an axis on the sphere, of the angular velocity in the body."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.model.checks import InputError
from polhode.results.axes import bodies_apart, body_axes, of_which
from polhode.results.panels import legend, line, run_line
from polhode.results.registry import conserved, plot, where
from polhode.results.style import COLOURS, plain, print_width
from polhode.rotation import RigidBody

_STILL = 1e-9  # of the largest distance from the origin: a path smaller than this is a point


def _rotates(dataset: Any) -> bool:
    return dataset.attrs["kind"] == "rotation" and "twist_rate" not in dataset


@plot(
    "attitude",
    panels=where(lambda d: _rotates(d) and not conserved(d, "kinetic")),
    apart=bodies_apart,
    title="Tips of axes 3",
)
def tip(dataset: Any, ax: Any, *bodies: str) -> None:
    """The tip of the third body axis, seen from above."""
    x, y, _ = body_axes(dataset, *bodies)[2]
    line(ax, x, y, linewidth=0.9)
    line(ax, x[:1], y[:1], 6, markersize=4)
    tip_axes(ax, of_which(dataset, *bodies))


def tip_axes(ax: Any, which: str = "") -> None:
    ax.set(title=f"Tip of body axis 3 from above{which}", xlabel="R₁₃ (1)", ylabel="R₂₃ (1)")
    ax.locator_params(axis="x", nbins=6)
    ax.set_aspect("equal", adjustable="datalim")


@plot("omega", "momentum", projection="3d", panels=where(lambda d: _rotates(d) and conserved(d, "kinetic")))
def polhode(dataset: Any, ax: Any) -> None:
    """The path of the angular velocity in the body: of a free one, on the inertia ellipsoid Ω·IΩ = 2K."""
    if conserved(dataset, "kinetic"):
        body = RigidBody(_inertia(dataset), allow_unphysical=True)
        axes = np.eye(3) if body.axes is None else body.axes.matrix().array
        semi_axes = np.sqrt(2 * float(dataset.kinetic[0]) / np.array([*body.moments]))
        surface = np.einsum("ij,jkl->ikl", axes * semi_axes, _ball())
        ax.plot_surface(*surface, color="#cfe0ee", alpha=0.35, linewidth=0)
        ax.set_title("Polhode on the inertia ellipsoid")
    else:
        ax.set_title("Angular velocity in the body")
    _curve(ax, dataset.omega.values.T)
    _frame(ax, ["Ω₁ (rad/s)", "Ω₂ (rad/s)", "Ω₃ (rad/s)"])


def _inertia(dataset: Any) -> np.ndarray:
    """Of one body; or of one member of a batch of bodies, where it is a variable."""
    given = dataset.inertia.values if "inertia" in dataset else dataset.attrs["inertia"]
    return np.reshape(given, (3, 3))


@plot(
    "attitude",
    projection="3d",
    panels=where(lambda d: "twist_rate" in d),
    apart=bodies_apart,
    title="Third axes on the unit sphere",
)
def director(dataset: Any, ax: Any, *bodies: str) -> None:
    """The path of the third body axis d3 on the unit sphere."""
    ax.plot_surface(*_ball(), color="#cfe0ee", alpha=0.35, linewidth=0)
    _curve(ax, body_axes(dataset, *bodies)[2])
    ax.set_title(f"Third body axis on the unit sphere{of_which(dataset, *bodies)}")
    _frame(ax, [f"{axis} (1)" for axis in "xyz"])


@plot("position", panels=where(lambda d: bool(_lines(d))), there=lambda d: bool(_lines(d)))
def path(dataset: Any, ax: Any) -> None:
    """Contacts and other points followed, or else the centres of mass, seen from above; those that move in an
    upright plane, from its side."""
    lines = _lines(dataset)
    if not lines:
        raise InputError("nothing moves in this run, so there is no path to draw")
    draw_paths(ax, lines, dataset.attrs.get("up", "z"))


def _lines(dataset: Any) -> dict[str, np.ndarray]:
    d = dataset
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
    ax.tick_params(labelsize=8 if print_width() is None else 6, pad=1)
    ax.set_box_aspect((1, 1, 1), zoom=0.88 if print_width() is None else 0.66)  # a cube, with room for its labels
    ax.set_aspect("equal", adjustable="datalim")
