"""Trajectories in files: `.zarr`, `.nc` (netCDF 4) and `.csv`, told apart by the ending.

A file is written beside its place and moved there when whole, so a write that fails
leaves what was there before.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
import shutil
import tempfile
import uuid
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import xarray

from polhode.mechanics.checks import InputError, nearest
from polhode.results.dataset import FORMAT

ENDINGS = (".zarr", ".nc", ".csv")


def check_ending(path: str | Path) -> Path:
    """The path, if its ending names a format."""
    path = Path(path)
    if path.suffix not in ENDINGS:
        raise InputError(
            f"cannot tell the format of {str(path)!r} by its ending {path.suffix!r}{nearest(path.suffix, ENDINGS)} "
            f"Use one of {', '.join(ENDINGS)}"
        )
    check_folder(path)
    if path.exists() and not _ours(path):
        raise InputError(
            f"{str(path)!r} exists and is not a trajectory that polhode saved, so it is not replaced; choose "
            "another name, or remove it first"
        )
    return path


def check_folder(path: Path) -> None:
    """An InputError if no file can be made where `path` would be."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise InputError(f"there is no folder {str(path.parent)!r} to write {path.name!r} into; make it first")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"cannot write into the folder {str(path.parent)!r}: {error.strerror}") from error


def _ours(path: Path) -> bool:
    if path.is_dir() != (path.suffix == ".zarr"):
        return False
    try:
        if path.suffix == ".csv":
            with path.open(encoding="utf-8") as file:
                return file.readline().startswith("# polhode ")
        if path.suffix == ".zarr":
            return json.loads((path / "zarr.json").read_text())["attributes"]["format"] == FORMAT
        with xarray.open_dataset(path, engine="h5netcdf") as dataset:
            return dataset.attrs.get("format") == FORMAT
    except Exception:  # whatever a foreign or damaged file makes the libraries raise: it is not ours
        return False


def save(dataset: xarray.Dataset, path: str | Path) -> Path:
    path = check_ending(path)
    half = path.with_name(f".{path.stem}-{uuid.uuid4().hex[:8]}{path.suffix}")
    try:
        _WRITERS[path.suffix](dataset, half)
        if path.is_dir():
            shutil.rmtree(path)
        os.replace(half, path)
    finally:
        _remove(half)
    return path


def load(path: str | Path) -> xarray.Dataset:
    """A saved trajectory. A file that is missing, cut short or not polhode's is an InputError."""
    path = Path(path)
    if path.suffix not in ENDINGS:
        raise InputError(f"{str(path)!r} ends in none of {', '.join(ENDINGS)}")
    if not path.exists():
        raise InputError(f"there is no file {str(path)!r}")
    try:
        dataset = _READERS[path.suffix](path)
    except Exception as error:  # each library raises its own kinds for damaged files
        raise InputError(
            f"{str(path)!r} cannot be read as a trajectory ({type(error).__name__}: {error}); "
            "it may have been cut short: run it again"
        ) from error
    if dataset.attrs.get("format") != FORMAT:
        raise InputError(f"{str(path)!r} was not written by polhode (its format is {dataset.attrs.get('format')!r})")
    return dataset


def _write_zarr(dataset: xarray.Dataset, path: Path) -> None:
    with warnings.catch_warnings():  # labels of fixed length are not yet in zarr's specification
        warnings.filterwarnings("ignore", message=".*(not have a Zarr V3|Consolidated metadata).*")
        dataset.to_zarr(path, mode="w", zarr_format=3)


def _read_zarr(path: Path) -> xarray.Dataset:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*(not have a Zarr V3|Consolidated metadata).*")
        return xarray.load_dataset(path, engine="zarr")


def _write_netcdf(dataset: xarray.Dataset, path: Path) -> None:
    dataset.to_netcdf(path, engine="h5netcdf")


def _read_netcdf(path: Path) -> xarray.Dataset:
    dataset = xarray.load_dataset(path, engine="h5netcdf")
    dataset.attrs = {k: _plain(v) for k, v in dataset.attrs.items()}
    return dataset


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _write_csv(dataset: xarray.Dataset, path: Path) -> None:
    """A comment line with everything that is not a column, then columns with all digits."""
    labels = {str(d): [str(v) for v in dataset[d].values] for d in dataset.dims if d != "t" and d in dataset.coords}
    if any(dim != "t" and dim not in labels for dim in dataset.dims):
        raise InputError("a batch does not fit into a .csv; save it as .zarr or .nc")
    columns: dict[str, np.ndarray] = {"t": dataset.t.values, "step_count": dataset.step_count.values}
    for name, values in dataset.data_vars.items():
        flat = values.values.reshape(len(dataset.t), -1)
        columns |= dict(zip(_columns(str(name), values.dims[1:], labels), flat.T, strict=True))
    header = {
        "attributes": dataset.attrs,
        "variables": {str(k): {"dims": v.dims, "attrs": v.attrs} for k, v in dataset.variables.items()},
        "labels": labels,
        "rows": dataset.sizes["t"],
    }
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write("# polhode " + json.dumps(header) + "\n")
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(c.tolist() for c in columns.values()), strict=True))


def _columns(name: str, dims: Iterable[Any], labels: dict[str, list[str]]) -> list[str]:
    """`momentum_x`, `position_wheel_x`: one for each number of a moment."""
    return ["_".join((name, *parts)) for parts in itertools.product(*(labels[str(d)] for d in dims))]


def _read_csv(path: Path) -> xarray.Dataset:
    with path.open(newline="", encoding="utf-8") as file:
        first = file.readline()
        if not first.startswith("# polhode "):
            raise ValueError("its first line is not polhode's header")
        header = json.loads(first.removeprefix("# polhode "))
        names, *rows = csv.reader(file)
    if len(rows) != header["rows"] or any(len(row) != len(names) for row in rows):
        raise ValueError(f"{header['rows']} whole rows are announced and {len(rows)} are there")
    columns = dict(zip(names, np.array(rows, dtype=float).T, strict=True))
    labels = header["labels"]
    variables: dict[str, Any] = {}
    for name, about in header["variables"].items():
        dims = tuple(about["dims"])
        if name in labels:
            values: Any = labels[name]
        else:
            parts = [columns[c] for c in _columns(name, dims[1:], labels)]
            values = np.array(parts).T.reshape(header["rows"], *(len(labels[d]) for d in dims[1:]))
        variables[name] = (dims, values, about["attrs"])
    variables["step_count"] = (("t",), columns["step_count"].astype(int), variables["step_count"][2])
    coords = {k: variables.pop(k) for k in ("t", "step_count", *labels)}
    return xarray.Dataset(variables, coords, header["attributes"])


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


_WRITERS = {".zarr": _write_zarr, ".nc": _write_netcdf, ".csv": _write_csv}
_READERS = {".zarr": _read_zarr, ".nc": _read_netcdf, ".csv": _read_csv}
