"""A folder that a run goes on in: what does not grow in it is as it should be, or is written again."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from polhode._notices import warn
from polhode.model.checks import InputError
from polhode.results.opened import room_for
from polhode.results.planting import planted
from polhode.results.tree import TornError, Tree


def mend(tree: Tree, dataset: Any, path: Path) -> None:
    """Numbers of the system, names and labels follow from what the run is of, which the dataset holds. An InputError
    where the folder speaks of another run; `path`: as the user calls it."""
    place = tree.hidden / "new"
    try:
        with room_for(path):
            wrong = _mended(tree, dataset, place)
    except TornError as error:
        raise InputError(f"{str(path)!r} cannot go on: {error}. Run it again from its start") from error
    finally:
        shutil.rmtree(place, ignore_errors=True)
    if wrong:
        warn(f"{str(path)!r}: {', '.join(wrong)} not as they were written; they were written again")


def _mended(tree: Tree, dataset: Any, place: Path) -> list[str]:
    """Names of what was written again; `place`: for what it should be."""
    tree.look_at_root()
    shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
    planted(dataset, place, tree.rows)
    fresh = Tree(place)
    if fresh.growing != tree.growing:
        raise TornError("its arrays are those of another run")
    fixed = [name for name in fresh.arrays if name not in fresh.growing]
    wrong = [name for name in fixed if not _alike(name, fresh, tree)]
    tree.graft(place, wrong)
    return wrong


def _alike(name: str, one: Tree, other: Tree) -> bool:
    return one.arrays[name] == other.arrays.get(name) and _files(one.path / name) == _files(other.path / name)


def _files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
