"""The driver: counting, saving, stopping, failing, batches, and programs used again."""

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import running
from polhode.model import InputError
from polhode.problems import problem_of
from polhode.simulation import Status, StepError, count_steps
from polhode.simulation.loop import run_block
from polhode.simulation.progress import Progress

TOP = ph.RigidBody((5, 5, 1))
GRAVITY = ph.Potential(lambda R: 20 * R[2, 2])
START = ph.State.of(attitude=ph.exp((0.05, 0, 0)), omega=(0, 0, 50))


def test_the_ten_lines_of_the_readme() -> None:
    run = ph.simulate(TOP, GRAVITY, START, method="imidm", step=1e-3, until=10, every=10)
    assert run.steps == 10_000
    assert len(run.t) == 1001
    assert run.t[-1] == 10.0
    assert run.energy[0] == pytest.approx(1250 + 20 * math.cos(0.05), rel=1e-15)
    assert run.drift(run.energy) < 2e-9  # measured 1.3e-9
    assert run.ok


@pytest.mark.parametrize(("every", "counts"), [(1, range(8)), (3, [0, 3, 6, 7]), (7, [0, 7]), (100, [0, 7])])
def test_saves_every_so_many_steps_and_the_last(every: int, counts: Any) -> None:
    run = ph.simulate(TOP, GRAVITY, START, step=1e-3, steps=7, every=every)
    assert run.trajectory.steps.tolist() == list(counts)
    reference = ph.simulate(TOP, GRAVITY, START, step=1e-3, steps=7)
    np.testing.assert_array_equal(run.state.momentum.array, reference.state.momentum.array[list(counts)])
    np.testing.assert_array_equal(run.potential, reference.potential[list(counts)])


@pytest.mark.parametrize("every", [1, 700, 50_000, 130_000])
def test_how_a_run_is_cut_into_blocks_changes_no_bit(every: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ph.simulate(TOP, GRAVITY, START, step=1e-3, steps=100_000, every=every)
    monkeypatch.setitem(running._FIRST_BLOCKS, "rotation", 333)
    monkeypatch.setattr("polhode.simulation.walk._BLOCK_SECONDS", 1e-3)
    pieces = ph.simulate(TOP, GRAVITY, START, step=1e-3, steps=100_000, every=every)
    np.testing.assert_array_equal(whole.trajectory.steps, pieces.trajectory.steps)
    np.testing.assert_array_equal(whole.state.attitude.array, pieces.state.attitude.array)
    np.testing.assert_array_equal(whole.state.momentum.array, pieces.state.momentum.array)


def test_until_that_is_not_a_whole_number_of_steps_says_so() -> None:
    with pytest.warns(UserWarning, match=r"ends at step 3, t = 0\.9$"):
        run = ph.simulate(TOP, None, START, step=0.3, until=1.0)
    assert run.steps == 3
    assert count_steps(0.1, 100.0, None) == (1000, None)
    assert count_steps(1e-3, 10.0, None) == (10_000, None)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"step": 0.0}, "step must be one positive number; got 0.0"),
        ({"step": -0.1}, "step must be one positive number; got -0.1"),
        ({"step": float("nan")}, "step must be finite"),
        ({"step": "x"}, "step must be numbers; got 'x'"),
        ({"until": -1.0}, "until must be one positive number"),
        ({"until": float("inf")}, "until must be finite"),
        ({"until": 1.0, "steps": 3}, "either until or steps"),
        ({"until": None}, "either until or steps"),
        ({"until": None, "steps": -1}, "steps must be a whole number of at least 0"),
        ({"until": None, "steps": 1.5}, "steps must be a whole number"),
        ({"every": 0}, "every must be a whole number of at least 1; got 0"),
        ({"every": 2.0}, "every must be a whole number"),
        ({"method": "imidmm"}, "unknown method 'imidmm'; did you mean 'imidm'"),
        ({"until": 1e15, "step": 1e-3}, "needs .* GiB, .* this machine has .* larger `every`"),
        ({"until": 1e300}, "at most 2..62 are counted"),
    ],
)
def test_refused(changes: dict[str, Any], says: str) -> None:
    arguments: dict[str, Any] = {"step": 0.1, "until": 1.0, **changes}
    with pytest.raises(InputError, match=says):
        ph.simulate(TOP, None, START, **arguments)


def test_wrong_kinds_are_refused() -> None:
    with pytest.raises(InputError, match="body must be a RigidBody"):
        ph.simulate((5, 5, 1), None, START, step=0.1, until=1)
    with pytest.raises(InputError, match="load must be a Potential"):
        ph.simulate(TOP, lambda R: 0, START, step=0.1, until=1)
    with pytest.raises(InputError, match=r"start must come from State.of"):
        ph.simulate(TOP, None, (0, 0, 1), step=0.1, until=1)


def test_a_bad_load_is_named_before_the_run() -> None:
    with pytest.raises(InputError, match="potential energy at the start must be finite"):
        ph.simulate(TOP, ph.Potential(lambda R: jnp.log(R.m33 - 2)), START, step=0.1, until=1)
    with pytest.raises(InputError, match=r"one number for each body; .* returned an array of shape \(3,\)"):
        ph.simulate(TOP, ph.Potential(lambda R: R[2].array), START, step=0.1, until=1)
    with pytest.raises(InputError, match=r"one number for each body; .* returned None"):
        ph.simulate(TOP, ph.Potential(lambda R: None), START, step=0.1, until=1)
    with pytest.raises(InputError, match="torque at the start"):
        ph.simulate(TOP, ph.Torque(lambda t: (1.0 / t, 0.0, 0.0)), START, step=0.1, until=1)


@pytest.mark.parametrize(
    "function",
    [
        lambda R: np.sin(R[2, 2]),
        lambda R: math.sin(R[2, 2]),
        lambda R: 1.0 if R[2, 2] > 0 else 2.0,
        lambda R: R[3, 3],
    ],
)
def test_a_function_that_jax_cannot_trace_gets_a_hint(function: Any) -> None:
    with pytest.raises(InputError, match=r"function of the load failed: .* use jax.numpy, not numpy or math"):
        ph.simulate(TOP, ph.Potential(function), START, step=0.1, until=1)


def test_a_constant_potential_is_allowed_and_an_empty_batch_is_not() -> None:
    assert ph.simulate(TOP, ph.Potential(lambda R: 3), START, step=0.1, until=1).energy[0] == 1253.0
    with pytest.raises(InputError, match="empty batch"):
        ph.simulate(TOP, None, ph.State.of(omega=np.zeros((0, 3))), step=0.1, until=1)


def test_a_step_that_is_not_solved_keeps_the_samples_so_far() -> None:
    setup = problem_of("coulomb-wall").problem()
    with pytest.raises(
        StepError, match=r"imidm failed in step \d+, from t = .* with step 0.5.*iterations.*smaller step"
    ) as e:
        ph.simulate(setup.body, setup.load, setup.start, method="imidm", step=0.5, steps=1000)
    run = e.value.run
    assert run.trajectory.status is Status.NOT_CONVERGED
    assert 5 < run.steps < 100
    assert len(run.t) == run.steps + 1
    assert np.isfinite(run.energy).all()
    assert not run.ok
    assert run.trajectory.failure["residual"] > 1e-10


def test_a_step_that_is_not_finite_is_an_error_too() -> None:
    wall = ph.Torque(lambda t: (jnp.where(t > 0.52, jnp.nan, 0.0), 0.0, 0.0))
    with pytest.raises(StepError, match="rig_pos failed in step 6.* not finite") as e:
        ph.simulate(TOP, wall, START, method="rig_pos", step=0.1, steps=100)
    assert e.value.run.steps == 5


def test_a_batch_is_its_members() -> None:
    omega = np.array([[[0, 0, 50], [1, 2, 3]], [[0.1, 0, -5], [7, 0, 0]], [[0, 0, 1], [0, 3, 0]]], dtype=float)
    start = ph.State.of(attitude=ph.exp((0.3, 0, 0)), omega=omega)
    batch = ph.simulate(TOP, GRAVITY, start, step=1e-2, steps=50, every=10)
    assert batch.energy.shape == (6, 3, 2)
    for i, j in np.ndindex(3, 2):
        one = ph.simulate(
            TOP, GRAVITY, ph.State.of(attitude=ph.exp((0.3, 0, 0)), omega=omega[i, j]), step=1e-2, steps=50, every=10
        )
        np.testing.assert_allclose(batch.state.momentum.array[:, i, j], one.state.momentum.array, atol=2e-13)
    assert batch.dataset.momentum.dims == ("t", "member0", "member1", "axis")
    assert "batch (3, 2)" in repr(batch)
    with pytest.raises(InputError, match="this run is a batch"):
        batch.plot.polhode()


def test_a_batch_in_which_all_fail_names_those_that_were_left() -> None:
    setup = problem_of("coulomb-wall").problem()
    start = ph.State.of(spatial_momentum=np.array([[2.0, 2.0, 2.0]] * 2))
    with pytest.raises(StepError, match=r"members \[\[0\], \[1\]\] of the batch"):
        ph.simulate(setup.body, setup.load, start, method="imidm", step=0.5, steps=100)


def test_a_full_tensor_is_the_same_body_seen_from_turned_axes() -> None:
    """The motion of a body given by its tensor in a turned frame, against principal axes."""
    turn = Rotation.from_rotvec((0.4, -0.9, 0.2)).as_matrix()  # body frame from principal axes
    moments, omega = np.array([1.0, 1.6, 2.2]), np.array([0.7, 1.1, -0.5])
    a = ph.simulate(
        ph.RigidBody(moments), ph.Potential(lambda R: 3 * R.m33), ph.State.of(omega=omega), step=0.01, steps=300
    )
    axis = turn[:, 2]
    b = ph.simulate(
        ph.RigidBody(turn @ np.diag(moments) @ turn.T),
        ph.Potential(lambda R: 3 * R[2].dot(ph.Vec3.of(axis))),
        ph.State.of(attitude=turn.T, omega=turn @ omega),
        step=0.01,
        steps=300,
    )
    np.testing.assert_allclose(b.state.momentum.array, a.state.momentum.array @ turn.T, atol=2e-13)
    np.testing.assert_allclose(b.attitude, a.attitude @ turn.T, atol=2e-13)
    np.testing.assert_allclose(b.energy, a.energy, atol=2e-13)
    np.testing.assert_allclose(b.omega, a.omega @ turn.T, atol=2e-13)


def test_a_program_is_used_again_when_only_numbers_change() -> None:
    traced = []

    def gravity(R: Any, weight: Any) -> Any:
        traced.append(R)
        return weight * R.m33

    def run(inertia: Any, weight: float, spin: float, step: float, steps: int, every: int) -> None:
        start = ph.State.of(attitude=ph.exp((0.05, 0, 0)), omega=(0, 0, spin))
        ph.simulate(
            ph.RigidBody(inertia), ph.Potential(gravity, weight=weight), start, step=step, steps=steps, every=every
        )

    run((5, 5, 1), 20.0, 50.0, 1e-3, 10, 1)
    programs = run_block.made
    run((4, 3, 2), 10, 30.0, 2e-3, 50_000, 7)
    run((4, 3.5, 2), 1.0, 3.0, 1e-2, 1, 100)
    assert len(traced) == 3  # the function once a run, to see it as it is
    assert run_block.made == programs


def test_progress_appears_when_asked_and_slow(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    really_open = Progress._open

    def noted(self: Progress) -> None:
        opened.append(self.label)
        really_open(self)

    monkeypatch.setattr(Progress, "_open", noted)
    monkeypatch.setattr("polhode.simulation.progress._PATIENCE", 0.0)
    ph.simulate(TOP, GRAVITY, START, step=1e-3, steps=10**5, every=10**5, progress=True)
    assert opened == ["imidm  h = 0.001"]
    capsys.readouterr()
    ph.simulate(TOP, GRAVITY, START, step=1e-3, steps=10**5, every=10**5)  # not a terminal
    assert opened == ["imidm  h = 0.001"]
    assert capsys.readouterr().err == ""


def test_a_wait_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compilation is waited for in words, before the bar and in the bar."""
    said: list[str] = []
    shown = threading.Event()

    class Status:
        def __init__(self, words: str) -> None:
            said.append(words)

        def start(self) -> None:
            shown.set()

        def stop(self) -> None:
            said.append("stopped")

    monkeypatch.setattr("rich.console.Console.status", lambda self, words: Status(words))
    monkeypatch.setattr("polhode.simulation.progress._SILENCE", 0.0)
    bar = Progress(10, "imidm  h = 0.1", True)
    with bar.waiting(lambda: "compiling"):
        assert shown.wait(10.0)
    assert said == ["compiling", "stopped"]
    monkeypatch.setattr("polhode.simulation.progress._SILENCE", 100.0)
    with bar.waiting(lambda: "something short"):
        pass
    with Progress(10, "", False).waiting(lambda: "what nobody wants to know"):
        pass
    assert said == ["compiling", "stopped"]
    monkeypatch.setattr("polhode.simulation.progress._PATIENCE", 0.0)
    with bar:
        bar.advance(3)
        with bar.waiting(lambda: "compiling again"):
            assert bar.bar.tasks[0].description == "compiling again"
        assert bar.bar.tasks[0].description == "imidm  h = 0.1"


@pytest.mark.parametrize(("made", "words"), [("heavy-top", "imidm for one body"), ("pendulum", "three-field for 1 b")])
def test_what_is_compiled_is_said(made: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    @contextmanager
    def waiting(self: Progress, words: Callable[[], str]) -> Iterator[None]:
        said.append(words())
        yield

    monkeypatch.setattr(Progress, "waiting", waiting)
    ph.simulate(ph.problem(made), step=0.001, steps=2)
    assert said[0] == "preparing the start"
    assert said[1].startswith(f"compiling {words}")
    assert len(said) == 2


@pytest.mark.long
def test_round_off_of_ten_million_steps_is_a_random_walk() -> None:
    """SWC1's energy within 1e-12 and without trend: measured 3e-13, rise below 3e-13."""
    setup = problem_of("free-body").problem()
    run = ph.simulate(setup.body, None, setup.start, method="swc1", step=0.1, steps=10**7, every=10**4)
    change = (run.energy - run.energy[0]) / run.energy[0]
    assert np.abs(change).max() < 1e-12
    assert abs(np.polyfit(np.linspace(0, 1, len(change)), change, 1)[0]) < 7e-13


def test_steps_under_the_users_own_jit_match_the_driver() -> None:
    method = ph.methods.method_of("akw")
    system = ph.Rotation(TOP, GRAVITY)
    state = jax.tree.map(jnp.asarray, START.on(TOP))

    @jax.jit
    def ten(state: Any) -> Any:
        return jax.lax.fori_loop(0, 10, lambda n, s: method.step(system, s, n * 1e-2, 1e-2).state, state)

    run = ph.simulate(TOP, GRAVITY, START, method="akw", step=1e-2, steps=10)
    np.testing.assert_allclose(ten(state).momentum.array, run.state.momentum.array[-1], atol=1e-13)
