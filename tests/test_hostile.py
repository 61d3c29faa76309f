"""Hostile input: what was found by fuzzing, each by its name; and some of the fuzzing itself."""

import hashlib
import json
import os
import pickle
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzzing.__main__ import CASES, fuzzed
from fuzzing.chance import TRAP
from fuzzing.files import restored, saved
from fuzzing.guard import checked
from fuzzing.stores import ENDED, saved_sweep
from fuzzing.texts import trap
from hypothesis import given, settings
from hypothesis import strategies as st

import polhode as ph
from polhode._programs import files as programs
from polhode.cli.status import status_of
from polhode.cli.sweep import sweep_status
from polhode.inputs import job_of
from polhode.model import InputError
from polhode.model.described import made
from polhode.results import store
from polhode.results.tree import Tree

FEW = {"formulas": 800, "conditions": 800, "inputs": 400, "commands": 100, "damage": 40, "contents": 40, "marks": 40,
       "programs": 200, "numbers": 40, "datasets": 20, "sweeps": 300, "members": 30}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """With saved runs of every kind, and a module that nobody may import."""
    before, place = Path.cwd(), tmp_path_factory.mktemp("hostile")
    os.chdir(place)
    trap(place)
    sys.path.insert(0, str(place))
    saved.cache_clear()
    saved()
    yield place
    sys.path.remove(str(place))
    os.chdir(before)


@pytest.mark.parametrize("name", FEW)
def test_fuzzed(name: str) -> None:
    checked(CASES[name], b"")
    taken, found = fuzzed(name, FEW[name])
    assert not found, "\n".join(trace for _, _, trace in found.values())
    assert 0 < taken < FEW[name]  # neither all harmless nor all refused


@pytest.mark.long
@pytest.mark.parametrize("name", FEW)
def test_fuzzed_for_long(name: str) -> None:
    checked(CASES[name], b"")
    _, found = fuzzed(name, 100 * FEW[name], seed=1)
    assert not found, "\n".join(trace for _, _, trace in found.values())


@settings(max_examples=200)
@given(st.sampled_from(("formulas", "conditions", "inputs", "programs")), st.binary(max_size=200))
def test_any_bytes(name: str, data: bytes) -> None:
    assert checked(CASES[name], data) in (True, False)


def other(change: Any) -> Path:
    """A run that was written as it went, with its zarr.json changed by someone who knows the checksum."""
    path = Path("other.zarr")
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree("fuzzing_saved/grown.zarr", path)
    tree = Tree(path)
    change(tree._root)
    tree._root["attributes"]["checksum"] = tree._sum()
    (path / "zarr.json").write_text(json.dumps(tree._root))
    return path


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("plan", "{}", "its step is"),
        ("plan", '{"step": -1.0, "total": 4, "every": 1, "at": null, "seconds": null}', "its step is -1.0"),
        ("plan", 3, "its plan is 3"),
        ("t0", "x", "its t0 is 'x'"),
        ("steps", -1, "its steps is -1"),
        ("status", "FINE", "its status is 'FINE'"),
        ("checkpoint", "../../../x", "its checkpoint is"),
        ("watched", "[1]", "its 0 is 1"),
    ],
)
def test_attributes_of_a_run_that_grows(key: str, value: Any, says: str) -> None:
    path = other(lambda root: root["attributes"].update({key: value}))
    with pytest.raises(InputError, match=says):
        status_of(path)
    with pytest.raises(InputError, match=says):
        ph.resume(path, until=1.0)


def _renamed(root: Any) -> None:
    arrays = root["consolidated_metadata"]["metadata"]
    arrays["../../outside"] = arrays.pop("energy")


def _huge(root: Any) -> None:
    for about in root["consolidated_metadata"]["metadata"].values():
        if about["dimension_names"][:1] == ["t"]:
            about["shape"][0] = 10**15


def _coded(root: Any) -> None:
    root["consolidated_metadata"]["metadata"]["energy"]["codecs"].append({"name": "numcodecs.pickle"})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_renamed, "an array is called '../../outside'"),  # resume would clean up there
        (_huge, "GiB, and|is missing"),
        (_coded, "is not one that polhode writes"),
        (lambda root: root.update(consolidated_metadata=[]), "does not hold the metadata"),
        (lambda root: root["consolidated_metadata"]["metadata"].pop("t"), "it has no samples"),
    ],
)
def test_folders_that_say_something_else(change: Any, says: str) -> None:
    path = other(change)
    with pytest.raises(InputError, match=says):
        ph.load(path)
    if change is not _huge:  # where it stands is in its mark, and it goes on from there
        with pytest.raises(InputError):
            ph.resume(path, until=1.0)


class Evil:
    def __reduce__(self) -> Any:
        return (open, ("ran", "w"))


def test_pickles_in_a_folder_of_zarr_2_are_not_read() -> None:
    """zarr 2 has a codec for them; whether it runs what they say, depends on its version."""
    path = Path("pickled.zarr")
    (path / "t").mkdir(parents=True)
    (path / ".zgroup").write_text('{"zarr_format": 2}')
    (path / ".zattrs").write_text('{"format": "polhode trajectory 3"}')
    about = {"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "|O", "compressor": None, "fill_value": None,
             "order": "C", "filters": [{"id": "vlen-utf8"}, {"id": "pickle", "protocol": 5}]}  # fmt: skip
    (path / "t" / ".zarray").write_text(json.dumps(about))
    (path / "t" / ".zattrs").write_text('{"_ARRAY_DIMENSIONS": ["t"]}')
    (path / "t" / "0").write_bytes(pickle.dumps(np.array([Evil()], dtype=object)))
    with pytest.raises(InputError, match="zarr.json"):
        ph.load(path)
    assert not Path("ran").exists()


@pytest.mark.parametrize(
    "named", [f"{TRAP}:Method", "polhode.__main__:main", "polhode.cli.main:app", "polhode.results.store:os.system"]
)
def test_a_file_imports_nothing_without_trust(named: str) -> None:
    dataset = ph.load("fuzzing_saved/run.csv")
    recipe = json.loads(dataset.attrs["recipe"])
    recipe["run"]["method"] = named
    ph.results.save(dataset.assign_attrs(recipe=json.dumps(recipe)), "named.csv")
    before = set(sys.modules)
    with pytest.raises(InputError, match="--trust|cannot import|is not a"):
        job_of("named.csv").chosen()
    assert not {TRAP, "polhode.__main__"} & (set(sys.modules) - before)


def test_a_program_on_disk_names_no_code_to_run() -> None:
    path = Path("program-0")
    for named in ("polhode.__main__:main", "polhode.cli.main:main", "polhode.results.store:load", f"{TRAP}:x"):
        content = json.dumps([named, {}]).encode() + b"\n"
        digest = programs._digest(path, content).encode()
        path.write_bytes(b"\n".join([programs._MAGIC, digest, content]))
        path.chmod(0o600)
        with pytest.raises(ValueError, match="is not"):
            programs._decoded([named, {}])
        assert programs.read(path) is None


@pytest.mark.parametrize(
    ("options", "says"),
    [({"solver": 5}, "cannot have solver = 5"), ({"solver": None}, "cannot have solver"), ({"x": 1}, "no longer has")],
)
def test_options_of_a_method_from_a_file(options: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        made({"class": "polhode.methods:IMIDM", "options": options}, trust=False)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("sweep.json", lambda x: [], "sweep.json' cannot be read"),
        ("sweep.json", lambda x: x | {"groups": {"../../x": [0, 1]}}, "sweep.json' cannot be read .*groups"),
        ("sweep.json", lambda x: x | {"groups": {"group-0": [0]}}, "its groups are not of all members"),
        ("sweep.json", lambda x: x | {"count": 10**30}, "sweep.json' cannot be read .*count"),
        ("group-0.json", lambda x: [x[0] | {"member": 7}], "not running"),
        ("group-0.json", lambda x: [{k: v for k, v in x[0].items() if k != "end_time"}], "not running"),
        ("group-0.json", lambda x: [x[0] | {"store": "../../fuzzing_saved/grown.zarr"}], "not running"),
    ],
)
def test_the_folder_of_a_sweep(name: str, change: Any, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Its plan says what is wrong with it; what became of members and cannot be read, is done again."""
    folder = Path("held.zarr.members")
    restored(saved_sweep(), folder)
    (folder / "group-0.json").write_text(json.dumps(ENDED[:1]))
    (folder / "group-1.json").write_text(json.dumps(ENDED[1:]))
    sweep_status(Path("held.zarr"), as_json=False)
    assert "ended" in capsys.readouterr().out
    (folder / name).write_text(json.dumps(change(json.loads((folder / name).read_text()))))
    if name == "sweep.json":
        with pytest.raises(InputError, match=says):
            sweep_status(Path("held.zarr"), as_json=False)
    else:
        sweep_status(Path("held.zarr"), as_json=False)
        assert says in capsys.readouterr().out


def test_a_mark_that_counts_in_words_is_left_out() -> None:
    path = other(lambda root: None)
    mark = path / ".polhode" / "end"
    line, _, numbers = mark.read_bytes()[:-32].partition(b"\n")
    data = json.dumps({**json.loads(line), "samples": [1], "done": "x"}).encode() + b"\n" + numbers
    mark.write_bytes(data + hashlib.sha256(data).digest())
    with pytest.warns(UserWarning, match="its counts are not whole numbers"):
        run = ph.resume(path, until=0.06)
    assert len(run.t) == 7


def test_words_of_thousands_of_letters_are_shortened() -> None:
    with pytest.raises(InputError) as caught:
        ph.rotation.formulas.PotentialFormula.parse("1 " + "x" * 5000)
    assert len(str(caught.value)) < 700
    text = Path("fuzzing_saved/run.csv").read_text().replace('"rows": ', f'"rows": {"[" * 900}{"]" * 900}, "x": ', 1)
    Path("long.csv").write_text(text)
    with pytest.raises(InputError, match="cannot be read as a trajectory") as caught:
        ph.load("long.csv")
    assert len(str(caught.value)) < 700
    dataset = ph.load("fuzzing_saved/run.csv").assign_attrs(format=["[" * 3000])
    store._format(".csv").write(store.with_checksums(dataset), Path("long.csv"))
    with pytest.raises(InputError, match="was not written by polhode") as caught:
        ph.load("long.csv")
    assert len(str(caught.value)) < 700
