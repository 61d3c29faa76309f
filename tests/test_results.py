"""Datasets, files (one contract for every format) and pictures."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import polhode as ph
from polhode.inputs import job_of
from polhode.model import InputError
from polhode.results import store
from polhode.results.compare import compare


@pytest.fixture(scope="module")
def run() -> Any:
    case = job_of("heavy-top", {"spin": 30.0})
    return case.override(until=0.1).run(ph.methods.IMIDM(), 1e-3)


def test_dataset_has_names_units_and_enough_to_rerun(run: Any) -> None:
    d = run.dataset
    assert d.attitude.dims == ("t", "quaternion")
    assert d.quaternion.values.tolist() == ["w", "x", "y", "z"]
    assert all(d[name].attrs["units"] for name in [*d.data_vars, "t"])
    assert d.attrs["method"] == "imidm"
    np.testing.assert_allclose(d.energy, d.kinetic + d.potential)
    np.testing.assert_allclose(d.casimir, 0.5 * (d.momentum**2).sum("axis"))


@pytest.mark.parametrize("ending", [".zarr", ".nc", ".csv"])
class TestEveryFormat:
    """The contract of a store."""

    def test_round_trip_is_exact(self, run: Any, ending: str, tmp_path: Path) -> None:
        path = run.save(tmp_path / f"run{ending}")
        back = ph.load(path)
        xarray.testing.assert_identical(back, run.dataset)
        for name in run.dataset.variables:
            assert back[name].values.tobytes() == run.dataset[name].values.tobytes()

    def test_saving_again_replaces(self, run: Any, ending: str, tmp_path: Path) -> None:
        for _ in range(2):
            run.save(tmp_path / f"run{ending}")
        assert [p.name for p in tmp_path.iterdir()] == [f"run{ending}"]

    def test_running_it_again_gives_the_same_bits(self, run: Any, ending: str, tmp_path: Path) -> None:
        case = job_of(str(run.save(tmp_path / f"run{ending}")))
        ((method, step),) = case.chosen()
        again = case.run(method, step)
        assert again.dataset.momentum.values.tobytes() == run.dataset.momentum.values.tobytes()
        assert again.recipe == run.recipe

    def test_a_file_cut_short_is_an_error_with_advice(self, run: Any, ending: str, tmp_path: Path) -> None:
        path = run.save(tmp_path / f"run{ending}")
        victim = path / "zarr.json" if path.is_dir() else path
        victim.write_bytes(victim.read_bytes()[: victim.stat().st_size // 2])
        with pytest.raises(InputError, match="cannot be read as a trajectory .*cut short"):
            ph.load(path)

    def test_a_write_that_fails_leaves_the_old_file(
        self, run: Any, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = run.save(tmp_path / f"run{ending}")

        def broken(dataset: Any, half: Path) -> None:
            half.write_text("half")
            raise OSError("disk full")

        monkeypatch.setattr(store._format(ending), "write", broken)
        with pytest.raises(OSError, match="disk full"):
            run.save(path)
        xarray.testing.assert_identical(ph.load(path), run.dataset)
        assert [p.name for p in tmp_path.iterdir()] == [f"run{ending}"]

    def test_missing(self, ending: str, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="there is no file"):
            ph.load(tmp_path / f"none{ending}")


def test_other_files_are_refused(run: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot tell the format of .*'.txt'"):
        run.save(tmp_path / "run.txt")
    with pytest.raises(InputError, match="no folder"):
        run.save(tmp_path / "nowhere" / "run.nc")
    foreign = tmp_path / "foreign.nc"
    xarray.Dataset({"x": ("t", [1.0])}).to_netcdf(foreign, engine="h5netcdf")
    with pytest.raises(InputError, match="was not written by polhode"):
        ph.load(foreign)


@pytest.mark.parametrize("ending", [".zarr", ".nc", ".csv"])
def test_what_is_not_ours_is_not_replaced(run: Any, ending: str, tmp_path: Path) -> None:
    folder = tmp_path / f"mine{ending}"
    folder.mkdir()
    (folder / "thesis.txt").write_text("precious")
    with pytest.raises(InputError, match="not a trajectory that polhode saved, so it is not replaced"):
        run.save(folder)
    assert (folder / "thesis.txt").read_text() == "precious"
    file = tmp_path / f"other{ending}"
    file.write_text("precious")
    with pytest.raises(InputError, match="not replaced"):
        run.save(file)
    assert file.read_text() == "precious"


def test_a_folder_that_cannot_be_written_is_said_before(run: Any) -> None:
    with pytest.raises(InputError, match="cannot write into the folder '/proc'"):
        run.save("/proc/x.nc")


def test_a_batch_saves_to_zarr_and_netcdf_but_not_csv(tmp_path: Path) -> None:
    batch = ph.simulate(ph.RigidBody((1, 2, 2.5)), None, ph.State.of(omega=np.eye(3)), step=0.1, steps=3)
    for ending in (".zarr", ".nc"):
        xarray.testing.assert_identical(ph.load(batch.save(tmp_path / f"b{ending}")), batch.dataset)
    with pytest.raises(InputError, match="batch does not fit into a .csv"):
        batch.save(tmp_path / "b.csv")


def test_a_run_from_a_python_function_says_that_it_cannot_be_rerun(tmp_path: Path) -> None:
    run = ph.simulate(
        ph.RigidBody((1, 2, 2.5)), ph.Potential(lambda R: R.m33), ph.State.of(omega=(1, 0, 0)), step=0.1, steps=2
    )
    with pytest.raises(InputError, match="made from Python objects"):
        job_of(str(run.save(tmp_path / "run.nc")))


@pytest.mark.parametrize("kind", ["energy", "momentum", "polhode", "attitude"])
def test_plots_draw_the_data(run: Any, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "plot.png"
    figure = getattr(run.plot, kind)(path=path)
    assert path.stat().st_size > 5000
    lines = figure.axes[0].lines
    assert len(lines) == {"energy": 1, "momentum": 3, "polhode": 1, "attitude": 3}[kind]
    assert len(lines[0].get_xdata()) == len(run.t)


def test_page_of_plots_and_comparison(run: Any, tmp_path: Path) -> None:
    assert len(run.plot(tmp_path / "all.svg").axes) == 4
    figure = compare([run, run], "twice", tmp_path / "two.png")
    assert [len(ax.lines) for ax in figure.axes] == [2, 2, 2, 2]


def test_the_polhode_lies_on_the_ellipsoid_in_any_body_frame() -> None:
    tensor = np.array([[2.0, 0.3, -0.2], [0.3, 2.5, 0.1], [-0.2, 0.1, 3.0]])
    run = ph.simulate(ph.RigidBody(tensor), None, ph.State.of(omega=(1, 0.2, 0.3)), method="akw", step=0.05, steps=200)
    on = np.einsum("ni,ij,nj->n", run.omega, tensor, run.omega)
    np.testing.assert_allclose(on, on[0], rtol=1e-13)
    assert run.plot.polhode().axes[0].lines


def test_reprs(run: Any) -> None:
    text = repr(run)
    assert "imidm, 100 steps of 0.001 s to t = 0.1" in text
    assert "energy drift" in text
    assert "<details>" in run._repr_html_()
