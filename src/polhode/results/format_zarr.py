"""Trajectories as `.zarr`, a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import xarray

from polhode.results.clock import read as clock
from polhode.results.dataset import GROWN
from polhode.results.quiet import quietly
from polhode.results.tree import CHECKSUM, HIDDEN, Tree


def write(dataset: xarray.Dataset, path: Path) -> None:
    with quietly():
        dataset.to_zarr(path, mode="w", zarr_format=3)


def read(path: Path) -> xarray.Dataset:
    with quietly():
        dataset = xarray.load_dataset(path, engine="zarr", decode_times=False)  # a unit may look like a date
    if dataset.attrs.get("format") == GROWN:
        tree = Tree(path)
        tree.look(dataset.sizes["t"])
        dataset.attrs.pop(CHECKSUM, None)
        dataset.attrs["seconds"] = float(clock(tree.path / HIDDEN).get("seconds", 0.0))
    return dataset


def attributes(path: Path) -> dict[str, Any]:
    """Of a run that was written as it went."""
    tree = Tree(path)
    tree.look(0)
    return tree.attributes


def format_of(path: Path) -> str:
    return json.loads((path / "zarr.json").read_text())["attributes"]["format"]
