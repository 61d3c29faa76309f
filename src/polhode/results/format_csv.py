"""Trajectories as `.csv`: a comment line with everything that is not a column, then columns with all digits."""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import xarray

from polhode.model.checks import InputError

_MARK = "# polhode "
_ROWS = 4096  # turned into text at a time: as Python numbers they take a multiple of their room


def write(dataset: xarray.Dataset, path: Path) -> None:
    labels = {str(d): [str(v) for v in dataset[d].values] for d in dataset.dims if d != "t" and d in dataset.coords}
    if any(dim != "t" and dim not in labels for dim in dataset.dims):
        raise InputError("a batch does not fit into a .csv; save it as .zarr or .nc")
    for dim in labels:
        if dataset[dim].dtype.kind not in "OU":
            raise InputError(f"the labels of {dim!r} are not texts, as they are in a .csv; save it as .zarr or .nc")
    header: dict[str, Any] = {
        "attributes": dataset.attrs,
        "variables": {str(k): {"dims": v.dims, "attrs": v.attrs} for k, v in dataset.variables.items()},
        "labels": labels,
        "rows": dataset.sizes["t"],
        "others": {str(k): v.values.tolist() for k, v in dataset.data_vars.items() if "t" not in v.dims},
    }
    columns: list[np.ndarray] = []
    for name, _, _ in _layout(header):
        columns += list(dataset[name].values.reshape(header["rows"], -1).T)
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(_MARK + json.dumps(header) + "\n")
        writer = csv.writer(file)
        writer.writerow(_headings(header))
        for first in range(0, header["rows"], _ROWS):
            writer.writerows(zip(*(c[first : first + _ROWS].tolist() for c in columns), strict=True))


def read(path: Path) -> xarray.Dataset:
    with path.open(newline="", encoding="utf-8") as file:
        header = _header(file)
        if next(csv.reader(file)) != _headings(header):
            raise ValueError("the headings of its columns are not those that its first line announces")
        table = np.loadtxt(file, delimiter=",", comments=None, ndmin=2)
    if len(table) != header["rows"]:
        raise ValueError(f"{header['rows']} whole rows are announced and {len(table)} are there")
    variables: dict[str, Any] = {
        name: (about["dims"], np.array(header["labels"].get(name), dtype=str), about["attrs"])
        for name, about in header["variables"].items()
    }
    for name, values in header.get("others", {}).items():
        dims, _, attributes = variables[name]
        variables[name] = (dims, np.array(values, dtype=float), attributes)
    done = 0
    for name, shape, size in _layout(header):
        values = table[:, done : done + size].reshape(header["rows"], *shape)
        dims, _, attributes = variables[name]
        variables[name] = (dims, values.astype(int) if name == "step_count" else values, attributes)
        done += size
    coords = {k: variables.pop(k) for k in ("t", "step_count", *header["labels"])}
    return xarray.Dataset(variables, coords, header["attributes"])


def format_of(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return _header(file)["attributes"]["format"]


def _header(file: TextIO) -> dict[str, Any]:
    first = file.readline()
    if not first.startswith(_MARK):
        raise ValueError("its first line is not polhode's header")
    return json.loads(first.removeprefix(_MARK))


def _layout(header: dict[str, Any]) -> Iterator[tuple[str, tuple[int, ...], int]]:
    """Each variable in the order of the columns, its shape at one moment, how many columns that is."""
    labels = header["labels"]
    apart = ("t", "step_count", *labels, *header.get("others", {}))
    others = (name for name in header["variables"] if name not in apart)
    for name in ("t", "step_count", *others):
        shape = tuple(len(labels[d]) for d in header["variables"][name]["dims"][1:])
        yield name, shape, int(np.prod(shape))


def _headings(header: dict[str, Any]) -> list[str]:
    """`momentum_x`, `position_wheel_x`: one for each number of a moment."""
    labels, variables = header["labels"], header["variables"]
    return [
        "_".join((name, *parts))
        for name, _, _ in _layout(header)
        for parts in itertools.product(*(labels[d] for d in variables[name]["dims"][1:]))
    ]
