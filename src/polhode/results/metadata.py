"""What a `.zarr` folder says of itself, looked at before anything is done by it: a folder may come from anyone.

Only what polhode writes passes: arrays of numbers and texts, under plain names, by codecs that do nothing but decode.
Zarr would load what other names stand for.
"""

from __future__ import annotations

import json
import math
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from polhode.model.checks import InputError

_KINDS = ("float64", "float32", "int64", "int32", "int8", "uint8", "bool", "string")
_CODECS = ("bytes", "zstd", "crc32c", "vlen-utf8")
_TEXTS = "fixed_length_utf32"
_BITS = 2**62
HIDDEN = ".polhode"  # the folder of what is not zarr's
PART = ".partial"  # of the name of a file that is not whole yet
LATER = ("event", "event_time", "status", "failed_step", "inertia")  # arrays that are there when a run has ended


class ForeignError(InputError):
    """Not what polhode writes."""


def root_of(path: Path) -> dict[str, Any]:
    """The zarr.json of a folder, with the metadata of all arrays in it."""
    check_plain(path / "zarr.json")
    root = _read(path / "zarr.json")
    if root.get("zarr_format") != 3 or root.get("node_type") != "group" or not isinstance(root.get("attributes"), dict):
        raise ForeignError("it is not a group of zarr 3")
    consolidated = root.get("consolidated_metadata")
    if not isinstance(consolidated, dict) or not isinstance(consolidated.get("metadata"), dict):
        raise ForeignError("its zarr.json does not hold the metadata of its arrays")
    arrays = consolidated["metadata"]
    for name, about in arrays.items():
        if name in ("", ".", "..") or name.startswith(".") or set("/\\\0") & set(name):
            raise ForeignError(f"an array is called {name[:60]!r}")
        _check(name, about)
    for name in (*arrays, *LATER, HIDDEN, f"zarr.json{PART}"):
        check_plain(path / name, deep=name == HIDDEN)
    return root


def check_parts(path: Path, root: dict[str, Any]) -> None:
    """`ForeignError` where something in its arrays is no plain file: of many parts that takes its time."""
    for name in (*root["consolidated_metadata"]["metadata"], *LATER):
        check_plain(path / name)


def check_plain(path: Path, *, deep: bool = True) -> None:
    """`ForeignError` where this, or something in it, is a link, which leads to files of others, or a pipe, which may
    never be read to its end. What else a user keeps in the folder is not looked at, and not touched."""
    places = [path]
    while places:
        place = places.pop()
        with suppress(FileNotFoundError):  # it is not there; or not any more, where a process writes
            mode = place.lstat().st_mode
            if stat.S_ISDIR(mode) and deep:
                with os.scandir(place) as entries:
                    places += [Path(each.path) for each in entries if not each.is_file(follow_symlinks=False)]
            elif not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                where = place.name if place == path else f"{path.name}/{place.relative_to(path)}"
                raise ForeignError(f"{where!r} is a link to another place or no plain file")


def size_of(root: dict[str, Any]) -> int:
    """Bytes of all arrays, as they would be in memory."""
    return sum(
        math.prod(about["shape"]) * _width(about) for about in root["consolidated_metadata"]["metadata"].values()
    )


def _width(about: dict[str, Any]) -> int:
    kind = about["data_type"]
    return kind["configuration"]["length_bytes"] if isinstance(kind, dict) else 8


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ForeignError(f"its zarr.json is not JSON ({str(error)[:100]})") from error
    if not isinstance(found, dict):
        raise ForeignError("its zarr.json is not a table")
    return found


def _check(name: str, about: Any) -> None:
    """`ForeignError` unless it is an array as polhode writes them."""
    try:
        shape, kind, codecs = about["shape"], about["data_type"], [codec["name"] for codec in about["codecs"]]
        grid, names = about["chunk_grid"], about["dimension_names"]
        chunks, separator = grid["configuration"]["chunk_shape"], about["chunk_key_encoding"]["configuration"]
        whole = all(type(n) is int and 0 <= n < _BITS for n in shape)
        whole = whole and all(type(n) is int and 0 < n < _BITS for n in chunks)
        whole = whole and len(shape) == len(chunks) == len(names) and all(isinstance(n, str) for n in names)
        whole = whole and about["node_type"] == "array" and about["zarr_format"] == 3 and grid["name"] == "regular"
        whole = whole and separator == {"separator": "/"} and all(codec in _CODECS for codec in codecs)
        if isinstance(kind, dict):
            width = kind["configuration"]["length_bytes"]
            whole = whole and kind["name"] == _TEXTS and type(width) is int and 0 <= width < 2**20
        whole = whole and (isinstance(kind, dict) or kind in _KINDS) and not about.get("storage_transformers")
    except (KeyError, TypeError, AttributeError) as error:
        raise ForeignError(f"the array {name!r} is not described as polhode does ({type(error).__name__})") from error
    if not whole:
        raise ForeignError(f"the array {name!r} is not one that polhode writes")
