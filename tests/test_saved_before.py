"""Files that the version before saved: they load, plot and run again as files of today do."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polhode as ph
from polhode.inputs import job_of

FOLDER = Path(__file__).parent / "saved_before"
FILES = sorted(path.name for path in FOLDER.iterdir())


def test_all_formats_and_kinds_are_here() -> None:
    assert FILES == ["batch.nc", "pendulum.csv", "pendulum.nc", "top.csv", "top.nc", "top.zarr"]


@pytest.mark.parametrize("name", FILES)
def test_it_loads_and_plots(name: str, tmp_path: Path) -> None:
    dataset = ph.load(FOLDER / name)
    assert dataset.attrs["format"] == "polhode trajectory 2"
    assert dataset.attrs["kind"] == ("system" if "pendulum" in name else "rotation")
    assert "body" not in dataset.dims or "pendulum" in name  # the name of bodies, and of nothing else
    if name == "batch.nc":
        assert dataset.energy.dims == ("t", "member")
        dataset = dataset.isel(member=1)
    ph.Plots(dataset)(tmp_path / "again.png")
    assert (tmp_path / "again.png").stat().st_size > 10_000


@pytest.mark.parametrize("name", ["pendulum.nc", "top.csv"])
def test_it_runs_again(name: str) -> None:
    before: Any = ph.load(FOLDER / name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of another machine
        job = job_of(str(FOLDER / name))
    ((method, step),) = job.chosen()
    again = job.run(method, step).dataset
    for quantity in ("attitude", "omega", "energy"):
        np.testing.assert_allclose(again[quantity].values, before[quantity].values, atol=1e-11)
