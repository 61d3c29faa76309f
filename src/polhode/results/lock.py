"""`Lock`: one process writes to a run at a time. The system lets go of it when the process ends, however it ends."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from polhode.model.checks import InputError

try:
    import fcntl
except ImportError:  # Windows: nothing is locked there
    fcntl = None  # type: ignore[assignment]

LOCK = "lock"  # in the hidden folder of a run
_AS_IT_IS = getattr(os, "O_NOFOLLOW", 0)  # no link to a file elsewhere
_HELD = (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN)


class Lock:
    """Of a file that stays where it is, and is empty."""

    def __init__(self, path: Path, words: str) -> None:
        self.path, self.words = path, words
        self._handle: int | None = None

    def __enter__(self) -> Lock:
        self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | _AS_IT_IS, 0o644)
        if not _taken(self._handle) or not self._there():
            os.close(self._handle)
            raise InputError(self.words)
        return self

    def _there(self) -> bool:
        """Whether it is still the file of this name: the folder may have been replaced while it was opened."""
        try:
            return os.path.samestat(os.fstat(self._handle), os.stat(self.path))  # type: ignore[arg-type]
        except FileNotFoundError:
            return False

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def locked(hidden: Path, path: Path) -> Lock:
    """Of a run, by its hidden folder; an InputError where another process has it. `path`: as the user calls it."""
    return Lock(hidden / LOCK, _writing(path))


@contextmanager
def replaceable(hidden: Path, path: Path) -> Iterator[None]:
    """While a folder is replaced nobody writes to it; an InputError where somebody does."""
    if not hidden.is_dir():  # not one that is written as it goes, or nothing
        yield
        return
    with locked(hidden, path):
        yield


def check_nobody_writes(hidden: Path, path: Path) -> None:
    """An InputError as `replaceable`, before what it is to be replaced by is there."""
    if held(hidden / LOCK):
        raise InputError(_writing(path))


def _writing(path: Path) -> str:
    return f"{str(path)!r} is being written by another process; `polhode status {path}` tells by which"


def held(path: Path) -> bool:
    """Whether a process that lives has it."""
    try:
        handle = os.open(path, os.O_RDWR | _AS_IT_IS)
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
