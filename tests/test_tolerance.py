"""Runs to a tolerance, and estimates of errors, against motions that are known by other means."""

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import multibody as mb
from polhode.model import InputError
from polhode.multibody.start.nearness import extent
from polhode.references import double_pendulum
from polhode.simulation import Happened
from polhode.verify.trials_of_systems import PENDULUM, RODS, _quaternion

BODY = ph.RigidBody((1.0, 2.0, 2.5))
START = ph.State.of(omega=(0.7, 1.1, -0.5))
TOP, GRAVITY = ph.RigidBody((5, 5, 1)), ph.Potential(lambda R, weight: weight * R[2, 2], weight=20.0)
SPUN = ph.State.of(attitude=ph.exp((0.3, 0, 0)), omega=(0, 0, 20.0))

FREE = ("imidm", "swc1", "dmv", "dmv4", "dmv6", "dmv10", "mk-rk4", "mk-gauss2", "strang-symmetric-rotation")
HEAVY = ("imidm", "trapm", "strang-dmv", "nystrom4-dmv10", "mk-rk4", "kahan-li6-strang-dmv")


def apart(run: Any, attitude: Any, momentum: Any) -> float:
    """The error at the end of a run of one body as docs/accuracy.md defines it, in other words than the code."""
    q, Pi = np.asarray(attitude), np.asarray(momentum)
    turn = Rotation.from_matrix(run.attitude[-1]).inv() * Rotation.from_quat(np.roll(q, -1))
    return float(
        max(turn.magnitude(), np.linalg.norm(run.momentum[-1] - Pi) / np.linalg.norm(run.momentum, axis=-1).max())
    )


def one(seed: int) -> tuple[Any, float, float] | None:
    """A random body, start, load, time, method and tolerance: run, true error, tolerance; None if refused."""
    rng = np.random.default_rng(seed)
    a, b = np.sort(rng.uniform(0.3, 3.0, 2))
    turn = Rotation.random(random_state=seed).as_matrix()
    body = ph.RigidBody(turn @ np.diag([a, b, rng.uniform(b, a + b)]) @ turn.T)
    at = ph.Quaternion.of(np.roll(Rotation.random(random_state=seed + 1).as_quat(), 1))
    start = ph.State.of(attitude=at, omega=rng.normal(size=3) * rng.uniform(0.3, 3.0))
    until, tolerance = rng.uniform(1.0, 20.0), 10 ** rng.uniform(-8.0, -2.0)
    free = seed % 2 == 0
    load = None if free else ph.Potential(lambda R, w: w[0] * R[2, 2] + w[1] * R[2, 0], w=rng.uniform(0.2, 2.0, 2))
    method = rng.choice(FREE if free else HEAVY)
    every = 10**9  # the end is enough
    try:
        run = ph.simulate(body, load, start, method=method, tolerance=tolerance, until=until, every=every)
    except InputError:
        return None
    if free:
        end = ph.exact(body, start, until)
        true = apart(run, end.attitude.array, end.momentum.array)
    else:
        fine = ph.simulate(body, load, start, method="rkn6-dmv10", step=until / 20_000, until=until, every=every)
        true = apart(run, fine["attitude"][-1], fine["momentum"][-1])
    return run, true, tolerance


def check(found: tuple[Any, float, float]) -> None:
    run, true, tolerance = found
    estimate = run.error_estimate()
    assert true <= tolerance
    assert estimate.trustworthy
    assert estimate.error <= tolerance
    if estimate.error > 1e-10:  # below, round-off is part of it, in the fine runs too
        assert true / 3 <= estimate.error <= 3 * true


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 6))])
def test_the_tolerance_is_kept_and_the_estimate_true(seed: int) -> None:
    found = one(seed)
    assert found is not None
    check(found)


def hard(seed: int) -> tuple[Any, float, float] | None:
    """As above, but free bodies begin near their unstable axis, and heavy ones are thrown about for long."""
    rng = np.random.default_rng(seed)
    a, b = np.sort(rng.uniform(0.3, 3.0, 2))
    body, free = ph.RigidBody((a, b, rng.uniform(b, a + b))), seed % 2 == 0
    omega = rng.normal(size=3) * rng.uniform(0.3, 3.0)
    if free:
        omega = np.array([10 ** rng.uniform(-7, -1), rng.uniform(0.5, 2.0), 10 ** rng.uniform(-7, -1)])
    at = ph.Quaternion.of(np.roll(Rotation.random(random_state=seed).as_quat(), 1))
    start, until, tolerance = ph.State.of(attitude=at, omega=omega), rng.uniform(10, 100), 10 ** rng.uniform(-5, -2)
    weights = rng.uniform(1, 10, 3) if not free else None
    load = None if free else ph.Potential(lambda R, w: w[0] * R[2, 2] + w[1] * R[2, 0] + w[2] * R[2, 1], w=weights)
    method, every = rng.choice(FREE if free else HEAVY), 10**9
    try:
        run = ph.simulate(body, load, start, method=method, tolerance=tolerance, until=until, every=every)
    except InputError:
        return None
    if free:
        end = ph.exact(body, start, until)
        return run, apart(run, end.attitude.array, end.momentum.array), tolerance
    n = int(2000 * until)
    how: dict[str, Any] = {"method": "rkn6-dmv10", "every": every}
    coarse, fine = (ph.simulate(body, load, start, step=until / k, steps=k, **how) for k in (n, 2 * n))
    true = apart(run, fine["attitude"][-1], fine["momentum"][-1])
    own = apart(coarse, fine["attitude"][-1], fine["momentum"][-1])
    return run, max(true - own, 0.0), tolerance  # as far as the fine runs know


@pytest.mark.long
def test_the_tolerance_is_kept_where_motion_is_unstable() -> None:
    found = [x for x in map(hard, range(2000, 2160)) if x is not None]
    assert max(true / tolerance for _, true, tolerance in found) <= 1.0
    assert len(found) >= 80


def test_round_off_that_grew_is_refused() -> None:
    """A chaotic heavy body whose three runs fall by the order, though round-off has grown to more than they differ."""
    assert hard(2019) is None


@pytest.mark.long
def test_the_tolerance_is_kept_in_200_random_cases() -> None:
    found = [x for x in map(one, range(1000, 1200)) if x is not None]
    for x in found:
        check(x)
    assert len(found) >= 190


def test_a_run_says_its_step_and_error(tmp_path: Any) -> None:
    run = ph.simulate(TOP, GRAVITY, SPUN, tolerance=1e-4, until=1.3, t0=0.4, every_seconds=0.1)
    estimate = run.error_estimate()
    assert run.steps * run.step == pytest.approx(0.9, rel=1e-14)
    assert run.t[-1] == pytest.approx(1.3, rel=1e-14)
    assert estimate.step == run.step
    assert estimate.order == pytest.approx(2, abs=0.1)
    assert estimate.claimed == 2
    assert f"{estimate.error:.2g} at the end" in repr(estimate)
    assert "order 2.0" in repr(estimate)
    assert "estimated" in repr(run)
    assert ph.load(run.save(tmp_path / "top.nc")).attrs["error_estimate"] == estimate.error
    assert run.summary()["error"]["estimate"] == estimate.error
    # The same run without a tolerance is the same bits, and is told the same of its error.
    same = ph.simulate(TOP, GRAVITY, SPUN, step=run.step, until=1.3, t0=0.4)
    np.testing.assert_array_equal(same["attitude"][-1], run["attitude"][-1])
    assert same.estimate is None
    assert same.error_estimate().error == pytest.approx(estimate.error, rel=1e-12)
    assert "error_estimate" not in same.dataset.attrs
    # One that goes on has another error.
    assert ph.simulate(run, steps=10).estimate is None


@pytest.mark.parametrize("steps", [96, 97, 98])  # with halves and quarters, with neither, and with halves
def test_any_number_of_steps_has_an_estimate(steps: int) -> None:
    run = ph.simulate(BODY, None, START, method="imidm", step=6.0 / steps, steps=steps, times=[1.234, 6.0])
    end = ph.exact(BODY, START, 6.0)
    true = apart(run, end.attitude.array, end.momentum.array)
    estimate = run.error_estimate()
    assert estimate.trustworthy
    assert estimate.error == pytest.approx(true, rel=0.1)  # measured 0.01
    assert estimate.largest >= estimate.error


def test_members_of_a_batch_have_their_own() -> None:
    start = ph.State.of(omega=np.array([[0.1, 0.2, 0.1], [0.7, 1.1, -0.5], [2.0, 0.1, 3.0]]))
    run = ph.simulate(BODY, None, start, tolerance=1e-3, until=6.0)
    end = ph.exact(BODY, start, 6.0)
    true = [
        apart(replace(run, trajectory=_member(run.trajectory, i)), end.attitude.array[i], end.momentum.array[i])
        for i in range(3)
    ]
    np.testing.assert_allclose(run.error_estimate().error, true, rtol=0.1)  # measured 0.02
    assert max(true) <= 1e-3
    assert "member 2, the worst of 3" in repr(run.error_estimate())


def _member(trajectory: Any, i: int) -> Any:
    import jax

    return replace(trajectory, states=jax.tree.map(lambda x: x[:, i], trajectory.states))


def test_exact_has_round_off_alone() -> None:
    run = ph.simulate(BODY, None, START, method="exact", tolerance=1e-9, until=10.0)
    end = ph.exact(BODY, START, 10.0)
    true = apart(run, end.attitude.array, end.momentum.array)
    assert true <= run.error_estimate().error <= 1e-11  # measured 5e-13
    assert np.isnan(run.error_estimate().order)
    assert "round-off" in repr(run.error_estimate())


@pytest.mark.parametrize("method", ["imidm", "dmv10", "exact"])
def test_below_round_off_is_refused_with_what_can_be_had(method: str) -> None:
    with pytest.raises(InputError, match="round-off is more than that. Ask for") as refused:
        ph.simulate(BODY, None, START, method=method, tolerance=1e-15, until=2.0)
    least = float(str(refused.value).split("Ask for ")[1].split()[0])
    run = ph.simulate(BODY, None, START, method=method, tolerance=least, until=2.0, every=10**9)
    end = ph.exact(BODY, START, 2.0)
    assert apart(run, end.attitude.array, end.momentum.array) <= least


def test_an_order_higher_than_claimed_is_fine() -> None:
    """A free body under a splitting whose free part has order 10."""
    run = ph.simulate(BODY, None, START, method="nystrom4-dmv10", tolerance=1e-6, until=10.0)
    end = ph.exact(BODY, START, 10.0)
    assert run.error_estimate().order > 5 or np.isnan(run.error_estimate().order)
    assert apart(run, end.attitude.array, end.momentum.array) <= 1e-6


def _rough(t: Any, fast: Any, frequency: Any, pushes: Any, off: Any, signs: Any) -> Any:
    """Torques of which none but the first is smooth, in one form, so that it is one program a method."""
    x = fast * jnp.sin(2 * jnp.pi * frequency * t) + pushes * jnp.where(t < off, 1.0, 0.0)
    return jnp.array([x, 0.0, signs * jnp.sign(jnp.sin(3 * t))])


SMOOTH = {"pushes": 0.0, "off": 0.0, "signs": 0.0}


# In phase with 600 and 64 equal steps.
@pytest.mark.parametrize("frequency", [60.0, pytest.param(6.4, marks=pytest.mark.long)])
def test_a_fast_torque_of_time_is_seen(frequency: float) -> None:
    load = ph.Torque(_rough, fast=3.0, frequency=frequency, **SMOOTH)
    run = ph.simulate(BODY, load, START, tolerance=1e-3, until=10.0)
    fine = ph.simulate(BODY, load, START, method="mk-rk4", step=1e-4, until=10.0, every=10**9)
    assert apart(run, fine["attitude"][-1], fine["momentum"][-1]) <= 1e-3


RATE = 2 * np.pi / 5400.0  # of an orbit, rad/s
INERTIA = (1.0, 1.7, 2.2)


def _gravity_gradient(t: Any, R: Any, omega: Any) -> Any:
    c = R.T @ jnp.array([jnp.cos(RATE * t), jnp.sin(RATE * t), 0.0])
    return 3 * RATE**2 * jnp.cross(c, jnp.asarray(INERTIA) * c)


SATELLITE = (ph.RigidBody(INERTIA), ph.Torque(_gravity_gradient))
TUMBLING = ph.State.of(attitude=ph.exp((0.5, 1.0, 0.3)), omega=(0.3 * RATE, 0.5 * RATE, 1.2 * RATE))


@pytest.mark.parametrize("step", [10.0, pytest.param(1.25, marks=pytest.mark.long)])
def test_a_tumbling_satellite_is_told_that_its_steps_are_too_long(step: float) -> None:
    run = ph.simulate(*SATELLITE, TUMBLING, method="imidm", step=step, until=54_000.0, every=10**9)
    assert run.ok
    estimate = run.error_estimate()
    assert not estimate.trustworthy
    assert "chaotic" in estimate.reason
    assert "NOT TRUSTWORTHY" in repr(estimate)


def test_a_chaotic_satellite_is_refused() -> None:
    with pytest.raises(InputError, match="tolerance = 0.001 over 216000 s with imidm is refused.*chaotic"):
        ph.simulate(*SATELLITE, TUMBLING, method="imidm", tolerance=1e-3, until=40 * 5400.0)


@pytest.mark.parametrize(
    ("method", "torque"),
    [
        pytest.param(
            "imidm", ph.Torque(_rough, fast=0.0, frequency=0.0, pushes=0.0, off=0.0, signs=1.0), marks=pytest.mark.long
        ),
        ("mk-rk4", ph.Torque(lambda t, R, w: jnp.array([0.0, jnp.abs(R[0, 0]), 0.0]))),
    ],
    ids=["a jump", "a kink"],
)
def test_a_load_that_is_not_smooth_is_refused(method: str, torque: Any) -> None:
    with pytest.raises(InputError, match="instead of [24]: the load may not be smooth"):
        ph.simulate(BODY, torque, START, method=method, tolerance=1e-6, until=10.0)


def test_a_start_at_rest() -> None:
    assert (
        ph.simulate(BODY, None, ph.State.of(omega=(0, 0, 0)), tolerance=1e-6, until=10.0).error_estimate().error < 1e-12
    )
    pushed = ph.simulate(
        BODY, GRAVITY, ph.State.of(attitude=ph.exp((0.5, 0, 0)), omega=(0, 0, 0)), tolerance=1e-4, until=2
    )
    assert pushed.error_estimate().trustworthy


def test_a_system() -> None:
    """The pendulum of two rods, against its two angles."""
    run = ph.simulate(PENDULUM.problem(), tolerance=1e-3, until=PENDULUM.until)
    centres, rotations, *_ = PENDULUM.reference()
    turn = Rotation.from_matrix(run.attitude[-1]).inv() * Rotation.from_matrix(rotations)
    far = np.linalg.norm(run.positions[-1] - centres, axis=-1) / extent(run.now)
    true = max(turn.magnitude().max(), far.max())
    assert true <= 1e-3
    assert run.error_estimate().error == pytest.approx(true, rel=0.1)


def wild() -> mb.System:
    """The same, held up and let go: it turns over, and is chaotic."""
    at = double_pendulum.bodies(RODS, (2.5, 2.0), (0.0, 0.0))
    rods = [
        mb.Body(name, RODS.masses[i], RODS.moments[i], position=at.centres[i], attitude=_quaternion(at.rotations[i]))
        for i, name in enumerate(("upper", "lower"))
    ]
    hinges = [
        mb.Revolute(mb.GROUND, "upper", at=(0.0, 0.0, 0.0), axis=RODS.axes[0], name="shoulder"),
        mb.Revolute("upper", "lower", at=at.elbow, axis=at.hinge, name="elbow"),
    ]
    return mb.System(rods, forces=[mb.Gravity((0.0, 0.0, -RODS.gravity))], constraints=hinges)


@pytest.mark.long
def test_a_chaotic_pendulum_is_refused_and_a_short_run_of_it_is_not() -> None:
    short = ph.simulate(wild(), tolerance=1e-3, until=3.0)
    end = double_pendulum.motion(RODS, [3.0], angles=(2.5, 2.0), rates=(0.0, 0.0))[-1]
    turn = Rotation.from_matrix(short.attitude[-1]).inv() * Rotation.from_matrix(end.rotations)
    assert turn.magnitude().max() <= 1e-3
    with pytest.raises(InputError, match="chaotic"):
        ph.simulate(wild(), tolerance=1e-3, until=60.0)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"tolerance": -1.0, "until": 1.0}, "tolerance must be one positive number; got -1.0"),
        ({"tolerance": "fine", "until": 1.0}, "tolerance must be numbers; got 'fine'"),
        ({"tolerance": np.nan, "until": 1.0}, "tolerance must be finite"),
        ({"tolerance": 1e-3, "step": 0.1, "until": 1.0}, "give it or step, not both; got step=0.1"),
        ({"tolerance": 1e-3, "steps": 4}, "give it or steps, not both; got steps=4"),
        ({"tolerance": 1e-3}, "give until, the time to stop at"),
        ({"tolerance": 1e-3, "until": 0.0}, "until must be one positive number"),
        ({"tolerance": 1e-3, "until": 1.0, "every": 0}, "every must be a whole number"),
        ({"tolerance": 1e-3, "times": [0.2, 0.1]}, "times must increase"),
    ],
)
def test_bad_input(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        ph.simulate(BODY, None, START, **given)


def test_runs_without_an_estimate() -> None:
    run = ph.simulate(BODY, None, START, step=0.1, until=1.0)
    with pytest.raises(InputError, match="a run goes on with its own steps, of 0.1 s; give no tolerance"):
        ph.simulate(run, until=2.0, tolerance=1e-3)
    with pytest.raises(InputError, match="had 1 events"):
        replace(run, trajectory=replace(run.trajectory, events=(Happened("x", 0.5, None),))).error_estimate()
    with pytest.raises(ph.StepError) as failed:
        ph.simulate(BODY, None, START, method="dmv", step=5.0, steps=3)
    with pytest.raises(InputError, match="ended before its time"):
        failed.value.run.error_estimate()
    stopped = ph.simulate(BODY, None, START, tolerance=1e-3, until=9.0, on_sample=lambda block: True)
    assert stopped.estimate is None or stopped.t[-1] == 9.0


FILE = """
[body]
inertia = [5, 5, 1]
[start]
attitude = { exp = [0.3, 0, 0] }
omega = [0, 0, 20]
[load]
potential = "20*R33"
[run]
method = ["rig_neg", "mk-rk4"]
tolerance = 1e-4
until = 1.0
"""


def test_on_the_command_line(polhode: Any, tmp_path: Any) -> None:
    import json

    (tmp_path / "top.toml").write_text(FILE, encoding="utf-8")
    code, out, _ = polhode("run", "top.toml", "--json", "--every", "1000000")
    runs = json.loads(out)
    assert code == 0
    assert [run["error"]["estimate"] <= 1e-4 for run in runs] == [True, True]
    code, out, _ = polhode("run", "top.toml", "--tolerance", "1e-3", "--out", "top.nc")
    assert code == 0
    assert "error at end" in out
    assert (tmp_path / "top-rig_neg.nc").exists()
    code, out, _ = polhode("run", "top.toml", "--step", "0.01")
    assert code == 0
    assert "error at end" not in out
    code, _, err = polhode("run", "top.toml", "--step", "0.01", "--tolerance", "1e-3")
    assert (code, "not both" in err) == (2, True)
    code, _, err = polhode("run", "heavy-top", "--tolerance", "1e-16")
    assert (code, "round-off is more than that" in err) == (2, True)
    (tmp_path / "top.toml").write_text(FILE + "step = 0.1\n", encoding="utf-8")
    code, _, err = polhode("run", "top.toml")
    assert (code, "remove one" in err) == (2, True)


LATER = (pytest.param(*case, marks=pytest.mark.long) for case in ((5.02, 10.0), (1.005, 4.0)))


@pytest.mark.parametrize(("off", "until"), [(2.01, 4.0), *LATER])
def test_a_load_that_jumps_where_all_steps_begin_is_not_missed(off: float, until: float) -> None:
    """A little after a half or a quarter of the run, where runs in 4 n steps have a step of their own."""
    push = ph.Torque(_rough, fast=0.0, frequency=0.0, pushes=1.0, off=off, signs=0.0)
    with pytest.raises(InputError, match="the load may jump on the way"):
        ph.simulate(
            ph.RigidBody((2, 3, 4)), push, ph.State.of(omega=(0, 0, 0)), method="imidm", tolerance=1e-5, until=until
        )
