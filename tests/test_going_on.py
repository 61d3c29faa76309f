"""A run that goes on has the bits of one that never stopped; samples at any times change nothing of the steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import polhode as ph
from polhode import multibody as mb
from polhode.bench.iftomm import CASES
from polhode.methods import all_methods
from polhode.model import InputError
from polhode.simulation import Status

TENSOR = np.array([[5.0, 0.3, 0.2], [0.3, 4.0, 0.1], [0.2, 0.1, 3.0]])
START = ph.State.of(attitude=ph.exp((0.3, 0.1, 0.0)), omega=(1.0, 2.0, 0.5))
GRAVITY = ph.Potential(lambda R: 2.0 * R[2, 2] + 0.3 * R[0, 1])
AT_ONCE = ("imidm", "em", "mk-rk4")  # `em` has rates of its own in its states
METHODS = [
    name if name in AT_ONCE else pytest.param(name, marks=pytest.mark.long) for name in sorted(all_methods("rotation"))
]


def same_bits(a: ph.Run, b: ph.Run) -> None:
    assert a.t.tobytes() == b.t.tobytes()
    for x, y in zip(jax.tree.leaves(a.state), jax.tree.leaves(b.state), strict=True):
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()
    ends = [run.trajectory.end for run in (a, b)]
    for x, y in zip(*(jax.tree.leaves(end.state) for end in ends), strict=True):
        assert x.tobytes() == y.tobytes()
    assert len({(end.done, end.offset, end.rung, end.careful) for end in ends}) == 1


def cut(what: Any, steps: int, cuts: list[int], **how: Any) -> None:
    whole = ph.simulate(*what, steps=steps, **how)
    run = ph.simulate(*what, steps=cuts[0], **how)
    for after in [*cuts[1:], steps]:
        run = ph.simulate(run, steps=after - run.trajectory.end.done)
    same_bits(run, whole)
    assert run.trajectory.worst == whole.trajectory.worst
    assert run.trajectory.iterations == pytest.approx(whole.trajectory.iterations)


@pytest.mark.parametrize("name", METHODS)
def test_one_body(name: str) -> None:
    method = all_methods("rotation")[name]
    load = None if method.traits.loads == "none" else GRAVITY
    cut((ph.RigidBody(TENSOR), load, START), 50, [7, 8, 31], step=0.02, method=name, every=3, t0=0.7)


def test_a_batch() -> None:
    omegas = np.array([[1.0, 2.0, 0.5], [0.2, -1.0, 3.0]])
    start = ph.State.of(attitude=ph.exp((0.3, 0.1, 0.0)), omega=omegas)
    cut((ph.RigidBody((1.0, 2.0, 2.5)), GRAVITY, start), 40, [13], step=0.02, every=2)


@pytest.mark.optimised
@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("simple-pendulum", "three-field"),
        pytest.param("simple-pendulum", "mm-dae", marks=pytest.mark.long),
        pytest.param("simple-pendulum", "three-field-literal", marks=pytest.mark.long),
        pytest.param("simple-pendulum", mb.ThreeField(accumulate=True), marks=pytest.mark.long),
        pytest.param("rolling-disk", "three-field", marks=pytest.mark.long),
        pytest.param("bicycle", "three-field", marks=pytest.mark.long),
    ],
    ids=str,
)
def test_a_system(name: str, method: Any) -> None:
    """Through step 512 too, where another program takes over."""
    cut((ph.problem(name),), 600, [5, 510, 515], step=0.002, method=method, every=4)


@pytest.mark.long
@pytest.mark.optimised
def test_where_steps_are_taken_with_care() -> None:
    """Those after one that the fast way did not solve are taken by another program, wherever a run is cut."""
    case = CASES["A02-2"]  # its first singular position is at 0.71 s
    problem = ph.problem(case.problem, **case.parameters)
    assert 0 < ph.simulate(problem, step=0.01, steps=75).renewals < 32
    cut((problem,), 120, [74, 90], step=0.01)


def test_what_cannot_go_on_is_said() -> None:
    body = ph.RigidBody((1.0, 2.0, 3.0))
    run = ph.simulate(body, None, START, step=0.1, steps=10)
    with pytest.raises(InputError, match="made with imidm; it goes on with that, got trap"):
        ph.simulate(run, until=2.0, method="trap")
    with pytest.raises(InputError, match="steps of 0.1 s; it goes on with those, got 0.2"):
        ph.simulate(run, until=2.0, step=0.2)
    with pytest.raises(InputError, match="stands at t = 1 already"):
        ph.simulate(run, until=1.0)
    with pytest.raises(InputError, match="brings its system, start and t0"):
        ph.simulate(run, None, START, until=2.0)
    with pytest.raises(ph.StepError) as failed:
        ph.simulate(body, ph.Potential(lambda R: 1e9 * R[2, 2] ** 3), START, step=5.0, steps=10)
    with pytest.raises(InputError, match="cannot go on from step"):
        ph.simulate(failed.value.run, until=100.0)
    same_bits(ph.simulate(run, until=2.0, method="imidm", step=0.1), ph.simulate(body, None, START, step=0.1, steps=20))


# --- times -------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "order"), [("imidm", 2), ("nystrom4-dmv10", 4)])
def test_samples_between_steps_have_the_order_of_the_method(method: str, order: int) -> None:
    body, times = ph.RigidBody(TENSOR), np.array([0.013, 0.5, 0.777, 1.0])
    exact = ph.simulate(body, GRAVITY, START, step=1e-3, times=times, method="mk-rk4")  # to 1e-12
    errors = []
    for step in (0.05, 0.025):
        run = ph.simulate(body, GRAVITY, START, step=step, times=times, method=method)
        assert run.t == pytest.approx(times, abs=1e-15)
        errors.append(np.abs(run.attitude - exact.attitude).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.4)


def test_times_change_nothing_of_the_steps() -> None:
    body = ph.RigidBody(TENSOR)
    grid = ph.simulate(body, GRAVITY, START, step=0.1, until=2.0, t0=0.5)
    times = [0.5, 0.6, 0.62, 0.68, 1.2, 1.2345, 2.0]
    run = ph.simulate(body, GRAVITY, START, step=0.1, until=2.0, t0=0.5, times=times)
    assert run.t.tolist() == pytest.approx(times, abs=1e-15)
    on_grid = [0, 1, 4, 6]
    assert (run.attitude[on_grid] == grid.attitude[[0, 1, 7, 15]]).all()
    same = jax.tree.map(lambda a, b: np.array_equal(a, b), run.trajectory.end.state, grid.trajectory.end.state)
    assert all(jax.tree.leaves(same))
    assert run.dataset.t.values.tolist() == run.t.tolist()
    further = ph.simulate(run, times=[2.05, 2.4])
    assert further.t.tolist() == pytest.approx([*times, 2.05, 2.4])


def test_of_a_system() -> None:
    problem = ph.problem("simple-pendulum")
    run = ph.simulate(problem, step=0.01, times=[0.005, 0.02, 0.0333])
    fine = ph.simulate(problem, step=0.001, times=[0.005, 0.02, 0.0333])
    assert run.t == pytest.approx([0.005, 0.02, 0.0333], abs=1e-15)
    assert np.abs(run.state.positions - fine.state.positions).max() < 1e-5
    assert run.gap.max() < 1e-12


def test_so_often() -> None:
    body = ph.RigidBody((1.0, 2.0, 3.0))
    every = ph.simulate(body, None, START, step=0.1, until=3.0, every_seconds=0.5)
    same_bits(every, ph.simulate(body, None, START, step=0.1, until=3.0, every=5))
    between = ph.simulate(body, None, START, step=0.1, until=1.0, every_seconds=0.25)
    assert between.t.tolist() == pytest.approx([0.0, 0.25, 0.5, 0.75, 1.0])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"times": [0.1, 0.1]}, "times must increase; got .*0.1"),
        ({"times": [0.1, 1.5], "until": 1.0}, "within the run, from 0 to 1 s; got .*1.5"),
        ({"times": [-0.1, 0.5]}, "within the run, from 0 to 0.5 s; got .*-0.1"),
        ({"times": []}, "times must be a list"),
        ({"times": [np.nan]}, "times must be finite|nan"),
        ({"times": [[0.1]]}, "times must be a list"),
        ({"times": [0.1], "every": 2}, "one of every, every_seconds and times; got every, times"),
        ({"every_seconds": -1.0, "until": 1.0}, "every_seconds must be"),
    ],
)
def test_bad_times(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        ph.simulate(ph.RigidBody((1.0, 2.0, 3.0)), None, START, step=0.1, **given)


# --- on_sample ---------------------------------------------------------------------------


def test_samples_are_shown_as_they_come() -> None:
    body, seen = ph.RigidBody(TENSOR), list[ph.Run]()
    run = ph.simulate(body, None, START, step=0.01, steps=25_000, every=10, on_sample=seen.append)
    assert len(seen) > 1
    assert np.concatenate([part.t for part in seen]).tolist() == run.t.tolist()
    assert np.concatenate([part.attitude for part in seen]).tolist() == run.attitude.tolist()


def test_who_is_shown_them_may_stop_the_run() -> None:
    body = ph.RigidBody((1.0, 2.0, 3.0))
    run = ph.simulate(body, None, START, step=0.01, steps=100_000, every=100, on_sample=lambda part: part.t[-1] > 1.0)
    assert run.ok
    assert run.trajectory.status is Status.STOPPED
    assert 100 < run.steps < 100_000
    whole = ph.simulate(body, None, START, step=0.01, steps=100_000, every=100)
    same_bits(ph.simulate(run, steps=100_000 - run.steps), whole)


# --- files -------------------------------------------------------------------------------

BODY = """
[body]
inertia = [[5.0, 0.3, 0.2], [0.3, 4.0, 0.1], [0.2, 0.1, 3.0]]
[start]
omega = [1, 2, 0.5]
[load]
potential = "2*R33 + 0.3*R12"
[run]
method = "METHOD"
step = 0.02
until = 0.5
every = 3
"""


@pytest.mark.parametrize(
    ("method", "ending"),
    [
        ("imidm", "zarr"),
        ("imidm", "nc"),
        ("imidm", "csv"),
        ("em", "zarr"),
        pytest.param("em", "nc", marks=pytest.mark.long),
        pytest.param("em", "csv", marks=pytest.mark.long),
    ],
)
def test_a_saved_run_goes_on_from_its_end(method: str, ending: str, polhode: Any, monkeypatch: Any) -> None:
    """`em` has rates of its own in its states."""
    Path("body.toml").write_text(BODY.replace("METHOD", method))
    assert polhode("run", "body.toml", "--out", f"half.{ending}")[0] == 0
    assert polhode("run", "body.toml", "--until", "1", "--out", f"whole.{ending}")[0] == 0
    code, _, err = polhode("run", f"half.{ending}", "--until", "1", "--out", f"on.{ending}", "--json")
    assert code == 0, err
    half, whole, on = (ph.load(f"{name}.{ending}") for name in ("half", "whole", "on"))
    assert half.sizes["t"] == 10
    for name in ("t", "attitude", "momentum", *(("energy",) if ending != "zarr" else ())):
        assert on[name].values.tobytes() == whole[name].values.tobytes()
    np.testing.assert_allclose(on.energy, whole.energy, rtol=1e-14)  # of one written as it went by another program
    for name in ("stands", "recipe", "steps"):
        assert on.attrs[name] == whole.attrs[name]
    Path("body.toml").unlink()
    taken = list[int]()
    monkeypatch.setattr("polhode.simulation.walk.Walk.go", _counted("polhode.simulation.walk.Walk.go", taken))
    assert polhode("run", f"on.{ending}", "--until", "1.1", "--out", f"further.{ending}")[0] == 0
    assert taken == [50 if method == "imidm" else 0]  # from where it stood; of `em` a file does not hold all


def _counted(name: str, taken: list[int]) -> Any:
    from polhode.simulation.walk import Walk

    really = Walk.go

    def go(self: Any, *arguments: Any) -> None:
        taken.append(self.done)
        really(self, *arguments)

    return go


def test_a_saved_system_goes_on_from_its_end(polhode: Any) -> None:
    how = ("--step", "0.01", "--every", "4")
    assert polhode("run", "simple-pendulum", "--until", "0.5", "--out", "half.nc", *how)[0] == 0
    assert polhode("run", "simple-pendulum", "--until", "0.9", "--out", "whole.nc", *how)[0] == 0
    code, _, err = polhode("run", "half.nc", "--until", "0.9", "--out", "on.nc")
    assert code == 0, err
    whole, on = ph.load("whole.nc"), ph.load("on.nc")
    for name in ("t", "position", "attitude", "velocity", "force"):
        assert on[name].values.tobytes() == whole[name].values.tobytes()


def test_where_a_run_stands_is_checked(tmp_path: Path, polhode: Any) -> None:
    from polhode.results import save

    Path("body.toml").write_text(BODY.replace("METHOD", "imidm"))
    assert polhode("run", "body.toml", "--out", "half.nc")[0] == 0
    dataset = ph.load("half.nc")
    for stands in ('{"done": 3}', "[]", "x", dataset.attrs["stands"].replace('"shape": []', '"shape": [2]')):
        save(dataset.assign_attrs(stands=stands), "bad.nc")
        code, _, err = polhode("run", "bad.nc", "--until", "1")
        assert code == 2
        assert "where its run stands is not in it, or spoilt" in err


def test_so_often_goes_on() -> None:
    body = ph.RigidBody((1.0, 2.0, 3.0))
    run = ph.simulate(body, None, START, step=0.03, until=0.75, every_seconds=0.05)
    further = ph.simulate(run, until=1.5, every_seconds=0.05)
    whole = ph.simulate(body, None, START, step=0.03, until=1.5, every_seconds=0.05)
    assert further.t.tolist() == pytest.approx(whole.t.tolist())
    assert ph.simulate(run, until=1.5).t.tolist() == further.t.tolist()  # as before, unless it is said
    little = ph.simulate(ph.simulate(run, steps=1), until=1.5)
    assert little.t.tolist() == further.t.tolist()
    assert ph.simulate(run, until=1.5, every=5).t[-5:].tolist() == pytest.approx([0.9, 1.05, 1.2, 1.35, 1.5])


def test_where_a_run_stands_is_where_its_samples_end(polhode: Any) -> None:
    from polhode.results import save

    Path("body.toml").write_text(BODY.replace("METHOD", "imidm"))
    assert polhode("run", "body.toml", "--out", "half.nc")[0] == 0
    assert polhode("run", "body.toml", "--until", "0.4", "--out", "less.nc")[0] == 0
    half, less = ph.load("half.nc"), ph.load("less.nc")
    for stands in (less.attrs["stands"], half.attrs["stands"].replace('"rung": 0', '"rung": 9')):
        save(half.assign_attrs(stands=stands), "bad.nc")
        code, _, err = polhode("run", "bad.nc", "--until", "1")
        assert code == 2
        assert "not where its samples end" in err
