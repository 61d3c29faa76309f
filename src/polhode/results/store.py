"""Trajectories in files: `.zarr`, `.nc` (netCDF 4) and `.csv`, told apart by the ending.

A file is made in a workspace and moved to its place when whole; it carries checksums, which `load` checks.
"""

from __future__ import annotations

import errno
import importlib
import os
from pathlib import Path
from typing import Any

from polhode._notices import warn
from polhode.model.checks import InputError, ending, nearest, shortened, shown
from polhode.results.checksums import DamagedError, checked, with_checksums
from polhode.results.dataset import FORMATS, GROWN, WITHOUT_CHECKSUMS, as_now, as_whole
from polhode.results.lock import check_nobody_writes, replaceable
from polhode.results.metadata import HIDDEN, ForeignError
from polhode.results.tree import TornError
from polhode.results.workspace import clean, put, unfinished, workspace

ENDINGS = (".zarr", ".nc", ".csv")
_FORMATS = {".zarr": "zarr", ".nc": "netcdf", ".csv": "csv"}
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_TRIES = 20  # to read what is being replaced all the time


def _format(kind: str) -> Any:
    """Its module, which imports what takes its time."""
    return importlib.import_module(f"polhode.results.format_{_FORMATS[kind]}")


class SaveError(OSError):
    """A trajectory could not be written; it is still in memory."""


def check_ending(path: str | Path) -> Path:
    """The path, if its ending names a format and a file can be made there."""
    path = _check_kind(path)
    check_folder(path)
    return path


def _check_kind(path: str | Path) -> Path:
    path = Path(path)
    if ending(path) not in ENDINGS:
        raise InputError(
            f"cannot tell the format of {str(path)!r} by its ending {ending(path)!r}{nearest(ending(path), ENDINGS)} "
            f"Use one of {', '.join(ENDINGS)}"
        )
    if os.path.exists(path) and not _ours(path):
        raise InputError(
            f"{str(path)!r} exists and is not a trajectory that polhode saved, so it is not replaced; choose "
            "another name, or remove it first"
        )
    check_nobody_writes(path / HIDDEN, path)
    return path


def check_folder(path: Path) -> None:
    """An InputError if no file of this name can be made where `path`, or what it is a link to, would be."""
    folder = Path(os.path.realpath(path)).parent
    called = folder if os.path.islink(path) else path.parent
    if not os.path.isdir(folder):
        raise InputError(f"there is no folder {str(called)!r} to write {path.name!r} into; make it first")
    try:
        with workspace(folder) as place:
            (place / path.name).touch()
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            raise InputError(
                f"the name {path.name[:40]!r}... has {len(path.name)} characters, more than a file may have there; "
                "choose a shorter one"
            ) from error
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"cannot write into the folder {str(called)!r}: {why}") from error


def _ours(path: Path) -> bool:
    if path.is_dir() != (ending(path) == ".zarr"):
        return False
    try:
        return _format(ending(path)).format_of(path) in FORMATS
    except Exception:  # whatever a foreign or damaged file makes the libraries raise: it is not ours
        return False


def save(dataset: Any, path: str | Path) -> Path:
    """To `path`, by its ending. What was there before stays until the new one is whole; a `SaveError` leaves it."""
    path = _check_kind(path)
    _check_names(dataset, ending(path))
    target = Path(os.path.realpath(path))
    try:
        clean(target.parent)
        with workspace(target.parent) as place:
            _format(ending(path)).write(with_checksums(as_whole(dataset).drop_encoding()), place / target.name)
            with replaceable(target / HIDDEN, path):
                put(place / target.name, target)
    except OSError as error:
        if error.errno not in NO_ROOM:
            check_folder(path)  # if it is the place, that says what is wrong with it
        raise SaveError(
            f"{str(path)!r} was not written: {error.strerror or error}. Nothing is lost: the run is still in memory; "
            "make room, or save it to another place. What was there before is as it was"
        ) from error
    return path


def _check_names(dataset: Any, kind: str) -> None:
    """An InputError for a name that the file would not give back."""
    for name, variable in dataset.variables.items():
        for label in (str(name), *(map(str, variable.values) if variable.dtype.kind in "OU" else ())):
            if "\0" in label or label.encode(errors="ignore").decode() != label:
                raise InputError(f"the name {label!r} has characters that cannot be saved; the run is still in memory")
    for name in map(str, dataset.variables if kind != ".csv" else ()):  # to the others a name is a path
        if name in ("", ".", "..", "zarr.json") or "/" in name or len(name.encode()) > 240:
            raise InputError(
                f"a quantity called {name[:40]!r} cannot be saved to {kind}: give it a name of 1 to 240 characters "
                "without '/', or save to .csv; the run is still in memory"
            )


def load(path: str | Path) -> Any:
    """A saved trajectory. A file that is missing, damaged or not polhode's is an InputError."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"a saved run is loaded by its path, text that ends in {', '.join(ENDINGS)}; got {path!r}")
    path = Path(path)
    if ending(path) not in ENDINGS:
        raise InputError(f"{str(path)!r} ends in none of {', '.join(ENDINGS)}")
    for _ in range(_TRIES):
        place, mark = _place(path)
        try:
            dataset = _read(place, path)
        except InputError:
            if (place, mark) == _place(path):
                raise
            continue  # it was replaced while it was read
        if dataset.attrs["format"] == WITHOUT_CHECKSUMS:
            warn(
                f"{str(path)!r} was saved by a polhode whose files had no checksums: were it damaged, nobody would "
                "notice. To add them: polhode.results.save(polhode.load(path), path)"
            )
        return as_now(dataset)
    raise InputError(f"{str(path)!r} is being replaced all the time; try again when that has ended")


def attributes(path: Path) -> dict[str, Any]:
    """Of a saved trajectory; without its samples where they are many."""
    try:
        grown = ending(path) == ".zarr" and _format(".zarr").format_of(path) == GROWN
    except Exception:  # `load` says what is wrong with it
        grown = False
    if not grown:
        return load(path).attrs
    try:
        return _format(".zarr").attributes(path)
    except (OSError, TornError, ForeignError) as error:
        raise InputError(f"{str(path)!r} is damaged: {error}; run it again, or take another copy") from error


def _place(path: Path) -> tuple[Path, tuple[int, int]]:
    """Where to read `path` from, and what changes when it is replaced."""
    for look in (lambda: path, lambda: unfinished(path.absolute()), lambda: path):  # it may come back meanwhile
        try:
            place = look()
            if place is not None:
                about = place.stat()
                return place, (about.st_ino, about.st_mtime_ns)
        except (OSError, ValueError):  # missing, or a name that no file can have
            continue
    raise InputError(f"there is no file {str(path)!r}")


def _read(place: Path, path: Path) -> Any:
    try:
        dataset = _format(ending(path)).read(place)
    except Exception as error:  # each library raises its own kinds for damaged files
        raise InputError(
            f"{str(path)!r} cannot be read as a trajectory ({type(error).__name__}: {shortened(error)}); "
            "it may have been cut short: run it again"
        ) from error
    kind = dataset.attrs.get("format")
    if kind not in FORMATS:
        raise InputError(f"{str(path)!r} was not written by polhode (its format is {shown(kind)})")
    if kind == WITHOUT_CHECKSUMS or (kind == GROWN and ending(path) == ".zarr"):  # this is looked at where it is read
        return dataset
    try:
        return checked(dataset)
    except DamagedError as error:
        raise InputError(f"{str(path)!r} is damaged: {error}; run it again, or take another copy") from error
