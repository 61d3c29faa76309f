"""Files that are whole or not there: written beside, then moved; and on the disk before others speak of them."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from polhode.results.metadata import PART
from polhode.results.workspace import synced

_FEW = 3  # files: of more, all that the file system has to write takes less time
_syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None) if sys.platform == "linux" else None


def written(path: Path, *data: Any) -> None:
    """At every moment what was there, or all of these bytes; `settled` is for the disk."""
    part = path.with_name(path.name + PART)
    try:
        with _anew(part) as file:
            for each in data:
                file.write(each)
        os.replace(part, path)
    except OSError:
        with suppress(OSError):
            part.unlink()
        raise


def _anew(path: Path) -> Any:
    """For writing: never what another name leads to as well. What was left there is taken away."""
    try:
        return path.open("xb")
    except FileExistsError:
        path.unlink()
        return path.open("xb")


def settled(paths: Sequence[Path]) -> None:
    """These files, of one file system, and the folders that name them, are on the disk."""
    if len(paths) > _FEW and _syncfs is not None:
        handle = os.open(paths[0].parent, os.O_RDONLY)
        try:
            if _syncfs(handle):
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(paths[0].parent))
        finally:
            os.close(handle)
        return
    for path in (*paths, *{path.parent for path in paths}):
        synced(path)
