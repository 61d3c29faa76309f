"""Saved runs of every kind, and programs: spoilt as a disk spoils them, and written anew by someone who means harm."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import polhode as ph
import polhode.resuming
from fuzzing.chance import Chance, spoilt_bytes, spoilt_json
from fuzzing.texts import a_run
from polhode._programs import files as programs_on_disk
from polhode.cli.status import status_of
from polhode.inputs import job_of
from polhode.model import InputError
from polhode.results import store
from polhode.results.checkpoints import Mark, SpoiltError
from polhode.results.sound import sound
from polhode.results.store import load
from polhode.results.tree import TornError, Tree
from polhode.simulation import Plan

HOME = Path("fuzzing_saved")
KINDS = ("run.csv", "run.zarr", "run.nc", "grown.zarr")


@cache
def saved() -> dict[str, Any]:
    """What was saved, by name."""
    for each in (HOME, Path("fuzzing_sweep"), *Path().glob("case-*")):
        shutil.rmtree(each, ignore_errors=True)
    _content.cache_clear()
    HOME.mkdir()
    run = a_run()
    for name in KINDS[:3]:
        run.save(HOME / name)
    _grown(HOME / "grown.zarr")
    return {name: load(HOME / name) for name in KINDS}


def _grown(path: Path) -> None:
    ph.simulate(ph.problem("free-body"), method="rkn6-dmv10", step=0.01, steps=4, out=path, progress=False)


def copied(name: str) -> Path:
    """As it was saved."""
    source, target = HOME / name, Path(f"case{Path(name).suffix}")
    if not source.is_dir():
        shutil.copyfile(source, target)
        return target
    return restored(source, Path(f"case-{name}"))


def restored(source: Path, target: Path) -> Path:
    """A folder as it was: what the case before left of it is kept where it still is that."""
    known, there = _content(source), {str(p.relative_to(target)): p for p in target.rglob("*") if p.is_file()}
    for word in set(there) - set(known):
        there[word].unlink()
    for word, data in known.items():
        if word not in there or there[word].read_bytes() != data:
            (target / word).parent.mkdir(parents=True, exist_ok=True)
            (target / word).write_bytes(data)
    return target


@cache
def _content(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


class Reached(InputError):  # noqa: N818
    """The input was taken, and a run would begin."""


def stop(*args: Any, **more: Any) -> Any:
    raise Reached("a run would begin")


@contextmanager
def _without_steps() -> Iterator[None]:
    with (
        mock.patch.object(polhode.resuming, "writing_of", stop),
        mock.patch("polhode.inputs.going_on.first_leg", stop),
        mock.patch("polhode.inputs.job.simulate", stop),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


def all_that_reads(path: Path, chance: Chance) -> None:
    with _without_steps():
        match chance.below(4):
            case 0:
                load(path)
            case 1:
                job = job_of(str(path))
                for method, step in job.chosen():
                    if step is not None:
                        Plan.of(step, job.until, job.steps, job.every)
                    if chance.one_in(2):
                        job.override(until=1e3).run(method, step, progress=False)
            case 2:
                status_of(path)
            case 3:
                polhode.resuming.resume(path, until=chance.pick((None, 1.0, 1e3)), progress=False)


def damage(chance: Chance) -> None:
    """Bytes of a file changed: it is refused, or what is read is what was saved."""
    name = chance.pick(KINDS)
    known = saved()[name]
    path = copied(name)
    if path.is_dir():
        every = sorted(p for p in path.rglob("*") if p.is_file())
        one = chance.pick(every)
    else:
        one = path
    if one.is_file() and path.is_dir() and chance.one_in(10):
        one.unlink()
    else:
        one.write_bytes(spoilt_bytes(chance, one.read_bytes()))
    if chance.one_in(4):
        all_that_reads(path, chance)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = load(path)
    for each in (found, known := known.copy()):
        each.attrs.pop("seconds", None)
    if not found.identical(known):
        raise AssertionError(f"{one} was changed and read as something else")


def contents(chance: Chance) -> None:
    """Attributes and structure changed, with checksums that fit."""
    name = chance.pick(KINDS)
    known = saved()[name]
    path = copied(name)
    if name == "grown.zarr" or (name == "run.zarr" and chance.one_in(2)):
        _other_tree(chance, path)
    else:
        attributes = spoilt_attributes(chance, known.attrs)
        try:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
            whole = store.with_checksums(known.assign_attrs(attributes))
            store._format(path.suffix).write(whole, path)
        except Exception as error:  # what cannot be written need not be read
            raise Reached(f"nothing was written: {type(error).__name__}") from error
    all_that_reads(path, chance)


def spoilt_attributes(chance: Chance, attributes: dict[str, Any]) -> dict[str, Any]:
    """Those that are JSON inside too."""
    known = dict(attributes)
    inside = [k for k in ("recipe", "plan", "watched", "environment", "stands") if k in known]
    if inside and chance.one_in(2):
        key = chance.pick(inside)
        data = json.loads(known[key] or "{}")
        return {**known, key: json.dumps(spoilt_json(chance, data))}
    return spoilt_json(chance, known)


def _other_tree(chance: Chance, path: Path) -> None:
    root = json.loads((path / "zarr.json").read_text(encoding="utf-8"))
    if chance.one_in(2):
        found = spoilt_attributes(chance, root["attributes"])
        root["attributes"] = found if isinstance(found, dict) else {}
    else:
        root = spoilt_json(chance, root)
    if isinstance(root, dict) and isinstance(root.get("attributes"), dict):
        try:
            tree = Tree(path)
            tree._root = root
            root["attributes"]["checksum"] = tree._sum()
        except Exception:  # then it has none
            pass
    (path / "zarr.json").write_text(json.dumps(root), encoding="utf-8")


@cache
def _start() -> Mark:
    saved()
    tree = Tree(HOME / "grown.zarr")
    like = a_run().trajectory.end.state
    like = type(like)(*like) if isinstance(like, tuple) else like
    empty = hashlib.sha256().digest()
    mark = Mark.read(tree.hidden / tree.attributes["checkpoint"], like)
    return Mark(mark.at, 0, mark.tally, b"", empty)


def marks(chance: Chance) -> None:
    """Where a run stands, written anew."""
    start = _start()
    path = copied("grown.zarr")
    tree = Tree(path)
    place = tree.hidden / tree.attributes["checkpoint"]
    data = place.read_bytes()[:-32]
    if chance.one_in(3):
        data = spoilt_bytes(chance, data)
    else:
        line, _, numbers = data.partition(b"\n")
        data = json.dumps(spoilt_json(chance, json.loads(line))).encode() + b"\n" + numbers
    place.write_bytes(data + hashlib.sha256(data).digest())
    try:
        mark, _ = sound(tree, start)
        assert isinstance(mark.samples, int)
        assert 0 <= mark.samples <= tree.samples
        assert isinstance(mark.at.done, int)
        Mark.read(place, start.at.state)
    except (SpoiltError, TornError) as error:
        raise InputError(str(error)) from error


@cache
def _program() -> tuple[bytes, bytes]:
    import jax

    exported = jax.export.export(jax.jit(lambda x: x * 2.0))(np.ones(3))
    path = Path("program-0123")
    programs_on_disk.write(path, (0, [1, 2]), exported)
    _, _, content = path.read_bytes().split(b"\n", 2)
    tree, program = content.split(b"\n", 1)
    return tree, program


def programs(chance: Chance) -> None:
    """Files of compiled programs: read as they were, or as good as none."""
    tree, program = _program()
    path = Path("program-0123")
    content = tree + b"\n" + program
    match chance.below(3):
        case 0:
            whole = b"\n".join([programs_on_disk._MAGIC, programs_on_disk._digest(path, content).encode(), content])
            whole = spoilt_bytes(chance, whole)
        case _:
            data = spoilt_json(chance, chance.pick((json.loads(tree), ["polhode.algebra:Vec3", {"x": 1}],
                ["polhode.__main__:x", {}], ["fuzzing_trap:x", {}], ["polhode.cli.main:main", {}])))  # fmt: skip
            content = json.dumps(data).encode() + b"\n" + program
            whole = b"\n".join([programs_on_disk._MAGIC, programs_on_disk._digest(path, content).encode(), content])
    path.write_bytes(whole)
    os.chmod(path, 0o600)
    if programs_on_disk.read(path) is None:
        raise InputError("none")
