"""Trajectories as `.nc`, netCDF 4.

One changed bit in the structure of an HDF5 file can hang or crash the library that reads it. So a seal
follows the file, where readers do not look: where the numbers lie, and the SHA-256 of all the rest. It is
checked first; the numbers have checksums of their own.
"""

from __future__ import annotations

import hashlib
import io
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import h5netcdf
import h5py
import numpy as np
import xarray
from xarray.backends import H5NetCDFStore

_SEALED = b"polhode seal 1\r\n"
_LISTS = "list_attributes"  # netCDF makes no difference between a number and a list of one
_LISTS_BEFORE = ("inertia", "masses", "observables")  # of files that do not say which are lists


def write(dataset: xarray.Dataset, path: Path) -> None:
    lists = [str(name) for name, value in dataset.attrs.items() if isinstance(value, list | tuple)]
    with _Disk(path) as disk:
        with h5netcdf.File(disk, "w") as file:
            dataset.assign_attrs({_LISTS: json.dumps(lists)}).dump_to_store(H5NetCDFStore(file))
        disk.finish()
    _seal(path)


def read(path: Path) -> xarray.Dataset:
    _check_seal(path)
    dataset = xarray.load_dataset(path, engine="h5netcdf", decode_times=False)  # a unit may look like a date
    attributes = {k: v.tolist() if isinstance(v, np.ndarray | np.generic) else v for k, v in dataset.attrs.items()}
    lists = json.loads(attributes.pop(_LISTS)) if _LISTS in attributes else _LISTS_BEFORE
    for name in lists:
        if name in attributes and not isinstance(attributes[name], list):
            attributes[name] = [attributes[name]]
    dataset.attrs = attributes
    return dataset


def format_of(path: Path) -> str:
    _check_seal(path)
    with xarray.open_dataset(path, engine="h5netcdf") as dataset:
        return dataset.attrs["format"]


def _seal(path: Path) -> None:
    numbers: list[tuple[int, int]] = []

    def note(_: str, item: Any) -> None:
        if not isinstance(item, h5py.Dataset) or item.dtype.hasobject:
            return  # of texts there are only references there
        if (offset := item.id.get_offset()) is not None:
            numbers.append((offset, item.id.get_storage_size()))

    with h5py.File(path, "r") as file:
        file.visititems(note)
    size = path.stat().st_size
    seal = json.dumps({"size": size, "numbers": sorted(numbers), "rest": _sum_of_rest(path, size, numbers)}).encode()
    with path.open("ab") as out:
        out.write(seal + len(seal).to_bytes(8, "little") + _SEALED)


def _check_seal(path: Path) -> None:
    """Files without a seal pass: those of before, and those that another program has opened for writing."""
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - 8 - len(_SEALED)))
        end = file.read()
        if not end.endswith(_SEALED):
            return
        length = int.from_bytes(end[:8], "little")
        file.seek(max(0, size - len(end) - length))
        seal = json.loads(file.read(size)[:length])
    if seal["rest"] != _sum_of_rest(path, seal["size"], seal["numbers"]):
        raise ValueError("its structure is damaged")


def _sum_of_rest(path: Path, size: int, numbers: list[Any]) -> str:
    """The SHA-256 of the first `size` bytes, but for the numbers."""
    sha = hashlib.sha256()
    at = 0
    with path.open("rb") as file:
        for offset, length in (*sorted(numbers), (size, 0)):
            file.seek(at)
            sha.update(file.read(max(0, offset - at)))
            at = max(at, offset + length)
    return sha.hexdigest()


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
