"""Where a file is made before it is moved to its place, whole.

A folder beside the target, locked while its process lives. New files are written there; a folder
(.zarr) that is to be replaced is set aside there until the new one is in place. What a killed
process leaves is recognised by the lock that nobody holds: the next save takes it away, after
putting in place what the killed one had finished.

    .polhode-XXXXXXXX/lock        held by the process that saves; names its machine
    .polhode-XXXXXXXX/new/NAME    what is being written
    .polhode-XXXXXXXX/oldXXX/NAME what stood there before
"""

from __future__ import annotations

import errno
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: nothing is locked there, so nothing is known to be left over
    fcntl = None  # type: ignore[assignment]

_PREFIX = ".polhode-"
_TRIES = 100


@contextmanager
def workspace(folder: Path) -> Iterator[Path]:
    """A new one in `folder`, gone afterwards; yields the folder for new files."""
    place = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=folder))
    try:
        with (place / "lock").open("w", encoding="utf-8") as lock:
            if _taken(lock.fileno()):
                lock.write(platform.node())  # from here on a left-over can be told
                lock.flush()
            new = place / "new"
            new.mkdir()
            yield new
    finally:
        shutil.rmtree(place, ignore_errors=True)


def put(new: Path, target: Path) -> None:
    """`new`, made in a workspace, to `target`. At every moment the old or the new one is whole."""
    _to_disk(new)
    if not new.is_dir():
        os.replace(new, target)
    else:
        _swap(new, target)
    _sync(target.parent)


def _swap(new: Path, target: Path) -> None:
    """A folder cannot be replaced in one move: old aside, new in."""
    for _ in range(_TRIES):
        aside = Path(tempfile.mkdtemp(prefix="old", dir=new.parents[1])) / target.name
        with suppress(FileNotFoundError):
            os.rename(target, aside)
        try:
            os.rename(new, target)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):  # another process was faster: its turn to give way
                continue
            if aside.exists():
                os.rename(aside, target)
            raise
        return
    raise OSError(errno.EBUSY, "other processes save there again and again", str(target))


def unfinished(target: Path) -> Path | None:
    """What a process that was killed between the two moves of `put` meant to put at `target`."""
    for place in _workspaces(target.parent):
        if _finished(place, target.name):
            return place / "new" / target.name
    return None


def clean(folder: Path) -> None:
    """Take away what killed processes left in `folder`."""
    for place in _workspaces(folder):
        try:
            if place.stat().st_uid != os.getuid():
                continue
            with (place / "lock").open("r+", encoding="utf-8") as lock:
                if lock.read() != platform.node() or not _taken(lock.fileno()):
                    continue
                for new in (place / "new").iterdir():
                    if _finished(place, new.name) and not (folder / new.name).exists():
                        put(new, folder / new.name)
                shutil.rmtree(place)
        except OSError:
            continue  # gone meanwhile, or not ours to remove


def _workspaces(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        return [folder / e.name for e in entries if e.name.startswith(_PREFIX) and e.is_dir(follow_symlinks=False)]


def _finished(place: Path, name: str) -> bool:
    """Whether the old one was set aside, which is done when the new one is whole, and the new one waits."""
    try:
        kept = [p for p in place.iterdir() if p.name.startswith("old") and (p / name).exists()]
    except OSError:  # gone meanwhile
        return False
    return bool(kept) and (place / "new" / name).exists()


def _taken(lock: int) -> bool:
    if fcntl is None:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # held, or a file system that knows no locks
        return False
    return True


def _to_disk(path: Path) -> None:
    """So that a full disk is noticed, and a power cut does not leave an empty file in place of the old one."""
    for each in (*path.rglob("*"), path):
        _sync(each)


def _sync(path: Path) -> None:
    if path.is_dir() and os.name == "nt":
        return  # folders cannot be opened there
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
