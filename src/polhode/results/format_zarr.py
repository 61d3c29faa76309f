"""Trajectories as `.zarr`, a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psutil
import xarray

from polhode.results.clock import read as clock
from polhode.results.dataset import GROWN
from polhode.results.metadata import HIDDEN, ForeignError, check_parts, root_of, size_of
from polhode.results.quiet import quietly
from polhode.results.tree import CHECKSUM, Tree


def write(dataset: xarray.Dataset, path: Path) -> None:
    with quietly():
        dataset.to_zarr(path, mode="w", zarr_format=3)


def read(path: Path) -> xarray.Dataset:
    root = root_of(path)
    if (size := size_of(root)) > (free := psutil.virtual_memory().available):
        raise ForeignError(f"it holds {size / 2**30:.3g} GiB, and {free / 2**30:.3g} are free: use xarray.open_zarr")
    check_parts(path, root)
    kind = root["attributes"].get("format")
    if kind == GROWN:
        tree = Tree(path)
        tree.look(tree.samples)
    with quietly():
        options = {"zarr_format": 3, "consolidated": True}  # what was looked at is what is read
        dataset = xarray.load_dataset(path, engine="zarr", decode_times=False, **options)  # a unit may look like a date
    if kind == GROWN:
        dataset.attrs.pop(CHECKSUM, None)
        dataset.attrs["seconds"] = float(clock(tree.path / HIDDEN).get("seconds", 0.0))
    return dataset


def attributes(path: Path) -> dict[str, Any]:
    """Of a run that was written as it went."""
    tree = Tree(path)
    tree.look(0)
    return tree.attributes


def format_of(path: Path) -> str:
    return root_of(path)["attributes"]["format"]
