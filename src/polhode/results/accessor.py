"""`dataset.polhode`: of a dataset that was loaded, what a run has: its plots, a table, an animation.

An accessor, as xarray has its extensions, since what `load` gives is a Dataset like any other.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from polhode.model.checks import InputError
from polhode.results.dataframe import dataframe_of
from polhode.results.families import member_dims
from polhode.results.plots import Plots, check_dataset
from polhode.results.scene import Scene
from polhode.results.scenes import of_body, played
from polhode.results.store import load as read

_NAME = "polhode"


class OfDataset:
    """`dataset.polhode`: what a run has, for the Dataset that `ph.load` or `run.dataset` gives."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    @cached_property
    def plot(self) -> Plots:
        """As `run.plot`: `plot()` for a page of all that fit, `plot.energy()` and others for one."""
        return Plots(self._dataset)

    def to_dataframe(self) -> Any:
        """As `run.to_dataframe()`: pandas, one row a sample; the index is time (s), of a batch time and member."""
        check_dataset(self._dataset)
        return dataframe_of(self._dataset)

    def animate(self, path: str | Path | None = None, *, title: str = "", **how: Any) -> Any:
        """As `run.animate(path)`, of one body. A file has no shapes of the bodies of a system: make its run again."""
        check_dataset(self._dataset)
        return played([_scene(self._dataset, title)], path, title or str(self._dataset.attrs["method"]), **how)


def _scene(d: Any, title: str) -> Scene:
    if d.attrs["kind"] != "rotation":
        again = "`polhode run FILE --plot FILE.html` makes the run again" if d.attrs.get("recipe") else "simulate again"
        raise InputError(f"a dataset has no shapes of the bodies of a system, only a run has: {again}")
    if member_dims(d) or "inertia" not in d.attrs:
        raise InputError("this is a batch, and one motion is animated at a time: simulate a member alone")
    if not d.sizes["t"]:
        raise InputError("this dataset has no samples, so there is nothing to animate")
    tensor = np.reshape(d.attrs["inertia"], (3, 3))
    about = title or f"{d.attrs['method']}, step {float(d.attrs['step']):g} s"
    return of_body(np.asarray(d.t), np.asarray(d.attitude), tensor, about)


def with_accessor(dataset: Any) -> Any:
    """The dataset, now that xarray knows of the accessor."""
    import xarray

    if not hasattr(xarray.Dataset, _NAME):
        xarray.register_dataset_accessor(_NAME)(OfDataset)
    return dataset


def load(path: str | Path) -> Any:
    """A saved run, or family of runs, as an xarray Dataset; `load(path).polhode` has its plots, a table of one row a
    sample, an animation. A file that is missing, damaged or not polhode's is an InputError."""
    return with_accessor(read(path))
