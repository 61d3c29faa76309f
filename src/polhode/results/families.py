"""Curves of a batch: one for each member, coloured by a number of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from polhode.model.checks import InputError, shown, unknown
from polhode.results.panels import DASHES, drawing_on, labelled, legend, page
from polhode.results.registry import conserved
from polhode.results.sizes import above_round_off, size_of, starts_with_something
from polhode.results.style import exactly, plain, print_width

_CURVES = 400  # at most: of more members, so many evenly
_COLOURS = "viridis"
_PALEST = 0.75  # of the colours, in print: beyond it they vanish in grey


def member_dims(dataset: Any) -> tuple[str, ...]:
    """The dimensions of the batch, if it is one."""
    named = str(dataset.attrs.get("members", "")).split()
    if named:
        return tuple(name for name in named if name in dataset.dims)
    return tuple(str(d) for d in dataset.dims if str(d).startswith("member"))


def draw_family(dataset: Any, path: str | Path | None = None) -> Any:
    """A page of what can be compared: energy, observables, residuals; of one body the height of its third axis."""
    panels = [(partial(draw_members, dataset, name), None) for name in _comparable(dataset)]
    d = dataset.attrs
    count = int(np.prod([dataset.sizes[dim] for dim in member_dims(dataset)]))
    return page(panels, f"{count} runs: {d['method']}, step {d['step']:g} s", path)


def _comparable(dataset: Any) -> list[str]:
    observed = [str(name) for name in np.atleast_1d(dataset.attrs.get("observables", ()))]
    known = [f"observable_{name}" if f"observable_{name}" in dataset else name for name in observed]
    heights = ["height"] if dataset.attrs["kind"] == "rotation" else []
    residuals = [name for name in ("slip", "gap") if name in dataset and bool((dataset[name] > 0).any())]
    return ["energy", *heights, *known, *residuals]


def draw_members(dataset: Any, name: str, ax: Any = None, path: str | Path | None = None) -> Any:
    """One quantity of every member over time; in print, a few members have dashes of their own, more are shades."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    values, label = _values(dataset, name)
    numbers, words = _coordinate(dataset)
    values = values.reshape(values.shape[0], -1)
    which = np.unique(np.linspace(0, values.shape[1] - 1, _CURVES).round().astype(int))
    low, high = float(numbers.min()), float(numbers.max())
    scale = Normalize(low, high if high > low else low + 1.0)
    colours, few = colormaps[_COLOURS], print_width() is not None and len(which) <= len(DASHES)
    if print_width() is not None:
        colours = ListedColormap(colours(np.linspace(0.0, _PALEST, 256)))
    with drawing_on(ax, path) as on:
        lines = [
            on.plot(
                np.asarray(dataset.t), values[:, i], DASHES[k * few], color=colours(scale(numbers[i])), linewidth=0.8
            )[0]
            for k, i in enumerate(which)
        ]
        if name in ("slip", "gap"):
            on.set_yscale("log")
        on.set(title=_title(dataset, name), xlabel="t (s)", ylabel=label)
        on.figure.colorbar(ScalarMappable(scale, colours), ax=on, label=words)
        if few:
            legend(on, lines, [exactly(numbers[i]) for i in which])
        return on.figure


def _title(dataset: Any, name: str) -> str:
    if name == "height" and "body" in dataset.coords:
        return f"height: {plain(str(dataset.body.values), 32)}"
    return plain(name.removeprefix("observable_"), 40)


def _values(dataset: Any, name: str) -> tuple[np.ndarray, str]:
    if name == "height":
        q = dataset["attitude"]
        x, y = (np.asarray(q.sel(quaternion=axis).transpose("t", *member_dims(dataset))) for axis in "xy")
        return 1.0 - 2.0 * (x * x + y * y), "R₃₃ (1)"
    quantity = dataset[name]
    if name in ("slip", "gap"):
        quantity = quantity.copy(data=above_round_off(dataset, name))
    values = np.asarray(quantity.transpose("t", *member_dims(dataset)), dtype=float)
    if name == "energy" and conserved(dataset, "energy"):
        parts = [np.abs(dataset[part].transpose("t", *member_dims(dataset))) for part in ("kinetic", "potential")]
        largest = np.fmax.reduce(np.concatenate(parts).astype(float))  # of those that are no NaN
        of = "|E₀|" if starts_with_something(values[0], largest).all() else "|E₀|, or largest T or |U|,"
        return (values - values[0]) / size_of(values[0], largest), f"(E − E₀) / {of} (1)"
    return values, labelled(name.removeprefix("observable_"), dataset[name].attrs.get("units", ""))


def _coordinate(dataset: Any) -> tuple[np.ndarray, str]:
    """A number of every member, and what it is: that of the first dimension that varies, or else which one it is."""
    dims = member_dims(dataset)
    shape = tuple(dataset.sizes[d] for d in dims)
    for name, coordinate in dataset.coords.items():
        if coordinate.dims and set(coordinate.dims) <= set(dims) and coordinate.dtype.kind == "f":
            across = [dataset.sizes[d] if d in coordinate.dims else 1 for d in dims]
            own = np.asarray(coordinate.transpose(*[d for d in dims if d in coordinate.dims])).reshape(across)
            return np.broadcast_to(own, shape).ravel(), labelled(str(name), coordinate.attrs.get("units", ""))
    return np.arange(int(np.prod(shape)), dtype=float), "member"


def drawable(dataset: Any) -> list[str]:
    """The names of the plots that there are of this batch."""
    observed = np.atleast_1d(dataset.attrs.get("observables", ())).size
    return [
        "energy",
        *(["attitude"] if "attitude" in dataset else []),
        *(name for name in ("slip", "gap") if name in dataset and bool((dataset[name] > 0).any())),
        *(["observables"] if observed else []),
    ]


def drawer(dataset: Any, name: str) -> Callable[..., Any]:
    """`plots.NAME(...)` of a batch."""
    own = {"attitude": _heights, "observables": _observables}
    return partial(own[name], dataset) if name in own else partial(draw_members, dataset, name)


def _heights(dataset: Any, *bodies: str, ax: Any = None, path: str | Path | None = None) -> Any:
    """Of the third axis of one body; of those named of several, or of all of them, a panel each."""
    if "body" not in dataset.dims:
        if bodies:
            raise InputError(f"these runs are of one body, which has no name; got {', '.join(map(shown, bodies))}")
        return draw_members(dataset, "height", ax, path)
    known = list(map(str, dataset.body.values))
    if wrong := [body for body in bodies if body not in known]:
        raise unknown("body", wrong[0], known)
    names = bodies or tuple(known)
    parts = [dataset.isel(body=known.index(name)) for name in names]
    if len(parts) == 1:
        return draw_members(parts[0], "height", ax, path)
    if ax is not None:
        raise InputError(f"heights of several bodies do not fit one axis; name one of {', '.join(known)}")
    return page([(partial(draw_members, part, "height"), None) for part in parts], "Height of axis 3", path)


def _observables(dataset: Any, *names: str, path: str | Path | None = None) -> Any:
    drawn = names or tuple(n for n in _comparable(dataset) if n not in ("energy", "height", "slip", "gap"))
    if not drawn:
        raise InputError("these runs have no observables; systems and problems have those that they are given")
    return page([(partial(draw_members, dataset, name), None) for name in drawn], "Observables", path)


DRAWN = ("energy", "attitude", "slip", "gap", "observables")
