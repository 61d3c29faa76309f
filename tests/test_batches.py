"""Batches of one rotating body: inertia with axes in front, members apart, members that are lost."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import xarray

import polhode as ph
from polhode.cli.output import print_json
from polhode.model import InputError
from polhode.problems import problem_of
from polhode.simulation import Status, StepError
from polhode.simulation.tiles import Tiles

BODY = ph.RigidBody((1.0, 2.0, 2.5))
_rng = np.random.default_rng(5)
MOMENTS, OMEGAS = _rng.uniform(2.0, 3.0, (7, 3)), 2.0 * _rng.normal(size=(7, 3))
WEIGHTS = _rng.uniform(1.0, 5.0, 7)
_turns = np.linalg.qr(_rng.normal(size=(7, 3, 3)))[0]
TENSORS = np.einsum("nij,nj,nkj->nik", _turns, MOMENTS, _turns)
TENSORS[2] = np.diag(MOMENTS[2])
# Measured against the same body alone, over 200 steps: at most 1e-14 of the momentum (em; dmv10 0).
ROUND_OFF = 2e-13
EXPLICIT = "mk-forward-euler"  # where any method will do: compiled in a third of the time


def heavy(weight: Any) -> ph.Potential:
    return ph.Potential(lambda R, weight: weight * R[2, 2], weight=weight)


def assert_same(batch: ph.Run, member: Any, alone: ph.Run) -> None:
    """To round-off: the program of a batch is another one."""
    for name in ("attitude", "momentum", "omega", "energy"):
        there, here = batch[name][(slice(None), *np.atleast_1d(member))], alone[name]
        assert np.abs(there - here).max() <= ROUND_OFF * np.abs(here).max(), name


def bits(run: ph.Run, which: Any) -> np.ndarray:
    return np.concatenate([run[name][:, which] for name in ("attitude", "momentum")], axis=-1)


@pytest.mark.parametrize("inertia", [MOMENTS, TENSORS], ids=["moments", "tensors"])
def test_bodies_of_different_inertia_and_load(inertia: np.ndarray) -> None:
    more: dict[str, Any] = {"method": EXPLICIT, "step": 0.02, "steps": 60, "every": 20}
    start = ph.State.of(omega=(1.0, 2.0, 0.5))
    batch = ph.simulate(ph.RigidBody(inertia), heavy(WEIGHTS), start, **more)
    assert batch.members == (7,)
    for k in (2, 5):
        assert_same(batch, k, ph.simulate(ph.RigidBody(inertia[k]), heavy(WEIGHTS[k]), start, **more))
    np.testing.assert_allclose(batch.dataset.inertia, batch.body.tensor, rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(batch.omega[0], np.tile((1.0, 2.0, 0.5), (7, 1)), rtol=1e-14)
    assert batch.conserved == ("energy", "vertical_momentum")


_SOME, _OTHERS = ("strang-dmv", "imidm", "dmv10"), ("mk-rk4", "trap", "em", "exact", "akw", "halving-imidm")
_LATER = (*_SOME[1:], *_OTHERS)


@pytest.mark.optimised  # which rounds products and sums together, or apart
@pytest.mark.parametrize("name", [_SOME[0], *(pytest.param(name, marks=pytest.mark.long) for name in _LATER)])
def test_a_member_does_not_see_the_others_nor_where_the_run_was_cut(name: str) -> None:
    free = name in ("dmv10", "exact")
    more: dict[str, Any] = {"method": name, "step": 0.02, "every": 10}

    def run(which: Any, steps: int = 100) -> ph.Run:
        load, start = None if free else heavy(WEIGHTS[which]), ph.State.of(omega=OMEGAS[which])
        return ph.simulate(ph.RigidBody(TENSORS[which]), load, start, steps=steps, **more)

    order = np.arange(7)
    whole = run(order)
    others = run(np.array([6, 1, 1, 3, 0, 2, 5]))
    np.testing.assert_array_equal(bits(whole, [1, 3]), bits(others, [1, 3]))
    cut = ph.simulate(ph.simulate(run(order, 13), steps=24), steps=63)
    np.testing.assert_array_equal(bits(whole, order), bits(cut, order))
    assert_same(whole, 3, run(3))
    np.testing.assert_array_equal(bits(whole, [3]), bits(run([3]), [0]))
    if name in _SOME:
        many = np.arange(150) % 7  # of several tiles, and calls
        np.testing.assert_array_equal(bits(whole, many), bits(run(many), slice(None)))
        shaped = bits(run(many[:6].reshape(2, 3)), slice(None))
        np.testing.assert_array_equal(bits(whole, slice(6)), shaped.reshape(len(shaped), 6, 7))


@pytest.mark.optimised
@pytest.mark.parametrize("method", [EXPLICIT, pytest.param("trapm", marks=pytest.mark.long)])
def test_a_member_that_turns_far_in_a_step_changes_no_bit_of_the_others(method: str) -> None:
    """Angles beyond the series of Stumpff's functions take another branch, for all of a tile."""
    omegas = OMEGAS.copy()
    omegas[0] = 0.0, 0.0, 400.0

    def run(which: Any) -> ph.Run:
        return ph.simulate(BODY, None, ph.State.of(omega=omegas[which]), method=method, step=0.02, steps=40)

    whole = run(np.arange(7))
    for k in (0, 3):
        np.testing.assert_array_equal(bits(whole, [k]), bits(run([k]), [0]))


@pytest.mark.optimised
def test_a_member_has_the_same_bits_among_very_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of which a call takes more tiles, and returns one sample; how long steps take is tried on some of them."""
    paces, pace = [], Tiles.pace

    def noted(*args: Any) -> float:
        paces.append(pace(*args))
        return paces[-1]

    monkeypatch.setattr(Tiles, "pace", noted)
    many = 2**16 + 100
    omegas = np.broadcast_to(OMEGAS[np.arange(many) % 7], (many, 3))
    more: dict[str, Any] = {"method": EXPLICIT, "step": 0.02, "steps": 6, "every": 3}
    few = ph.simulate(BODY, None, ph.State.of(omega=OMEGAS), **more)
    run = ph.simulate(BODY, None, ph.State.of(omega=omegas), **more)
    np.testing.assert_array_equal(bits(run, slice(None)), bits(few, np.arange(many) % 7))
    assert paces[0] == math.inf  # of one tile
    assert 0.0 < paces[1] < math.inf


def wall(omegas: Any, **more: Any) -> ph.Run:
    """A torque that has no value once a member has turned by some angle; the step then fails."""
    load = ph.Torque(lambda t, R: (jnp.where(R[1, 1] > 0.5, 0.0, jnp.nan), 0.0, 0.0))
    given = {"step": 0.01, "steps": 200, "every": 10, "method": "mk-rk4"} | more
    return ph.simulate(BODY, load, ph.State.of(omega=omegas), **given)


def along(*speeds: float) -> np.ndarray:
    return np.array(speeds)[:, None] * [1.0, 0.0, 0.0]


SPEEDS = (0.1, 1.0, 0.2, 2.0)  # about a principal axis: 60 degrees are reached at t = π/3 / ω


@pytest.mark.optimised
def test_a_member_that_fails_is_lost_and_the_others_go_on(tmp_path: Path, capsys: Any) -> None:
    with pytest.warns(UserWarning, match=r"2 of 4 members .* lost.*\[3\] in step 53.*; \[1\] in step 105") as said:
        run = wall(along(*SPEEDS))
    assert len(said) == 1
    assert not run.ok
    assert [(x.member, x.step, x.status) for x in run.lost] == [
        ((3,), 53, Status.NOT_FINITE),
        ((1,), 105, Status.NOT_FINITE),
    ]
    assert run.lost[0].t == pytest.approx(0.52, abs=1e-12)
    assert "not finite" in run.lost[0].why
    assert run.steps == 200
    first_nan = np.isnan(run.energy).argmax(axis=0)
    assert run.trajectory.steps[first_nan].tolist() == [0, 110, 0, 60]  # 0: none
    well = wall(along(0.1, 0.15, 0.2, 0.05))
    assert well.ok
    np.testing.assert_array_equal(bits(run, [0, 2]), bits(well, [0, 2]))
    assert run.drift(run.energy) == pytest.approx(well.drift(well.energy[:, [0, 2]]), abs=1e-15)
    assert run.conserved == well.conserved
    assert "2 of its members lost" in repr(run)

    data = run.dataset
    assert data.failed_step.values.tolist() == [-1, 105, -1, 53]
    meanings = data.status.attrs["flag_meanings"].split()
    assert [meanings[code] for code in data.status.values] == ["OK", "NOT_FINITE", "OK", "NOT_FINITE"]
    for ending in (".zarr", ".nc"):
        xarray.testing.assert_identical(ph.load(run.save(tmp_path / f"lost{ending}")), data)
    print_json(run.summary())
    record = json.loads(capsys.readouterr().out)
    assert [x["member"] for x in record["lost"]] == [[3], [1]]
    assert record["energy"]["drift"] is not None
    assert record["energy"]["end"][1] is None


@pytest.mark.optimised
def test_lost_members_stay_lost_where_the_run_goes_on() -> None:
    with pytest.warns(UserWarning, match="2 of 4 members"):
        whole = wall(along(*SPEEDS))
    with pytest.warns(UserWarning, match="1 of 4 members"):
        cut = wall(along(*SPEEDS), steps=77)
    with pytest.warns(UserWarning, match="2 of 4 members"):
        cut = ph.simulate(cut, steps=123)
    assert cut.lost == whole.lost
    np.testing.assert_array_equal(bits(whole, slice(None)), bits(cut, slice(None)))


def test_lost_members_and_samples_at_times() -> None:
    with pytest.warns(UserWarning, match="2 of 4 members"):
        run = wall(along(*SPEEDS), every=None, steps=None, times=[0.0, 0.515, 0.5251, 1.043, 1.9])
    assert [x.member for x in run.lost] == [(3,), (1,)]
    assert np.isnan(run.energy).tolist() == [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 1, 0, 1]]


def test_where_no_member_is_left_the_run_ends() -> None:
    with pytest.raises(StepError, match=r"failed in step 105.*members \[\[0\], \[2\], \[3\]\] of the batch") as e:
        wall(along(1.0, 2.0, 1.0, 1.0))
    run = e.value.run
    assert run.steps == 104
    assert [x.member for x in run.lost] == [(1,), (0,), (2,), (3,)]
    assert np.isfinite(run.energy[-1]).tolist() == [True, False, True, True]
    with pytest.raises(InputError, match="cannot go on"):
        ph.simulate(run, steps=10)


def test_equations_that_are_not_solved_in_one_member() -> None:
    setup = problem_of("coulomb-wall").problem()
    start = ph.State.of(spatial_momentum=np.array([[0.01, 0, 0], [2, 2, 2]]))
    with pytest.warns(UserWarning, match=r"1 of 2 members .*not solved in \d+ iterations"):
        run = ph.simulate(setup.body, setup.load, start, method="imidm", step=0.5, steps=20)
    (lost,) = run.lost
    assert (lost.member, lost.status) == ((1,), Status.NOT_CONVERGED)
    assert lost.residual > 0
    assert lost.iterations > 1
    assert run.trajectory.worst < 1e-13  # of the one that went on


def test_an_energy_without_a_value_loses_its_member() -> None:
    start = ph.State.of(omega=along(0.1, 2.0, 0.2))
    more: dict[str, Any] = {"step": 0.01, "every": 10, "method": EXPLICIT}
    hard = ph.Potential(lambda R: jnp.where(R[1, 1] > 0.5, 0.0, jnp.nan) + 0.0 * R[0, 0])  # its torque is 0 everywhere
    with pytest.warns(UserWarning, match=r"1 of 3 members.*the potential energy is nan"):
        run = ph.simulate(BODY, hard, start, steps=100, **more)
    assert [(x.member, x.step) for x in run.lost] == [((1,), 60)]
    assert np.isnan(run.energy).any(axis=1).tolist() == [False] * 6 + [True] * 5
    assert np.isnan(run.momentum[6:, 1]).all()
    assert np.isfinite(run.momentum[:, [0, 2]]).all()
    with pytest.warns(UserWarning, match="1 of 3 members"):
        more_of_it = ph.simulate(run, steps=50)
    assert more_of_it.lost == run.lost
    with pytest.raises(StepError, match="potential energy is nan at t = 0.6") as e:
        ph.simulate(BODY, hard, ph.State.of(omega=along(2.0, 3.0, 2.5)), steps=100, **more)
    assert e.value.run.steps == 50


@pytest.mark.filterwarnings("ignore:the energy changed")  # steps that are halved often hardly follow the motion
@pytest.mark.optimised
def test_halving_is_of_each_member() -> None:
    setup = problem_of("coulomb-wall").problem()
    momenta = np.array([[0.01, 0, 0], [2, 2, 2]])
    more: dict[str, Any] = {"method": "halving-imidm", "step": 0.5, "steps": 15}

    def run(which: Any) -> ph.Run:
        return ph.simulate(setup.body, setup.load, ph.State.of(spatial_momentum=momenta[which]), **more)

    both, calm, hard = run([0, 1]), run(0), run(1)
    assert (calm.halvings, hard.halvings > 0, both.halvings) == (0, True, hard.halvings)
    assert_same(both, 0, calm)


def test_the_exact_motion_flow_and_bodies_that_do_not_twist() -> None:
    body, start = ph.RigidBody(TENSORS), ph.State.of(momentum=(0.3, 1.0, 0.2))
    exact = ph.exact(body, start, 1.0)
    assert exact.shape == (7,)
    moved = ph.flow(ph.Rotation(body), start, method="dmv10", step=0.01, steps=100)
    for a, b in ((moved.momentum, exact.momentum), (moved.attitude, exact.attitude)):
        np.testing.assert_allclose(a.array, b.array, atol=1e-12)
    flat = ph.NonTwistingBody(MOMENTS)
    run = ph.simulate(flat, None, ph.State.of(omega=(1.0, 2.0, 0.0)), method="em", step=0.02, steps=20)
    assert run.members == (7,)
    assert run.drift(run.momentum[..., :2]) < 1e-13
    assert type(run.body) is ph.NonTwistingBody


def test_load_parameters_make_the_batch_where_start_and_body_do_not() -> None:
    start = ph.State.of(omega=(1.0, 2.0, 0.5))
    more: dict[str, Any] = {"method": EXPLICIT, "step": 0.02}
    run = ph.simulate(BODY, heavy(WEIGHTS), start, steps=10, **more)
    assert run.members == (7,)
    assert_same(run, 4, ph.simulate(BODY, heavy(WEIGHTS[4]), start, steps=10, **more))
    along_r = ph.Potential(lambda R, p: p @ R[2], p=np.array([0.0, 0.1, 1.0]))  # one array for all
    assert ph.simulate(BODY, along_r, start, steps=1, **more).members == ()


def with_one(changed: Any) -> np.ndarray:
    tensors = TENSORS.copy()
    tensors[4] = changed
    return tensors


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: ph.RigidBody(np.ones((2, 4))), r"got shape \(2, 4\).*a batch of bodies has more axes in front"),
        (lambda: ph.RigidBody(np.ones((0, 3))), r"empty batch, of shape \(0, 3\)"),
        (lambda: ph.RigidBody(MOMENTS[:3]), r"must be symmetric.*m\[:, :, None\] \* numpy.eye\(3\)"),
        (lambda: ph.RigidBody(with_one(np.triu(np.ones((3, 3))))), r"inertia of member \[4\] must be symmetric"),
        (lambda: ph.RigidBody(with_one(-np.eye(3))), r"inertia of member \[4\] must be positive definite"),
        (lambda: ph.RigidBody(with_one(np.diag([1, 1, 9]))), r"moments \[1.0, 1.0, 9.0\] of member \[4\].*triangle"),
        (lambda: ph.NonTwistingBody(TENSORS), r"inertia of member \[0\] of a non-twisting body must split"),
        (lambda: ph.State.of(omega=OMEGAS[:5]).on(ph.RigidBody(MOMENTS)), r"attitude \(\), omega \(5,\), inertia \(7,"),
        (
            lambda: ph.simulate(ph.RigidBody(MOMENTS), None, ph.State.of(momentum=OMEGAS[:5]), step=0.1, steps=1),
            r"do not go together: start \(5,\), inertia \(7,\)",
        ),
        (
            lambda: ph.simulate(ph.RigidBody(MOMENTS), heavy(WEIGHTS[:4]), ph.State.of(momentum=(1, 0, 0)), step=0.1,
                                steps=1),
            r"start \(\), inertia \(7,\), parameter 'weight' of the Potential \(4,\)",
        ),
        (
            lambda: ph.simulate(ph.RigidBody(MOMENTS), heavy(WEIGHTS), ph.State.of(momentum=np.ones((2, 7, 3))),
                                step=0.1, steps=1),
            r"all axes of the batch, \(2, 7\); got parameter 'weight' of the Potential \(7,\)",
        ),
        (
            lambda: ph.exact(ph.RigidBody(MOMENTS), ph.State.of(momentum=OMEGAS[:5]), 1.0),
            r"start \(5,\), inertia \(7,\)",
        ),
    ],
)  # fmt: skip
def test_what_makes_no_batch_is_refused(make: Callable[[], Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()


def test_what_a_batch_is_not_asked_for(tmp_path: Path) -> None:
    body, start = ph.RigidBody((1.0, 2.0, 2.5)), ph.State.of(omega=np.eye(3))
    whole = ph.simulate(body, None, start, method=EXPLICIT, step=0.1, steps=3)
    with pytest.raises(InputError, match=r"batch of shape \(3,\), and one motion is animated at a time"):
        whole.animate(tmp_path / "x.html")
    push = ph.Torque(lambda t, c: jnp.where(t < c, 1.0, jnp.nan) * jnp.ones(3), c=np.array([9.0, 0.15]))
    with pytest.warns(UserWarning, match="1 of 2 members"):
        run = ph.simulate(body, push, ph.State.of(omega=np.eye(3)[:2]), step=0.1, steps=4)
    assert "every step was solved of those left" in repr(run)
    with pytest.raises(InputError, match=r"1 members of this batch were lost, member \[1\] in step"):
        run.error_estimate()
