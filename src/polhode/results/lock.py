"""`Lock`: one process writes to a run at a time. The system lets go of it when the process ends, however it ends."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from types import TracebackType

from polhode.model.checks import InputError

try:
    import fcntl
except ImportError:  # Windows: nothing is locked there
    fcntl = None  # type: ignore[assignment]

_HELD = (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN)


class Lock:
    """Of a file that stays where it is, and is empty."""

    def __init__(self, path: Path, words: str) -> None:
        self.path, self.words = path, words
        self._handle: int | None = None

    def __enter__(self) -> Lock:
        self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        if not _taken(self._handle):
            os.close(self._handle)
            raise InputError(self.words)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def held(path: Path) -> bool:
    """Whether a process that lives has it."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _taken(handle)
    finally:
        os.close(handle)


def _taken(handle: int) -> bool:
    """Whether it is ours now; a file system that knows no locks gives it to all."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in _HELD
    return True
