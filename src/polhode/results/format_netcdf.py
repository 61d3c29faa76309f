"""Trajectories as `.nc`, netCDF 4."""

from __future__ import annotations

import io
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import h5netcdf
import numpy as np
import xarray
from xarray.backends import H5NetCDFStore

_LISTS = "list_attributes"  # netCDF makes no difference between a number and a list of one
_LISTS_BEFORE = ("inertia", "masses", "observables")  # of files that do not say which are lists


def write(dataset: xarray.Dataset, path: Path) -> None:
    lists = [str(name) for name, value in dataset.attrs.items() if isinstance(value, list | tuple)]
    with _Disk(path) as disk:
        with h5netcdf.File(disk, "w") as file:
            dataset.assign_attrs({_LISTS: json.dumps(lists)}).dump_to_store(H5NetCDFStore(file))
        disk.finish()


def read(path: Path) -> xarray.Dataset:
    dataset = xarray.load_dataset(path, engine="h5netcdf")
    attributes = {k: v.tolist() if isinstance(v, np.ndarray | np.generic) else v for k, v in dataset.attrs.items()}
    lists = json.loads(attributes.pop(_LISTS)) if _LISTS in attributes else _LISTS_BEFORE
    for name in lists:
        if name in attributes and not isinstance(attributes[name], list):
            attributes[name] = [attributes[name]]
    dataset.attrs = attributes
    return dataset


def format_of(path: Path) -> str:
    with xarray.open_dataset(path, engine="h5netcdf") as dataset:
        return dataset.attrs["format"]


class _Disk:
    """The file that HDF5 writes to. HDF5 crashes the interpreter when a write fails, so it is not
    told: what does not fit on the disk goes to memory, and `finish` raises the error."""

    def __init__(self, path: Path) -> None:
        self._file: Any = path.open("w+b", buffering=0)
        self._error: OSError | None = None

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        start = self._file.tell()
        done = 0
        try:
            while done < len(view):
                done += self._file.write(view[done:])
        except OSError as error:
            self._error = error
            self._to_memory()
            self._file.seek(start)
            self._file.write(view)
        return len(view)

    def truncate(self, size: int) -> int:
        try:
            return self._file.truncate(size)
        except OSError as error:
            self._error = error
            self._to_memory()
            return self._file.truncate(size)

    def _to_memory(self) -> None:
        """What is on the disk as well, as HDF5 may look at what it wrote; nobody will read the file."""
        disk, self._file = self._file, io.BytesIO()
        with suppress(OSError), disk:
            disk.seek(0)
            self._file.write(disk.read())

    def finish(self) -> None:
        if self._error is not None:
            raise self._error

    def __enter__(self) -> _Disk:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)  # seek, tell, read, readinto, flush
