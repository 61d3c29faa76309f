"""Trajectories as `.zarr`, a folder."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import xarray


def write(dataset: xarray.Dataset, path: Path) -> None:
    with _quietly():
        dataset.to_zarr(path, mode="w", zarr_format=3)


def read(path: Path) -> xarray.Dataset:
    with _quietly():
        return xarray.load_dataset(path, engine="zarr", decode_times=False)  # a unit may look like a date


@contextmanager
def _quietly() -> Iterator[None]:
    """Labels of fixed length are not yet in zarr's specification."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*(not have a Zarr V3|Consolidated metadata).*")
        yield


def format_of(path: Path) -> str:
    return json.loads((path / "zarr.json").read_text())["attributes"]["format"]
