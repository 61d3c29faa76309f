"""Runs that were written as they went: saved to files, replaced, gone on with by others, given in folders of anyone."""

import errno
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import polhode as ph
from polhode.model import InputError
from polhode.results import durable, growing, save, tree
from polhode.results.dataset import at_its_end
from polhode.results.metadata import LATER
from polhode.simulation import Happened

STEPS = 60


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small parts; waiting for the disk is for power cuts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tree, "settled", lambda paths: None)
    monkeypatch.setattr(growing, "SECONDS", 0.0)
    monkeypatch.setattr(tree, "NUMBERS", 2**9)


def body(out: str, **more: Any) -> Any:
    how = {"method": "dmv", "step": 0.01, "steps": STEPS, **more}
    return ph.simulate(ph.problem("free-body"), **how, out=out)


def test_a_written_run_is_saved_as_any_other() -> None:
    """With checksums of its own, which tell where something was changed."""
    run = body("a.zarr")
    for name in ("b.zarr", "b.nc", "b.csv"):
        run.save(name)
        loaded = ph.load(name)
        assert loaded.attrs["format"] == ph.results.dataset.FORMAT
        assert "chain" not in loaded.attrs
        np.testing.assert_array_equal(loaded.energy, run["energy"])
    with h5py.File("b.nc", "a") as file:
        file["energy"][5] = 7.0
    lines = Path("b.csv").read_text().split("\n")
    cells = lines[30].split(",")
    Path("b.csv").write_text("\n".join([*lines[:30], ",".join([*cells[:2], "0.5", *cells[3:]]), *lines[31:]]))
    for name in ("b.nc", "b.csv"):
        with pytest.raises(InputError, match="differs from what was saved"):
            ph.load(name)


def test_saved_onto_itself_it_is_whole() -> None:
    run = body("a.zarr")
    save(ph.load("a.zarr"), "a.zarr")
    assert ph.load("a.zarr").sizes["t"] == run.steps + 1


@pytest.mark.parametrize("how", ["save", "several", "force"])
def test_what_is_being_written_is_not_replaced(how: str) -> None:
    """By a run in memory that is saved there, by a batch, by another run."""
    said: list[str] = []
    other = ph.simulate(ph.problem("free-body"), method="dmv", step=0.01, steps=2)
    ways = {
        "save": lambda: other.save("a.zarr"),
        "several": lambda: body("a.zarr", force=True, step=[0.1, 0.05]),
        "force": lambda: body("a.zarr", force=True),
    }

    def meanwhile(run: Any) -> None:
        if not said:
            with pytest.raises(InputError, match="is being written by another process") as caught:
                ways[how]()
            said.append(str(caught.value))

    assert len(body("a.zarr", on_sample=meanwhile)["energy"]) == STEPS + 1
    assert said
    assert [each.name for each in Path().iterdir()] == ["a.zarr"]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in a folder, of several parts."""
    path = tmp_path_factory.mktemp("ended") / "run.zarr"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree, "NUMBERS", 2**9)
        body(str(path))
    return path


def copied(ended: Path) -> Path:
    return Path(shutil.copytree(ended, "run.zarr"))


@pytest.mark.parametrize(
    "where",
    ["zarr.json", "zarr.json.partial", ".polhode/b.partial", ".polhode/lock", ".polhode/end", "energy/c", "event"],
)
@pytest.mark.parametrize("pipe", [False, True])
def test_links_and_pipes_in_a_folder_are_refused(where: str, pipe: bool, ended: Path, polhode: Any) -> None:
    """Nothing elsewhere is written to, made, or taken away; and nothing is waited for."""
    path = copied(ended)
    place, outside = path / where, Path("outside")
    outside.mkdir()
    (outside / "theirs").write_text("precious")
    if place.is_dir():
        shutil.copy(place / "0", outside / "0")
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    if pipe:
        os.mkfifo(place)
    else:
        place.symlink_to((outside if where in ("energy/c", "event") else outside / "theirs").absolute())
    before = sorted(outside.iterdir())
    polhode("status", "run.zarr")  # which looks at no parts
    for command in (["resume", "run.zarr", "--until", "1"], ["status", "run.zarr"])[: 1 + (where != "energy/c")]:
        code, _, err = polhode(*command)
        assert (code, "is a link to another place or no plain file" in " ".join(err.split())) == (2, True), err
    with pytest.raises(InputError, match="no plain file"):
        ph.load(path)
    assert (sorted(outside.iterdir()), (outside / "theirs").read_text()) == (before, "precious")


def test_a_file_of_two_names_is_not_written_to() -> None:
    Path("theirs").write_text("precious")
    os.link("theirs", "file.partial")
    durable.written(Path("file"), b"ours")
    assert (Path("theirs").read_text(), Path("file").read_bytes()) == ("precious", b"ours")


def test_what_a_user_keeps_in_the_folder_stays(ended: Path) -> None:
    path = copied(ended)
    for kept in (path / "notes", path / "notes" / "inside"):
        kept.mkdir()
        (kept / "x.partial").write_text("mine")
    (path / "link").symlink_to("notes")
    ph.resume(path, steps=10)
    assert (path / "link" / "inside" / "x.partial").read_text() == "mine"
    assert (path / "notes" / "x.partial").read_text() == "mine"


def test_arrays_that_come_at_the_end_are_known_by_name() -> None:
    """So that those of a process that was killed are told from a user's own folders."""
    start = ph.State.of(omega=(0.3, 1.0, 0.2))
    run = ph.simulate(ph.RigidBody([(1.0, 1.6, 2.2), (1.0, 1.5, 2.0)]), None, start, method="dmv", step=0.01, steps=2)
    run = replace(run, trajectory=replace(run.trajectory, events=(Happened("crossing", 0.01, None, False, 0),)))
    assert run.events
    assert set(map(str, at_its_end(run).variables)) == set(LATER)


def test_a_run_is_read_from_where_it_was_written_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a relative path too; and not what another run has put there since."""
    Path("sub").mkdir()
    run = body("a.zarr")
    energy = run["energy"]
    monkeypatch.chdir("sub")
    body("a.zarr", steps=7)
    assert len(run.t) == STEPS + 1
    np.testing.assert_array_equal(run.dataset.energy, energy)
    monkeypatch.chdir("..")
    assert run.save("a.zarr") == Path("a.zarr")
    longer = ph.resume("a.zarr", steps=10)
    for look in (lambda: run.t, lambda: run["energy"], lambda: run.last_state, run.read):
        with pytest.raises(InputError, match="was replaced, moved, or gone on with after this run had ended"):
            look()
    assert len(longer.t) == STEPS + 11
    body("a.zarr", force=True, steps=7)
    with pytest.raises(InputError, match="was replaced"):
        longer.save("elsewhere.nc")


@pytest.mark.parametrize("lost", [False, True])
def test_a_damaged_run_says_so_where_it_is_read(lost: bool) -> None:
    run, path = body("a.zarr"), Path("a.zarr/energy/c/0")
    path.unlink() if lost else path.write_bytes(bytes([path.read_bytes()[0] ^ 4]) + path.read_bytes()[1:])
    with pytest.raises(InputError, match=r"'a.zarr' is damaged: .*goes on from before that"):
        run["energy"]


def test_a_run_that_failed_is_not_run_again() -> None:
    """Asked once more for the same, it fails in the same words, and its samples stay."""
    top = ph.RigidBody((5, 5, 1)), ph.Potential(lambda R: 20 * (R[2, 2] - 0.9) ** 0.5), ph.State.of(omega=(1, 0, 0.1))
    how: dict[str, Any] = {"method": "rig_neg", "step": 1e-3, "steps": 1000, "every": 7, "out": "a.zarr"}
    said = []
    for _ in range(2):
        with pytest.raises(ph.StepError) as failed:
            ph.simulate(*top, **how, resume=True)
        said.append((str(failed.value), len(failed.value.run.t), Path("a.zarr/zarr.json").stat().st_ino))
    assert said[0] == said[1]
    assert said[0][0].startswith("rig_neg failed in step 379")
    data = bytearray(Path("a.zarr/t/c/0").read_bytes())
    data[9] ^= 4
    Path("a.zarr/t/c/0").write_bytes(data)
    with pytest.raises(InputError, match=r"has ended \(.*, and is damaged: .*force=True"):
        ph.simulate(*top, **how, resume=True)


def test_asked_again_what_is_damaged_is_made_again(ended: Path) -> None:
    """Of a run that has ended: its chunks are read."""
    path = copied(ended)
    data = bytearray((path / "energy/c/0").read_bytes())
    data[9] ^= 4
    (path / "energy/c/0").write_bytes(data)
    with pytest.warns(UserWarning, match="part 0 of 'energy' is not what was written: its checksum differs; the run"):
        run = body("run.zarr", resume=True)
    np.testing.assert_array_equal(run["energy"], ph.load(ended).energy)
    assert run.most("energy") == run["energy"].max()


def test_what_does_not_grow_is_that_of_this_run() -> None:
    """The inertia of a batch, put there from the folder of another: whole, but not its own."""
    start = ph.State.of(omega=(0.3, 1.0, 0.2))
    for name, inertia in (("a", [(1.0, 1.6, 2.2), (1.0, 1.5, 2.0)]), ("b", [(1.0, 1.3, 1.9), (1.0, 1.7, 2.5)])):
        ph.simulate(ph.RigidBody(inertia), None, start, method="dmv", step=0.01, steps=2, out=f"{name}.zarr")
    saved = ph.load("a.zarr")
    shutil.rmtree("a.zarr/inertia/c")
    shutil.copytree("b.zarr/inertia/c", "a.zarr/inertia/c")
    with pytest.raises(InputError, match="what does not grow in it is not what was written"):
        ph.load("a.zarr")
    body = ph.RigidBody([(1.0, 1.6, 2.2), (1.0, 1.5, 2.0)])
    with pytest.warns(UserWarning, match="has ended, and what does not grow in it .*; it is written again"):
        ph.simulate(body, None, start, method="dmv", step=0.01, steps=2, out="a.zarr", resume=True)
    assert ph.load("a.zarr").drop_attrs().identical(saved.drop_attrs())


@pytest.mark.parametrize("name", ["lock", "new", "b.partial"])
def test_a_folder_that_may_not_be_written_to(
    name: str, ended: Path, polhode: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the system would say it: read-only, or with a folder in the place of a file. A leftover is taken away."""
    path, really = copied(ended), os.open
    if name == "lock":

        def refuse(place: Any, *about: Any) -> int:
            if Path(place).name == "lock":
                raise PermissionError(errno.EACCES, "Permission denied", str(place))
            return really(place, *about)

        monkeypatch.setattr(os, "open", refuse)
    elif name == "new":
        (path / ".polhode" / "new").write_text("left")
    else:
        (path / ".polhode" / name).mkdir()
    code, _, err = polhode("resume", "run.zarr", "--until", "1")
    if name == "new":
        assert code == 0, err
        return
    assert (code, "'run.zarr' cannot be written: " in " ".join(err.split())) == (1, True), err


def test_of_files_of_the_user_nothing_is_said() -> None:
    def own(run: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "/theirs")

    with pytest.raises(PermissionError, match="/theirs"):
        body("other.zarr", on_sample=own)
