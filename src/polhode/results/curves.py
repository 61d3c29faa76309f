"""Quantities over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.model.checks import InputError, unknown
from polhode.results.axes import bodies_apart, body_axes, of_which
from polhode.results.panels import draw_energy, labelled, legend, line
from polhode.results.registry import Names, conserved, never, plot, where
from polhode.results.style import plain


def _observable(dataset: Any, name: str) -> Any:
    other = f"observable_{name}"  # where the system itself has a quantity of this name
    return dataset[other if other in dataset else name]


def _by_unit(dataset: Any, names: Names = ()) -> dict[str, Names]:
    """Unit -> the observables that have it."""
    known = tuple(map(str, np.atleast_1d(dataset.attrs.get("observables", ()))))
    found: dict[str, Names] = {}
    for name in names or known:
        if name not in known:
            raise unknown("observable", name, known)
        unit = _observable(dataset, name).attrs["units"]
        found[unit] = (*found.get(unit, ()), name)
    return found


def _of_systems(dataset: Any) -> Sequence[Names]:
    return list(_by_unit(dataset).values()) if dataset.attrs["kind"] == "system" else []


def _units_apart(dataset: Any, *names: str) -> Sequence[Names]:
    groups = list(_by_unit(dataset, names).values())
    return groups if len(groups) > 1 else []


@plot("t", panels=_of_systems, apart=_units_apart, title="Observables", there=lambda d: bool(_by_unit(d)))
def observables(dataset: Any, ax: Any, *names: str) -> None:
    """Those named, over time, if they have one unit; or all, a panel for each unit."""
    groups = _by_unit(dataset, names)
    if not groups:
        raise InputError("this system has no observables; give System(..., observables={'x': (function, 'm')})")
    if len(groups) > 1:
        raise InputError(f"observables of the units {', '.join(groups)} do not fit one axis; name those of one unit")
    ((unit, shown),) = groups.items()
    lines = [line(ax, dataset.t, _observable(dataset, name), k) for k, name in enumerate(shown)]
    title = plain(shown[0], 40) if len(shown) == 1 else "Observables"
    ax.set(title=title, xlabel="t (s)", ylabel=labelled(", ".join(shown), unit))
    if len(shown) > 1:
        legend(ax, lines, shown)


@plot("energy", "kinetic", "potential")
def energy(dataset: Any, ax: Any) -> None:
    """The relative change of the total energy; where the motion does not conserve it, the energy and its parts."""
    d = dataset
    draw_energy(ax, d.t, d.energy, d.kinetic, d.potential, conserved(d, "energy"))


@plot("spatial_momentum", panels=where(lambda d: d.attrs["kind"] == "rotation"))
def momentum(dataset: Any, ax: Any) -> None:
    """The angular momentum in space, which stands still without a torque."""
    _components(dataset.spatial_momentum, "Momentum in space", "π", "xyz", ax)


@plot("momentum", panels=where(lambda d: "twist_rate" in d))
def material_momentum(dataset: Any, ax: Any) -> None:
    """The angular momentum in body components; of a free non-twisting body all three stand still."""
    _components(dataset.momentum, "Momentum in the body", "Π", "123", ax)


@plot(
    "attitude",
    panels=where(lambda d: d.attrs["kind"] == "rotation" and "twist_rate" not in d),
    apart=bodies_apart,
    title="Height of axes",
)
def attitude(dataset: Any, ax: Any, *bodies: str) -> None:
    """Where a body's own axes point: their height above the horizon."""
    lines = [line(ax, dataset.t, axis[2], k) for k, axis in enumerate(body_axes(dataset, *bodies))]
    ax.set(title=f"Height of axes{of_which(dataset, *bodies)}", xlabel="t (s)", ylabel="R₃ⱼ (1)", ylim=(-1.05, 1.05))
    legend(ax, lines, ["axis 1", "axis 2", "axis 3"])


@plot("force", panels=never, there=lambda d: d.sizes["row"] > 0)
def forces(dataset: Any, ax: Any, *rows: str) -> None:
    """Forces and torques of the rows named, or of all, half a step before each sample."""
    d = dataset
    shown = rows or tuple(map(str, d.row.values))
    if not shown:
        raise InputError("this system has no constraints, so there are no constraint forces to draw")
    for name in shown:
        if name not in d.row.values:
            raise unknown("row", name, list(d.row.values))
    after = slice(1, None) if d.sizes["t"] > 1 else slice(None)
    lines = [line(ax, d.t[after], d.force.sel(row=name)[after], k, linewidth=0.9) for k, name in enumerate(shown)]
    ax.set(title="Constraint forces", xlabel="t (s)", ylabel="force (N) or torque (N m)")
    legend(ax, lines, shown)


def _components(values: Any, title: str, name: str, marks: str, ax: Any) -> None:
    lines = [line(ax, values.t, values.sel(axis=axis), k) for k, axis in enumerate("xyz")]
    ax.set(title=title, xlabel="t (s)", ylabel=labelled(name, "kg m²/s"))
    legend(ax, lines, [f"{name} {mark}" for mark in marks])
