"""A folder of a run that one process writes to, and what is said when it cannot."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from polhode._notices import warn
from polhode.model.checks import InputError, shown
from polhode.results.clock import NAME
from polhode.results.dataset import FORMATS, GROWN
from polhode.results.finishing import END
from polhode.results.lock import LOCK, locked
from polhode.results.metadata import HIDDEN
from polhode.results.rerun import differences
from polhode.results.store import NO_ROOM, SaveError
from polhode.results.store import attributes as attributes_of
from polhode.results.tree import TornError, Tree


@contextmanager
def opened(path: Path) -> Iterator[Tree]:
    """A folder that nobody else writes to meanwhile."""
    place = Path(os.path.realpath(path))
    if (place / HIDDEN).is_symlink() or not (place / HIDDEN).is_dir():
        raise InputError(f"{str(path)!r} has no folder {HIDDEN!r} with marks of where it stands: it cannot go on")
    with ExitStack() as stack:
        with room_for(path):
            stack.enter_context(locked(place / HIDDEN, path))
            tree = Tree(place)
            tree.look_at_parts()
            _tidied(tree)
        yield tree


def check_grown(path: Path) -> None:
    """An InputError unless it is a run that can go on."""
    known = attributes_of(path)
    if known.get("format") != GROWN:
        said = "was saved whole, not written as it went" if known.get("format") in FORMATS else "is of another version"
        raise InputError(
            f"{str(path)!r} {said} (its format is {shown(known.get('format'))}; this polhode goes on with {GROWN!r}). "
            f"polhode run {path} --until TIME makes a longer run of it"
        )
    if changed := differences(known.get("environment")):
        warn(f"{path}: from here on the last bits of its numbers may differ: {'; '.join(changed)}")


def _tidied(tree: Tree) -> None:
    """What a process left that was killed when the run had ended, before it had taken its own things away."""
    if tree.attributes.get("finished") == 1:
        with suppress(TornError):
            tree.look(tree.samples)
            tree.clean()
            clean_marks(tree, END)


def clean_marks(tree: Tree, slot: str) -> None:
    """Take away what was written in the hidden folder after the last commit, whose mark is `slot`."""
    parts = tree.samples // tree.rows
    for each in tree.hidden.iterdir():
        full = each.name.startswith("c") and each.name[1:].isdecimal() and int(each.name[1:]) <= parts
        if not full and each.name not in (LOCK, NAME, slot):
            shutil.rmtree(each) if each.is_dir() else each.unlink()


@contextmanager
def room_for(path: Path) -> Iterator[None]:
    """A full disk, and what else keeps files of the folder from being written, in words."""
    try:
        yield
    except OSError as error:
        if isinstance(error, SaveError) or not (error.errno in NO_ROOM or _is_in(path, error.filename)):
            raise
        what = "make room" if error.errno in NO_ROOM else "make it a folder that you may write to, or copy it to one"
        there = f"What was committed is whole; {what}, then go on with it: polhode resume {path}"
        words = there if (path / HIDDEN).is_dir() else f"Nothing of it was begun; {what}, then run it again"
        raise SaveError(f"{str(path)!r} cannot be written: {error.strerror}. {words}") from error


def _is_in(folder: Path, name: Any) -> bool:
    """Whether it is a file there: others are of the user's functions."""
    return isinstance(name, str | os.PathLike) and Path(os.path.realpath(folder)) in Path(name).parents
