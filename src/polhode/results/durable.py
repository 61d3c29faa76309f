"""Files that are whole or not there: written beside, then moved; and on the disk before others speak of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from polhode.results.workspace import synced

PART = ".partial"


def written(path: Path, *data: Any) -> None:
    """At every moment what was there, or all of these bytes; `settled` is for the disk."""
    part = path.with_name(path.name + PART)
    try:
        with part.open("wb") as file:
            for each in data:
                file.write(each)
        os.replace(part, path)
    except OSError:
        with suppress(OSError):
            part.unlink()
        raise


def settled(paths: Iterable[Path]) -> None:
    """These files, and the folders that name them, are on the disk."""
    folders = set()
    for path in paths:
        synced(path)
        folders.add(path.parent)
    for folder in folders:
        synced(folder)
