"""Pictures of a run, from its Dataset, so that a file loaded later plots like a run just made.

Each is a function in a registry, with the variables that it needs: those that a dataset has decide what can be drawn
of it. `curves`, `paths` and `residuals` hold them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from polhode.model.checks import InputError, nearest, shown
from polhode.results import curves, paths, residuals  # noqa: F401 (they register what they have)
from polhode.results.families import DRAWN, draw_family, drawable, drawer, member_dims
from polhode.results.panels import Panel, drawing_on, page
from polhode.results.registry import PLOTS, Plot


def check_dataset(dataset: Any) -> None:
    """An InputError where it is not one of a run, or not whole."""
    if not hasattr(dataset, "data_vars"):
        raise InputError(f"plots are drawn from a dataset, run.dataset or ph.load(path); got {shown(dataset)}")
    missing = ["t"] * ("t" not in dataset.dims) + [
        key for key in ("kind", "method", "step") if key not in dataset.attrs
    ]
    if missing:
        raise InputError(
            f"this dataset has no {', '.join(missing)}: it is not one of polhode's, or lost what it said of itself. "
            "Give run.dataset, ph.load(path) or a part of one; xarray.set_options(keep_attrs=True) keeps attributes"
        )


@dataclass(frozen=True)
class Plots:
    """`plots()` for one page of all that fit; `plots.energy(ax=..., path=...)` for one. `dir(plots)` names them."""

    dataset: Any

    def __post_init__(self) -> None:
        check_dataset(self.dataset)

    def __call__(self, path: str | Path | None = None) -> Any:
        """All that fit on one page; of a batch, curves of its members."""
        self._some()
        if self._members():
            return draw_family(self.dataset, path)
        d = self._one()
        panels: list[Panel] = []
        for plot in self._drawable():
            panels += [(partial(self._draw, plot, *names), plot.projection) for names in plot.panels(d)]
        return page(panels, f"{d.attrs['method']}, step {d.attrs['step']:g} s, {d.attrs['steps']} steps", path)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or name not in PLOTS:
            names = self._names()
            raise AttributeError(f"there is no plot {name!r}{nearest(name, names)} There are {', '.join(names)}")
        self._some()
        if name in DRAWN and self._members():
            return drawer(self.dataset, name)
        return partial(self._draw, PLOTS[name])

    def __dir__(self) -> list[str]:
        names = self._names()
        own = [name for name in super().__dir__() if name != "constraints"]
        return [*own, *names, *(["constraints"] if {"slip", "gap"} & set(names) and not self._members() else [])]

    def constraints(self, *, path: str | Path | None = None) -> Any:
        """What there is of slip and gap, a panel each."""
        self._some()
        there = [name for name in ("slip", "gap") if name in self.dataset and PLOTS[name].panels(self.dataset)]
        panels = [(partial(self._draw, PLOTS[name]), None) for name in there]
        if not panels:
            raise InputError("this run has no constraints, or keeps them exactly: there are no residuals to draw")
        return page(panels, "Residuals of the constraints", path)

    def _some(self) -> None:
        if not self.dataset.sizes["t"]:
            raise InputError("this dataset has no samples, so there is nothing to draw")

    def _drawable(self) -> list[Plot]:
        return [plot for plot in PLOTS.values() if set(plot.needs) <= set(map(str, self.dataset.variables))]

    def _members(self) -> tuple[str, ...]:
        return member_dims(self.dataset)

    def _names(self) -> list[str]:
        """Of the plots that there are of this dataset."""
        d = self.dataset
        if not d.sizes["t"]:
            return []
        return drawable(d) if self._members() else [plot.name for plot in self._drawable() if plot.there(d)]

    def _draw(self, plot: Plot, *names: str, ax: Any = None, path: str | Path | None = None) -> Any:
        d = self._one(plot.name)
        if missing := [name for name in plot.needs if name not in d.variables]:
            raise InputError(
                f"{plot.name} is drawn from {', '.join(plot.needs)}; this run has no {', '.join(missing)}. It has "
                f"plots of {', '.join(self._names())}"
            )
        if ax is None and (several := plot.apart(d, *names)):
            return page([(partial(self._draw, plot, *group), plot.projection) for group in several], plot.title, path)
        with drawing_on(ax, path, plot.projection) as ax:
            plot.draw(d, ax, *names)
            return ax.figure

    def _one(self, name: str = "energy") -> Any:
        members = self._members()
        if members:
            raise InputError(
                f"this run is a batch of shape {tuple(self.dataset.sizes[d] for d in members)}; plot one member: "
                f"polhode.Plots(run.dataset.isel({', '.join(f'{d}=0' for d in members)})).{name}()"
            )
        return self.dataset
