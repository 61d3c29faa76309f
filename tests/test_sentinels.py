"""Sentinels: what a method promises, looked for in every sample. Finite but wrong ends a run; right never does."""

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polhode as ph
from polhode.algebra import Vec3
from polhode.methods import DMV
from polhode.model import InputError
from polhode.model.registry import all_methods
from polhode.problems import PROBLEMS
from polhode.results import checks, growing, judgement, sentinels
from polhode.results.checkpoints import Mark
from polhode.results.sentinels import promises_of
from polhode.results.surely import Few, keeps_energy, keeps_length, keeps_momentum, of_length_1
from polhode.results.tree import Tree
from polhode.rotation.loads import Free, Load
from polhode.simulation import Status, StepError

FREE = ph.problem("free-body")


@dataclass(frozen=True)
class Liar(DMV):
    """Like dmv, but for a momentum that grows by a part in 10⁹ in each step. It claims to keep it."""

    def step(self, system: Any, state: Any, t: Any, h: Any) -> Any:
        made = super().step(system, state, t, h)
        return replace(made, state=replace(made.state, momentum=made.state.momentum * (1 + 1e-9)))


def test_a_method_that_lies(tmp_path: Path) -> None:
    """In memory and in a file; the samples up to there are kept, the last one among them that shows it."""
    for more in ({}, {"out": tmp_path / "run.zarr"}):
        with pytest.raises(
            StepError, match="it keeps the (energy|spatial momentum) of a free body to round-off"
        ) as lie:
            ph.simulate(FREE, method=Liar(), step=0.01, steps=3000, every=10, **more)
        run = lie.value.run
        assert run.trajectory.status is Status.BROKEN
        assert run.t[-1] == pytest.approx(0.1)
        assert run.drift("spatial_momentum") == pytest.approx(1e-8, rel=1e-3)
        assert not run.ok
    read = ph.load(tmp_path / "run.zarr")
    assert (read.attrs["status"], read.sizes["t"]) == ("BROKEN", 2)
    with pytest.raises(InputError, match="what the method promises does not hold. dmv: it keeps"):
        ph.resume(tmp_path / "run.zarr", FREE, method=Liar())
    assert ph.simulate(FREE, method=Liar(), step=0.01, steps=3000, every=10, sentinels=False).ok
    run = ph.resume(tmp_path / "run.zarr", FREE, method=Liar(), sentinels=False)
    assert run.ok
    assert run.steps == 3000


@dataclass(frozen=True)
class Turned(DMV):
    """Its momentum is turned around in every step."""

    def step(self, system: Any, state: Any, t: Any, h: Any) -> Any:
        made = super().step(system, state, t, h)
        return replace(made, state=replace(made.state, momentum=-1.0 * made.state.momentum))


def test_short_runs_are_looked_at_too(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StepError, match="it keeps the spatial momentum of a free body to round-off"):
        ph.simulate(FREE, method=Turned(), step=0.01, steps=6)
    seen: list[Any] = []
    monkeypatch.setattr(checks, "halted", lambda *given: seen.append(given))
    assert ph.simulate(FREE, method="dmv", step=0.01, steps=6).ok
    assert not seen  # how far it went, which came with the steps, tells


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Hostile(Load):
    """A torque that is not the gradient of its energy, by a thousandth."""

    def torque(self, t: Any, R: Any, omega: Any) -> Any:
        return ph.Vec3(20.02 * R.m32, -20 * R.m31, 0.0 * R.m33)

    def energy(self, t: Any, R: Any) -> Any:
        return 20 * R.m33

    @property
    def conservative(self) -> bool:
        return True


def test_a_load_that_is_not_the_gradient_it_claims(tmp_path: Path) -> None:
    top, start = ph.RigidBody((5, 5, 1)), ph.State.of(attitude=ph.exp((0.05, 0, 0)), omega=(0, 0, 50))
    with pytest.raises(StepError, match="the torque of its load is the gradient of its energy; .* off by 0.000"):
        ph.simulate(top, Hostile(), start, step=1e-3, steps=100, out=tmp_path / "run.zarr")
    honest = ph.Potential(lambda R: 20 * R[2, 2])
    assert ph.simulate(top, honest, start, step=1e-3, steps=100, out=tmp_path / "honest.zarr").ok


def cut(path: Path) -> None:
    """A run that a process left after its first part."""
    blocks = iter(range(3))

    def on_sample(run: Any) -> None:
        if next(blocks, None) is None:
            raise SystemExit

    with pytest.raises(SystemExit):
        ph.simulate(FREE, method="dmv", step=0.01, steps=30_000, every=5, out=path, on_sample=on_sample)


def test_a_bit_flipped_in_a_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the disk, its checksum tells; before that was made, in memory, the sentinels do."""
    monkeypatch.setattr(growing, "SECONDS", 0.0)
    monkeypatch.setattr(growing, "_COST", 0)
    path = tmp_path / "run.zarr"
    cut(path)
    place = path / ".polhode" / Tree(path).attributes["checkpoint"]
    mark = Mark.read(place, ph.simulate(FREE, method="dmv", step=0.01, steps=1).trajectory.end.state)
    momentum = mark.at.state.momentum
    turned = np.frombuffer((np.array(momentum.x).view(np.int64) ^ (1 << 30)).tobytes(), float)[0]
    assert 0 < abs(turned / momentum.x - 1) < 1e-5
    state = replace(mark.at.state, momentum=replace(momentum, x=np.array(turned)))
    replace(mark, at=replace(mark.at, state=state)).write(place)
    with pytest.raises(StepError, match="of a free body to round-off"):
        ph.resume(path)


def test_a_bit_flipped_in_a_checkpoint_of_a_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the disk its checksum tells: the run goes on from before, with the same bits."""
    monkeypatch.setattr(growing, "SECONDS", 0.0)
    monkeypatch.setattr(growing, "_COST", 0)
    path, blocks = tmp_path / "run.zarr", iter(range(1))

    def on_sample(run: Any) -> None:
        if next(blocks, None) is None:
            raise SystemExit

    how: dict[str, Any] = {"method": "three-field", "step": 1e-3, "steps": 1200, "every": 3}
    with pytest.raises(SystemExit):
        ph.simulate(ph.problem("pendulum"), **how, out=path, on_sample=on_sample)
    place = path / ".polhode" / Tree(path).attributes["checkpoint"]
    data = bytearray(place.read_bytes())
    data[-40] ^= 1  # of the state, the last bit of a number
    place.write_bytes(data)
    with pytest.warns(UserWarning, match="its checksum differs"):
        run = ph.resume(path)
    np.testing.assert_array_equal(run["position"], ph.simulate(ph.problem("pendulum"), **how)["position"])


def _few(angles: Any) -> tuple[Few, Any]:
    """Samples of a body whose spatial momentum is the same, and where it started."""
    R = ph.exp(angles)
    start = np.array([0.3, -1.2, 0.7])
    gauges = {"energy.start": np.array(2.0), "spatial_momentum.start": start}
    Pi = R.unrotate(Vec3(*start))
    return Few(R, Pi, np.full(len(angles), 2.0), R.rotate(Pi).array, gauges), start


@given(st.integers(0, 6), st.floats(-14.0, 0.0))
@settings(max_examples=60, deadline=None)
def test_what_is_certain_is_so(which: int, power: float) -> None:
    """A number of the state that is changed: what the quick look lets pass, is as small as it says; and what is right
    passes."""
    chance = np.random.default_rng(which)
    few, start = _few(chance.normal(size=(40, 3)))
    most, numbers = 1e-9, [*few.attitude, *few.body]
    assert of_length_1(few, 1e-14)
    assert keeps_momentum(few, 1e-14)
    assert keeps_length(few, 1e-14)
    numbers[which] = numbers[which].copy()
    numbers[which][17] += 10.0**power
    R, Pi = type(few.attitude)(*numbers[:4]), type(few.body)(*numbers[4:])
    size = np.sqrt(sum(c * c for c in R))
    length = np.abs(size - 1).max()
    turned = type(R)(*(c / size for c in R)).rotate(Pi).array
    off = np.sqrt(((turned - start) ** 2).sum(axis=-1)).max() / np.linalg.norm(start)
    changed = replace(few, attitude=R, body=Pi, spatial=turned)
    assert of_length_1(changed, most) == (length <= most) or 0.9 < length / most < 1.1
    if keeps_momentum(changed, most):
        assert off <= 1.01 * most
    else:
        assert off > 0.4 * most
    lengths = np.abs(Pi.norm() / np.linalg.norm(start) - 1).max()
    assert lengths <= 1.01 * most if keeps_length(changed, most) else lengths > 0.4 * most
    assert not keeps_energy(replace(few, energies=few.energies + np.nan), most)
    assert keeps_energy(replace(few, energies=few.energies * (1 + 0.5 * most)), most)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Glitch(Free):
    """Nothing acts; but a memory that loses a bit after this step has it back after the next."""

    at: Any = -1.0
    by: Any = 1e-9


@dataclass(frozen=True)
class Glitchy(DMV):
    """dmv on such a machine."""

    def step(self, system: Any, state: Any, t: Any, h: Any) -> Any:
        n, load = jnp.round(t / h), system.load
        back, off = (jnp.where(n == at, load.by, 0.0) for at in (load.at, load.at - 1.0))
        made = super().step(system, replace(state, momentum=state.momentum * (1.0 / (1.0 + back))), t, h)
        return replace(made, state=replace(made.state, momentum=made.state.momentum * (1.0 + off)))


@dataclass(frozen=True)
class Twisted(DMV):
    """dmv, but for one step that turns body and momentum apart: another energy, the same spatial momentum."""

    def step(self, system: Any, state: Any, t: Any, h: Any) -> Any:
        made, load = super().step(system, state, t, h), system.load
        angle = jnp.where(jnp.round(t / h) == load.at - 1.0, load.by, 0.0)
        turn = ph.exp(Vec3(0.0 * angle, 0.0 * angle, angle))
        R, Pi = made.state.attitude, made.state.momentum
        return replace(made, state=replace(made.state, attitude=R * turn, momentum=turn.unrotate(Pi)))


@pytest.mark.parametrize("members", [(), (3,)], ids=["one", "batch"])
@pytest.mark.parametrize(("size", "by"), [(1.0, 1e-9), (1e-148, 1e-9), (1e-152, 1e-6), (1e-155, 0.1)])
def test_numbers_that_are_nearly_nothing_are_looked_at(size: float, by: float, members: tuple[int, ...]) -> None:
    """XLA takes numbers below 2e-308 for nothing, such as changes of these energies."""
    start = ph.State.of(omega=np.broadcast_to(size * np.array([1.0, 0.5, 0.3]), (*members, 3)))
    which = np.array([-1.0, -1.0, 3.0]) if members else 3.0
    words = (
        r"energy of a free body.* step 3 \(members \[\[2\]\] of the batch" if members else "energy of a free.* step 3,"
    )
    with pytest.raises(StepError, match=words):
        ph.simulate(ph.RigidBody((1.0, 2.0, 2.5)), Glitch(which, by), start, method=Twisted(), step=0.01, steps=6)


GLITCHES = [(float(i), 1e-9) for i in (1, 63, 64, 65, 1023, 1024, 1025, 2999, 3000)]
GLITCHES += [(100.0, np.nan), (3.0, np.inf)]


@pytest.mark.parametrize("members", [(), (70,)], ids=["one", "batch"])
def test_every_sample_of_a_run_in_memory_is_looked_at(members: tuple[int, ...]) -> None:
    """Where it is computed; one that is wrong is found, whichever it is, and of a batch in whichever member."""
    start = ph.State.of(omega=np.broadcast_to((0.4, 0.9, 0.1), (*members, 3)))

    def run(at: Any, by: float) -> ph.Run:
        load = Glitch(at, by)
        return ph.simulate(ph.RigidBody((1.0, 1.7, 2.2)), load, start, method=Glitchy(), step=0.01, steps=3000)

    assert judgement.well(run(np.full(members, -1.0), 1e-9))
    for at, by in GLITCHES[:-2:4] if members else GLITCHES:
        which: Any = np.where(np.arange(70) == 67, at, -1.0) if members else at
        with pytest.raises(StepError, match=rf"step {at:.0f}[,: ]") as failed:
            run(which, by)
        assert failed.value.run.trajectory.steps[-1] == (at if by == 1e-9 else at - 1)


def test_what_the_machine_did_wrong_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample that is wrong once: the run goes on from its last commit, and says so."""
    really, times = growing.Growing._put, iter(range(4))

    def once(self: Any, saved: Any, first: int, count: int) -> None:
        really(self, saved, first, count)
        if next(times, None) == 0:
            self._states.momentum.x[self._filled - 1] *= 1 + 1e-6

    whole = ph.simulate(FREE, method="dmv", step=0.01, steps=5_000, every=5)
    monkeypatch.setattr(growing.Growing, "_put", once)
    with pytest.warns(UserWarning, match="right when its steps were taken once more"):
        run = ph.simulate(FREE, method="dmv", step=0.01, steps=5_000, every=5, out=tmp_path / "run.zarr")
    np.testing.assert_array_equal(run["momentum"], whole["momentum"])


@pytest.mark.long
def test_a_joint_that_opens() -> None:
    """Of a system: a method that pulls a hinge apart by a micrometre in each step."""
    three_field = type(all_methods("system")["three-field"])

    @dataclass(frozen=True)
    class Pulls(three_field):  # type: ignore[misc, valid-type]
        @property
        def rungs(self) -> Any:
            return (self,)

        def step(self, system: Any, state: Any, t: Any, h: Any) -> Any:
            made = super().step(system, state, t, h)
            return replace(made, state=replace(made.state, positions=made.state.positions + jnp.array([0, 1e-6, 0.0])))

    with pytest.raises(StepError, match="it keeps joints and contacts closed"):
        ph.simulate(ph.problem("pendulum"), method=Pulls(), step=1e-3, steps=20)


def alarms(name: str, method: str, steps: int) -> list[str]:
    """What sentinels would say of a run of a built-in problem, none of which is wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ph.simulate(ph.problem(name), method=method, steps=steps, every=max(1, steps // 100))
    except InputError:
        return []  # a method for other bodies, or without loads
    except StepError as error:
        return [str(error)] if error.run.trajectory.status is Status.BROKEN else []
    return []


def test_no_false_alarm() -> None:
    assert alarms("free-body", "dmv", 20_000) == []
    assert alarms("free-body", "exact", 2_000) == []
    assert alarms("pendulum", "three-field", 200) == []


@pytest.mark.long
@pytest.mark.parametrize("name", PROBLEMS)
def test_no_false_alarm_in_any_problem(name: str) -> None:
    """By any method: 20,000 steps of one body, 1000 of a system."""
    kind = ph.problem(name).kind
    steps = 20_000 if kind == "rotation" else 1000
    assert [said for method in all_methods(kind) for said in alarms(name, method, steps)] == []


def test_every_method_that_promises_is_looked_at() -> None:
    """What traits say of a free body is what is looked for, no more."""
    for method in all_methods("rotation").values():
        run = ph.simulate(FREE, method="dmv", step=0.01, steps=1)
        words = " ".join(p.words for p in promises_of(replace(run, method=method), thorough=True))
        assert ("energy of a free body" in words) == (method.traits.energy == "exact")
        assert ("spatial momentum of a free body" in words) == (method.traits.spatial_momentum == "exact")
    assert sentinels._BODY < 1e-10


def test_no_false_alarm_of_a_rod() -> None:
    """That spins about itself: em began with a momentum that was 2.4e-11 of it off."""
    start = ph.State.of(omega=(0.3, 0.5, 1e5))
    run = ph.simulate(ph.RigidBody((1.0, 1.0, 1e-6)), None, start, method="em", step=5e-7, steps=50)
    assert run.drift("spatial_momentum") < 1e-14  # measured: 9e-16


def test_stop_if(tmp_path: Path, polhode: Any) -> None:
    """At the first sample for which it holds, the same one wherever the run is cut; in memory too."""
    how: dict[str, Any] = {"method": "trap", "step": 0.1, "steps": 3000, "every": 5}
    drift = np.abs(ph.simulate(FREE, **how)["energy"] / FREE.system.begun(FREE.start)[1].kinetic(FREE.system) - 1)
    limit = float(0.7 * drift.max())
    first = int(np.argmax(drift > limit))
    assert 5 < first < 600
    for more in ({}, {"out": tmp_path / "run.zarr"}):
        run = ph.simulate(FREE, **how, stop_if=f"energy.drift > {limit!r}", **more)
        assert run.trajectory.status is Status.STOPPED
        assert len(run.t) == first + 1
    assert run.why.startswith(f"stopped at t = {run.t[-1]:g} as energy.drift > ")
    assert ph.resume(tmp_path / "run.zarr", until=300.0).steps == 3000
    for bad, says in (
        ("energy.drift", "a condition with one of < <= > >="),
        ("energy.drift > lots", r"unknown name 'lots'; .* t, energy\.drift, spatial"),
        ("energy_drift > 1", r"unknown name 'energy_drift'; did you mean 'energy\.drift'"),
        ("__import__('os') > 1", "cannot read the expression"),
        ("1 > 2", "names nothing of the run"),
    ):
        with pytest.raises(InputError, match=says):
            ph.simulate(FREE, **how, stop_if=bad)
    code, out, _ = polhode("run", "free-body", "--until", "100", "--stop-if", "t >= 7", "--every", "1", "--json")
    assert code == 0
    assert '"t": 7.0' in out


def test_an_action_is_no_broken_promise_however_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks while the run goes on, which come by the clock, know of events that act too."""
    monkeypatch.setattr("polhode.results.checks._OFTEN", 0.0)
    kick = ph.Event(lambda t: t - 0.255, action=lambda t, x: replace(x, momentum=2.0 * x.momentum))
    body, start = ph.RigidBody((1.0, 2.0, 3.0)), ph.State.of(omega=(0.1, 2.0, 0.1))
    run = ph.simulate(body, None, start, method="dmv", step=0.01, until=1.0, events=kick)
    assert run.end_time == pytest.approx(1.0)
    assert run.energy[-1] == pytest.approx(4 * run.energy[0])


def test_stop_if_with_events_that_act(tmp_path: Path) -> None:
    """At the first sample for which it holds, as where it is written; the start is one."""
    kick = ph.Event(lambda t: t - 0.255, action=lambda t, x: replace(x, momentum=2.0 * x.momentum))
    how: dict[str, Any] = {"method": "dmv", "step": 0.01, "until": 1.0, "events": kick}
    for condition, steps in (("energy > 0", 0), ("t > 0.5", 51)):
        for more in ({}, {"out": tmp_path / f"{steps}.zarr"}):
            run = ph.simulate(FREE, **how, stop_if=condition, **more)
            assert (run.trajectory.status, run.steps) == (Status.STOPPED, steps)
