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
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: nothing is locked there, so nothing is known to be left over
    fcntl = None  # type: ignore[assignment]

_PREFIX = ".polhode-"
_TRIES = 100
_HOUR = 3600.0


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
        with suppress(OSError):  # then it stays, and the next save tries again
            _tidy(place)


def put(new: Path, target: Path) -> None:
    """`new`, made in a workspace, to `target`. At every moment the old or the new one is whole."""
    _to_disk(new)
    if not new.is_dir():
        os.replace(new, target)
    else:
        _swap(new, target)
    synced(target.parent)


def put_anew(new: Path, target: Path) -> bool:
    """A folder, made in a workspace, to `target`; whether it could be: not if something has come there meanwhile."""
    _to_disk(new)
    try:
        os.rename(new, target)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            return False
        raise
    synced(target.parent)
    return True


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
    for place in _workspaces(folder) if fcntl is not None else ():
        try:
            about = place.stat()
            if about.st_uid != os.getuid():
                continue
            if not (place / "lock").exists() and about.st_mtime < time.time() - _HOUR:
                place.rmdir()  # killed before it had begun; if there is something in it, it stays
                continue
            with (place / "lock").open("r+", encoding="utf-8") as lock:
                if lock.read() != platform.node() or not _taken(lock.fileno()):
                    continue
                _tidy(place)
        except OSError:
            continue  # gone meanwhile, or not ours to remove


def _tidy(place: Path) -> None:
    """Take a workspace away; not before what was to be put in its place is there, if the old one is aside."""
    for new in (place / "new").iterdir() if (place / "new").is_dir() else ():
        target = place.parent / new.name
        if _finished(place, new.name) and not target.exists():
            put(new, target)
    for each in place.iterdir():  # the lock last: what has none is not known to be a left-over
        if each.name != "lock":
            shutil.rmtree(each)
    shutil.rmtree(place)


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
        synced(each)


def synced(path: Path) -> None:
    if path.is_dir():
        with suppress(OSError):  # not every file system, nor every system, can do it for folders
            _flush(path, os.O_RDONLY)
    else:
        _flush(path, os.O_RDWR)


def _flush(path: Path, mode: int) -> None:
    handle = os.open(path, mode)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a file system that cannot do it
            raise
    finally:
        os.close(handle)
