"""Runs that were written as they went: saved to files, replaced, gone on with by others, given in folders of anyone."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import polhode as ph
from polhode.model import InputError
from polhode.results import growing, save, tree

STEPS = 60


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Small parts; waiting for the disk is for power cuts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tree, "settled", lambda paths: None)
    monkeypatch.setattr(growing, "SECONDS", 0.0)
    monkeypatch.setattr(tree, "NUMBERS", 2**9)
    yield


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

    def meanwhile(run: Any) -> None:
        if not said:
            with pytest.raises(InputError, match="is being written by another process") as caught:
                if how == "save":
                    other.save("a.zarr")
                else:
                    body("a.zarr", force=True, **({"step": [0.1, 0.05]} if how == "several" else {}))
            said.append(str(caught.value))

    assert len(body("a.zarr", on_sample=meanwhile)["energy"]) == STEPS + 1
    assert said
    assert [each.name for each in Path().iterdir()] == ["a.zarr"]
