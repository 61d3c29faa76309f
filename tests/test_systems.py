"""Systems through simulate, results, files, pictures and the command line."""

import json
import warnings
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import polhode as ph
from polhode import multibody as mb
from polhode.model import InputError
from polhode.problems import problem_of
from polhode.solve import Chord


@pytest.fixture(scope="module")
def disk() -> ph.Run:
    return ph.simulate(problem_of("rolling-disk").problem(r0=-2.0).system, step=0.01, until=2.0, every=5)


def test_arrays_and_names(disk: ph.Run) -> None:
    n = len(disk.t)
    assert n == 41
    assert disk.positions.shape == (n, 1, 3)
    assert disk.attitude.shape == (n, 1, 3, 3)
    assert disk.multipliers.shape == (n, 3)
    assert list(disk.observables) == ["theta", "p", "q", "r", "x", "y"]
    np.testing.assert_allclose(disk.traces["contact"][:, 0], disk.observables["x"].values)
    np.testing.assert_allclose(disk.traces["contact"][:, 2], 0, atol=1e-14)
    assert disk.drift(disk.energy) < 1e-13  # measured 5e-15
    assert disk.slip.max() < 1e-13
    assert "every step was solved" in repr(disk)
    weight = disk.multipliers[1:, 0]  # nearly upright: the plane carries the disk
    assert np.abs(weight - 9.81).max() < 0.5


def test_how_a_run_is_cut_does_not_matter(disk: ph.Run) -> None:
    whole = ph.simulate(problem_of("rolling-disk").problem(r0=-2.0).system, step=0.01, steps=200, every=200)
    jax.tree.map(np.testing.assert_array_equal, whole.last_state, disk.last_state)


@pytest.mark.parametrize("ending", ["zarr", "nc", "csv"])
def test_files(disk: ph.Run, tmp_path: Path, ending: str) -> None:
    path = disk.save(tmp_path / f"disk.{ending}")
    again = ph.load(path)
    np.testing.assert_array_equal(again.theta.values, disk.observables["theta"].values)
    np.testing.assert_array_equal(again.position.values, disk.positions)
    assert list(again.row.values) == list(disk.system.row_names)
    ph.Plots(again)(tmp_path / "again.png")
    assert (tmp_path / "again.png").stat().st_size > 20_000


def test_pictures(disk: ph.Run, tmp_path: Path) -> None:
    disk.plot.forces(path=tmp_path / "forces.png")
    disk.plot.observables("theta", path=tmp_path / "theta.svg")
    page = disk.animate(tmp_path / "disk.html").read_text()
    assert "contact" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    top = ph.simulate(ph.RigidBody((5, 5, 1)), None, ph.State.of(omega=(0.1, 0, 5)), step=0.01, steps=100).animate(
        tmp_path / "top.html"
    )
    assert top.stat().st_size > 30_000


def test_command_line(polhode: Any) -> None:
    code, out, err = polhode("run", "rolling-disk", "--until", "0.2", "--json", "--out", "d.nc", "--plot", "d.html")
    assert (code, err) == (0, "")
    (record,) = json.loads(out)
    assert set(record["final"]["observables"]) == {"theta", "p", "q", "r", "x", "y"}
    assert record["ok"] is True
    assert np.shape(record["final"]["attitude"]) == (3, 3)
    assert record["constraints"]["slip"] < 1e-12
    code, out, _ = polhode("run", "d.nc", "--json")
    assert code == 0
    assert json.loads(out)[0]["final"] == record["final"]
    Path("disk.toml").write_text(
        'problem = "rolling-disk"\n[parameters]\nr0 = -2.25\n[run]\nmethod = ["three-field", "mm-dae"]\nuntil = 0.2\n'
    )
    code, out, _ = polhode("run", "disk.toml", "--plot", "two.png")
    assert code == 0
    assert "mm-dae" in out
    assert "theta" in out
    assert Path("two.png").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("run bicycle --method imidm", "imidm moves one rotating body"),
        ("run bicycle --method three-feld", "did you mean 'three-field'"),
        ("run bicycle --set sped=3", "did you mean 'speed'"),
        ("run rolling-disk --set inclination=1.5707963267948966", "lies flat"),
        ("run four-bar --set lengths=1,0.1,0.1,5", "cannot close a gap"),
        ("run rolling-sphere --set radius=2", "does not fit in a cylinder"),
        ("run rolling-sphere --set mass=0", "mass must be one positive number"),
    ],
)
def test_bad_input_exits_2(polhode: Any, arguments: str, says: str) -> None:
    code, out, err = polhode(*arguments.split())
    assert code == 2
    assert out == ""
    assert says in err


def test_methods_and_problems_are_listed(polhode: Any) -> None:
    _, out, _ = polhode("methods")
    assert "three-field-literal" in out
    _, out, _ = polhode("methods", "three-field")
    assert "second multiplier" in " ".join(out.split())
    _, out, _ = polhode("problems", "bicycle")
    assert "roll_rate" in out


def _ball(height: float, spin: float, offset: float = 0.0) -> mb.System:
    body = mb.Body("ball", 1.0, (0.1, 0.1, 0.1), position=(offset, 0, height), velocity=(1, 0, 0), omega=(0, spin, 0))
    return mb.System([body], constraints=[mb.RollingSphere("ball", radius=0.5)])


def test_a_start_a_little_off_is_moved_and_told_where() -> None:
    with pytest.warns(UserWarning, match="made consistent.*ball: moved by 0.0004 m, 0.000.* m/s") as told:
        run = ph.simulate(_ball(0.5004, 2.001), step=0.01, steps=2)
    assert told[0].filename == __file__
    assert run.gap[0] < 1e-12
    assert run.slip[0] < 1e-12
    assert run.multipliers[0].tolist() == pytest.approx([0, 0, 0], abs=1e-12)  # no weight, no force


@pytest.mark.parametrize(
    ("height", "spin", "offset", "says"),
    [
        (2.0, 2.0, 0.0, r"ball: moved by 1\.5 m"),
        (0.501, 2.0, 0.0, r"ball: moved by 0\.001 m"),
        (0.501, 2.0, 1e4, r"ball: moved by 0\.001 m"),  # however far away from the origin
        (0.5, 0.0, 0.0, "ball: moved by 0.286 m/s, 1.43 rad/s"),
    ],
)
def test_a_start_far_off_is_refused_unless_asked_for(height: float, spin: float, offset: float, says: str) -> None:
    system = _ball(height, spin, offset)
    with pytest.raises(InputError, match=says) as refused:
        ph.simulate(system, step=0.01, steps=2)
    assert "mb.consistent_start(system)[0]" in str(refused.value)
    asked = ph.simulate(system.replaced(start=mb.consistent_start(system)[0]), step=0.01, steps=2)
    assert asked.gap.max() < 1e-11


# Without spin: a disk let go, one thrown up that falls back, one thrown down; the other way; with steps so long that it
# is far from flat before the last one (0.18 rad).
@pytest.mark.parametrize(
    ("start", "step"),
    [
        ({"inclination": 0.1}, 0.001),
        ({"inclination": 1.2, "p0": 3.0}, 0.01),
        ({"inclination": 1.2, "p0": -3.0}, 0.01),
        ({"inclination": -0.3}, 0.02),
        ({"inclination": 0.3}, 0.1),
    ],
)
def test_a_wheel_that_falls_flat_is_named(start: dict[str, float], step: float) -> None:
    system = problem_of("rolling-disk").problem(**({"r0": 0.0} | start)).system
    with pytest.raises(
        ph.StepError, match="rollingdisk disk' comes to where its contact.*the wheel lies flat"
    ) as failure:
        ph.simulate(system, step=step, until=5.0)
    run = failure.value.run
    assert len(run.t) > 1
    theta = np.abs(run.observables["theta"].values)
    assert theta[-1] + (theta[-1] - theta[-2]) > np.pi / 2 - 0.05  # flat, or so after one more step


def test_a_wheel_that_whips_round_where_it_is_nearly_flat() -> None:
    """With a little spin it rises again, 0.004 rad from flat, within a step of 0.01, in which its rows would make nine
    times the energy of what there is: such a step is taken in parts, or refused; and is right with 0.001."""
    system = problem_of("rolling-disk").problem(inclination=1.2, q0=0.1, r0=0.1).system
    with pytest.warns(UserWarning, match="taken in parts"):
        run = ph.simulate(system, step=0.01, until=2.0)
    assert run.halvings > 0
    # A hundredth of the kinetic energy at most is made in a part of a step, and it whips round twice.
    assert np.ptp(run.energy) < 0.02 * run["kinetic"].max()  # measured 7e-4
    whole = mb.ThreeField(solver=Chord())
    with pytest.raises(ph.StepError, match="lies flat.*take a smaller step"):
        ph.simulate(system, method=whole, step=0.01, until=2.0)
    run = ph.simulate(system, step=0.001, until=2.0)
    assert run.drift(run.energy) < 1e-5
    assert np.pi / 2 - np.abs(run.observables["theta"].values).max() == pytest.approx(0.0044, abs=1e-3)


def test_a_wheel_that_turns_too_far_is_not_called_flat() -> None:
    system = problem_of("rolling-disk").problem(inclination=0.1, r0=-400.0).system
    with pytest.raises(ph.StepError, match="'disk' turns by 4 rad in a step"):
        ph.simulate(system, step=0.01, steps=3)


def test_a_rotation_beyond_pi_in_a_step_is_named() -> None:
    body = mb.Body("top", 1.0, (0.1, 0.1, 0.2), omega=(0, 0, 400))
    with pytest.raises(ph.StepError, match="'top' turns by 4 rad in a step.*below"):
        ph.simulate(mb.System([body]), method=mb.ThreeField(solver=Chord()), step=0.01, steps=3)


def test_simulate_says_what_a_system_needs() -> None:
    system = mb.System([mb.Body("a", 1.0, (1, 1, 1))])
    with pytest.raises(InputError, match="brings its own forces and start"):
        ph.simulate(system, None, ph.State.of(omega=(1, 0, 0)), step=0.1, steps=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ph.simulate(system, step=0.1, steps=1).ok


def test_a_unit_that_looks_like_a_date(tmp_path: Path) -> None:
    body = ph.multibody.Body("a", 1.0, (1.0, 1.0, 1.0), velocity=(1, 0, 0))
    age = (lambda view: view.position("a")[0], "hours since 2000-01-01")
    run = ph.simulate(ph.multibody.System([body], observables={"age": age}), step=0.01, steps=2)
    for ending in ("nc", "zarr", "csv"):
        assert ph.load(run.save(tmp_path / f"run.{ending}")).age.values == pytest.approx(run.observables["age"].values)
