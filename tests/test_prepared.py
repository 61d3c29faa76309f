"""A run again of the same body, load, start and method is not looked at again; of anything else it is."""

import sys
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import polhode as ph
from polhode import prepared, running
from polhode._programs.at_once import AtOnce
from polhode.algebra import Quaternion
from polhode.api import simulate
from polhode.results import judgement
from polhode.rotation import State
from polhode.simulation.rungs import Rungs

TOP = ph.RigidBody((5.0, 5.0, 1.0))
START = ph.State.of(attitude=ph.exp((0.3, 0.0, 0.0)), omega=(0.0, 0.0, 5.0))
weight = 20.0


def falling(R: Any) -> Any:
    return weight * R[2, 2]


GRAVITY = ph.Potential(falling)


def gone(load: Any, start: Any = START, **how: Any) -> np.ndarray:
    return ph.simulate(TOP, load, start, **({"step": 0.01, "steps": 7} | how)).state.momentum.array[-1]


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Beginnings that were prepared, in a process that knows none."""
    found: list[Any] = []
    really = running._first_leg

    def first_leg(*given: Any) -> Any:
        found.append(given)
        return really(*given)

    monkeypatch.setattr(running, "_first_leg", first_leg)
    monkeypatch.setattr(running, "legs", prepared.Recent())
    monkeypatch.setattr(prepared, "_problems", prepared.Recent())
    return found


@pytest.mark.parametrize("load", [None, ph.Potential(falling), ph.Potential(falling) + ph.Torque((0.0, 0.0, 1.0))])
def test_the_same_is_prepared_once(load: Any, looked: list[Any]) -> None:
    first = gone(load)
    assert len(looked) == 1
    assert np.array_equal(gone(load), first)
    same = ph.State.of(attitude=ph.exp((0.3, 0.0, 0.0)), omega=(0.0, 0.0, 5.0))
    assert np.array_equal(gone(load, same), first)
    assert np.array_equal(gone(load, step=0.02, steps=9, every=3), gone(load, step=0.02, steps=9))
    assert len(looked) == 1


def test_of_a_problem_too(looked: list[Any]) -> None:
    problem = ph.problem("heavy-top")
    ends = [ph.simulate(problem, step=0.001, steps=3).state.momentum.array[-1] for _ in range(2)]
    assert np.array_equal(*ends)
    assert len(looked) == 1


def test_what_changed_is_looked_at(looked: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    load = ph.Potential(falling)
    by_name = ph.Potential(lambda R, w: w * R[2, 2], w=20.0)
    first = gone(load)
    assert np.array_equal(gone(by_name), first)
    by_name.parameters["w"] = 10.0
    monkeypatch.setitem(globals(), "weight", 10.0)
    half = gone(load)
    assert not np.array_equal(half, first)
    assert np.array_equal(gone(by_name), half)
    assert not np.array_equal(gone(load, ph.State.of(attitude=ph.exp((0.4, 0.0, 0.0)), omega=(0.0, 0.0, 5.0))), half)
    assert not np.array_equal(gone(load, method="akw"), half)
    assert len(looked) == 6


def test_another_start_has_the_programs_that_there_are(looked: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    def rungs(*given: Any) -> Rungs:
        made.append(given)
        return Rungs(*given)

    monkeypatch.setattr(running, "Rungs", rungs)
    other = ph.State.of(attitude=ph.exp((0.4, 0.0, 0.0)), omega=(0.0, 0.0, 5.0))
    ends = []
    for starts in ((START, other), (other,)):  # after another one, and alone
        monkeypatch.setattr(running, "legs", prepared.Recent())
        monkeypatch.setattr(running, "grounds", prepared.Recent())
        ends.append([gone(GRAVITY, start) for start in starts][-1])
    assert np.array_equal(ends[0], ends[1])
    assert len(made) == 2
    assert len(looked) == 3
    monkeypatch.setitem(globals(), "weight", 10.0)
    assert not np.array_equal(gone(GRAVITY, other), ends[-1])
    assert len(made) == 3
    with pytest.raises(ph.InputError, match="must be a unit quaternion"):
        gone(GRAVITY, State(Quaternion.of((2.0, 0.0, 0.0, 0.0)), START.on(TOP).momentum))


def test_numbers_changed_in_place_are_seen(looked: list[Any]) -> None:
    body = ph.RigidBody((5.0, 4.0, 1.0))
    ends = []
    for _ in range(2):
        ends.append(ph.simulate(body, None, START, step=0.01, steps=3).omega[0])
        body.moments.z[...] = 2.0
    assert len(looked) == 2
    assert ends[0] == pytest.approx([0, 0, 5])
    assert ends[1] == pytest.approx([0, 0, 5])


def test_a_time_is_part_of_it(looked: list[Any]) -> None:
    load = ph.Torque(lambda t: jnp.stack([jnp.cos(t), 0.0 * t, 0.0 * t]))
    ends = [gone(load, t0=t0) for t0 in (0.0, 1.0, 0.0, 1.0)]
    assert np.array_equal(ends[0], ends[2])
    assert np.array_equal(ends[1], ends[3])
    assert not np.array_equal(ends[0], ends[1])
    assert len(looked) == 2


def test_what_is_refused_is_refused_again(looked: list[Any]) -> None:
    for _ in range(3):
        with pytest.raises(ph.InputError, match="potential energy at the start must be finite"):
            gone(ph.Potential(lambda R: jnp.log(-1.0 - R[2, 2] ** 2)))
        with pytest.raises(ph.InputError, match="moves free bodies only"):
            gone(ph.Potential(falling), method="dmv")


def test_a_body_that_may_not_twist_says_so_each_time(looked: list[Any]) -> None:
    body = ph.NonTwistingBody((1.0, 2.0, 3.0))
    for count in (1, 2):
        with pytest.warns(UserWarning, match="non-twisting frame does not allow"):
            ph.simulate(body, None, ph.State.of(omega=(1.0, 0.0, 0.1)), method="em", step=0.01, steps=1)
        assert len(looked) == count


class Ours(ph.methods.IMIDM):
    name = "ours"
    share = 1.0

    def step(self, system: Any, state: Any, t: Any, h: Any) -> Any:
        return super().step(system, state, t, self.share * h)


def test_a_users_method_is_prepared_each_time(looked: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    load = ph.Potential(falling)
    whole = gone(load, method=Ours())
    monkeypatch.setattr(Ours, "share", 0.5)
    assert not np.array_equal(gone(load, method=Ours()), whole)
    assert len(looked) == 2


def test_runs_at_the_same_time_do_not_disturb_each_other() -> None:
    alone = gone(ph.Potential(falling), steps=2000)
    load = ph.Potential(falling)
    with ThreadPoolExecutor(4) as pool:
        ends = list(pool.map(lambda _: gone(load, steps=2000), range(16)))
    assert all(np.array_equal(end, alone) for end in ends)


def test_no_more_are_kept_than_some() -> None:
    made: list[int] = []
    recent = prepared.Recent()

    def make(i: int) -> int:
        made.append(i)
        return i + 1

    for i in [*range(40), 39, 5, 39]:
        assert recent.get(i, partial(make, i)) == i + 1
    assert made == [*range(40), 5]  # 39 was there, 5 was let go
    assert len(recent._made) == prepared._MOST


def test_packed_numbers_keep_their_bits() -> None:
    given = [np.array([[-0.0, np.nan], [5e-324, np.inf]]), np.int64(2**62 + 1), np.array(True), np.float64(1 / 3)]
    packed = AtOnce(lambda *x: x, given, given)
    back = packed.unpacked(np.asarray(packed(packed.packed(given))))
    for x, y in zip(given, back, strict=True):
        assert np.asarray(x).dtype == np.asarray(y).dtype
        assert np.asarray(x).shape == np.shape(y)
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()


@pytest.mark.parametrize(
    ("load", "method", "step", "most"),
    [(None, None, 0.01, 315), (GRAVITY, None, 0.01, 350), (GRAVITY, "strang-exact", 0.7, 360)],
)
def test_a_run_once_more_calls_little_of_python(load: Any, method: str | None, step: float, most: int) -> None:
    """Of Python's functions and of C's. The last one turns the body by more than half a turn in a step, which is looked
    at by other steps, once."""

    def call() -> None:
        simulate(TOP, load, START, method=method, step=step, steps=7, every=7)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that it is not the motion
        for _ in range(3):
            call()
        calls: Counter[str] = Counter()
        sys.setprofile(lambda frame, event, argument: calls.update([event]))
        try:
            call()
        finally:
            sys.setprofile(None)
    assert calls["call"] + calls["c_call"] <= most  # measured: 309, 343, 354; once 881, 1304, 2580


def test_how_far_it_went_comes_with_the_steps() -> None:
    run = ph.simulate(TOP, GRAVITY, START, step=0.01, steps=7, every=2)
    far, energy, potential = run.trajectory.extremes, run["energy"], run["potential"]
    assert (far.kinetic, far.potential) == pytest.approx((run["kinetic"][0], potential[0]), rel=1e-14)
    assert far.energy == pytest.approx(abs(energy - energy[0]).max(), abs=1e-14 * energy[0])
    assert (far.highest, -far.lowest) == pytest.approx((potential.max(), potential.min()), rel=1e-14)
    on = ph.simulate(run, steps=4)
    assert on.trajectory.extremes.highest == pytest.approx(on["potential"].max(), rel=1e-14)
    assert judgement.well(on)


def test_nobody_changes_the_start_that_runs_share() -> None:
    body, start = ph.RigidBody((1.0, 1.7, 2.2)), ph.State.of(omega=(0.7, 1.1, -0.5))
    run = ph.simulate(body, None, start, method="mk-rk4", step=0.01, steps=2)
    with pytest.raises(ValueError, match="read-only"):
        run.begun.momentum.x[...] = 3.0
    assert ph.simulate(body, None, start, method="mk-rk4", step=0.01, steps=2)["omega"][0, 0] == 0.7
