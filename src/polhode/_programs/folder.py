"""The folder of compiled and traced programs: where it is, how large, and kept within a bound."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import jax

from polhode._startup import cache_folder, private

config: Any = jax.config
MOST = 2**30  # bytes in all; what was written first goes first
_LOOKS = 16  # programs written between looks at the whole
_TRACED = "traced-"
_written = 0


def whole_folder() -> Path | None:
    """Of compiled programs, JAX's own cache, with that of traced ones in it; None where there is none."""
    chosen = config.jax_compilation_cache_dir
    return Path(chosen) if chosen and config.jax_enable_compilation_cache else None


def traced_folder() -> Path | None:
    """Of traced programs; None where nothing can be kept, or others could write to it."""
    whole = whole_folder()
    if whole is None:
        return None
    folder = whole / f"{_TRACED}{os.geteuid() if hasattr(os, 'geteuid') else 'mine'}"
    return folder if private(folder) else None


def contents() -> list[tuple[float, int, Path]]:
    """When each program that is ours was written, its size and place; the oldest first. In a folder that the user chose
    those that JAX compiled may be another's."""
    whole = whole_folder()
    if whole is None:
        return []
    paths = list(whole.glob(f"{_TRACED}*/*"))
    if str(whole) == cache_folder():
        paths += [path for end in ("-cache", "-atime") for path in whole.glob(f"*{end}")]
    found = []
    for path in paths:
        with suppress(OSError):  # gone since
            at = path.lstat()
            found.append((at.st_mtime, at.st_size, path))
    return sorted(found)


def bounded(most: int = MOST) -> None:
    """Removes what was written first until the folder is within its bound. Another process that wants what is gone
    compiles it again. Called when something is written; looks now and then."""
    global _written
    _written += 1
    if _written % _LOOKS != 1:
        return
    files = contents()
    size = sum(each for _, each, _ in files)
    for _, each, path in files:
        if size <= most:
            return
        with suppress(OSError):
            path.unlink()
            size -= each


def cleared() -> int:
    """Removes all programs; how many bytes they took."""
    freed = 0
    for _, size, path in contents():
        with suppress(OSError):
            path.unlink()
            freed += size
    return freed
