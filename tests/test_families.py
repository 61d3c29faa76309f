"""Batches of problems: every member as if it were alone, in one dataset with named dimensions."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from pictures import check_figure

import polhode as ph
from polhode import multibody as mb
from polhode.model import InputError
from polhode.multibody.start.starts import starts_of
from polhode.results import Family, Plots

SPINS = np.array([1.0, 20.0, 50.0])


def tops(**how: Any) -> Any:
    return ph.simulate(ph.problem("heavy-top", spin=SPINS), **{"step": 0.01, "until": 0.5, "every": 5, **how})


def same_bits(family: Any, at: Any, run: ph.Run) -> None:
    for x, y in zip(jax.tree.leaves(family.runs[at].state), jax.tree.leaves(run.state), strict=True):
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()


def test_members_are_as_if_alone() -> None:
    family = tops()
    assert isinstance(family, Family)
    assert family.ok
    assert family.members == (3,)
    for i, spin in enumerate(SPINS):
        alone = ph.simulate(ph.problem("heavy-top", spin=spin), step=0.01, until=0.5, every=5)
        same_bits(family, i, alone)
        assert family["energy"][:, i].tolist() == alone["energy"].tolist()
    d = family.dataset
    assert d.energy.dims == ("t", "spin")
    assert d.spin.values.tolist() == SPINS.tolist()
    assert d.spin.attrs["units"] == "rad/s"
    assert d.sel(spin=20.0).energy.values.tolist() == family.runs[1].energy.tolist()
    assert "family of 3 runs of imidm by spin" in repr(family)


def test_parameters_go_together_as_arrays_do() -> None:
    grid = ph.simulate(ph.problem("heavy-top", spin=SPINS[:, None], weight=[10.0, 20.0]), step=0.05, steps=4)
    assert grid.members == (3, 2)
    assert grid.dataset.energy.dims == ("t", "member0", "member1")
    assert grid.dataset.weight.dims == ("member0", "member1")
    alone = ph.simulate(ph.problem("heavy-top", spin=50.0, weight=10.0), step=0.05, steps=4)
    same_bits(grid, (2, 0), alone)
    pairs = ph.problem("heavy-top", spin=SPINS, inertia=[[5, 5, 1], [4, 4, 1], [3, 3, 1.5]])
    assert pairs.members.shape == (3,)
    assert ph.simulate(pairs, step=0.05, steps=2).dataset.energy.dims == ("t", "member")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"spin": SPINS, "weight": [1.0, 2.0]}, r"do not go together: spin \(3,\), weight \(2,\)"),
        ({"spin": []}, r"between 1 and 100,000 members; this one has the shape \(0,\)"),
        ({"spin": [1.0, np.nan]}, "must be finite"),
        ({"spin": [1.0], "wieght": [2.0]}, "no parameter 'wieght'"),
        ({"inertia": [[5, 5, 1], [1, 1, 9]]}, r"member \[1\] \(inertia = \[1.0, 1.0, 9.0\]\)"),
    ],
)
def test_bad_batches(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        ph.problem("heavy-top", **given)


def test_a_member_that_fails_keeps_its_samples_and_the_others_go_on(tmp_path: Path) -> None:
    """The load has no value beyond some angle, which one of them comes to."""
    body = ph.RigidBody((5.0, 5.0, 1.0))
    fence = ph.Potential(lambda R: 0.5 * jnp.log(R[2, 2] - 0.5))

    def tipping(rate: float) -> Any:
        return body, fence, ph.State.of(omega=(rate, 0.0, 1.0))

    with pytest.warns(UserWarning, match=r"1 of 3 members failed; they keep their samples up to there. member \[1\]: "):
        family = ph.simulate(ph.batch(tipping, rate=[0.1, 5.0, 0.2]), step=0.01, until=0.5, method="trap")
    assert not family.ok
    assert list(family.reasons) == [(1,)]
    values = family["kinetic"]
    ended = len(family.runs[1].t)
    assert 3 < ended < len(family.t)
    assert np.isfinite(values[:, [0, 2]]).all()
    assert np.isfinite(values[:ended, 1]).all()
    assert np.isnan(values[ended:, 1]).all()
    d = ph.load(family.save(tmp_path / "some.zarr"))
    assert d.status.values.tolist()[1] in ("NOT_FINITE", "NOT_CONVERGED")
    assert d.status.values.tolist()[0] == "OK"
    assert d.end_step.values.tolist()[1] == family.runs[1].steps
    assert "member [1]" in str(d.attrs["failures"])


def pendulum(length: float, mass: float = 1.0, g: float = 9.81) -> mb.System:
    bob = mb.Body("bob", mass, (0.1 * mass, 0.1 * mass, 0.1 * mass), position=(length, 0.0, 0.0))
    hinge = mb.Revolute("ground", "bob", at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0), name="hinge")
    return mb.System(
        [bob], forces=[mb.Gravity((0.0, 0.0, -g))], constraints=[hinge],
        observables={"height": (lambda view: view.position("bob")[2], "m")},
    )  # fmt: skip


def test_systems_with_other_numbers() -> None:
    """Anchors, masses, weights; members differ in numbers alone, so one program serves them all."""
    family = ph.simulate(ph.batch(pendulum, length=[0.5, 1.0, 2.0]), step=0.01, until=1.0)
    assert family.dataset.position.dims == ("t", "length", "body", "axis")
    for i, length in enumerate((0.5, 1.0, 2.0)):
        same_bits(family, i, ph.simulate(pendulum(length), step=0.01, until=1.0))
    assert np.nanmax(family["gap"]) < 1e-12
    stopped = ph.simulate(
        ph.batch(pendulum, length=[0.5, 1.0, 2.0], g=[9.81, 9.81, 1.62]), step=0.01, until=1.0,
        events=ph.Event(lambda view: view.position("bob")[0], name="low"),
    )  # fmt: skip
    ends = stopped.dataset.end_time.values
    assert stopped.dataset.status.values.tolist() == ["STOPPED", "STOPPED", "OK"]
    assert ends[0] < ends[1] < ends[2] == 1.0
    assert stopped.dataset.length.dims == ("member",)
    assert np.isnan(stopped["kinetic"][-1, :2]).all()


def test_starts_found_together_are_those_found_alone() -> None:
    """To round-off; one that is off, or whose rows nearly follow from one another, is to be looked at by itself."""
    shifted = pendulum(1.0).replaced(start=replace(pendulum(1.0).start, positions=np.array([[1.0, 0.0, 1e-5]])))
    turned = pendulum(1.0).replaced(start=replace(pendulum(1.0).start, omegas=np.array([[0.0, 0.0, 1.0]])))
    systems = [pendulum(0.5), pendulum(1.0, 2.0), shifted, turned, pendulum(2.0, 1.0, 1.62)]
    found = starts_of(systems, 0.0)
    assert [x is None for x in found] == [False, False, True, True, False]
    for system, pair in zip(systems, found, strict=True):
        if pair is not None:
            for x, y in zip(jax.tree.leaves(pair), jax.tree.leaves(system.begun(None)), strict=True):
                np.testing.assert_allclose(x, y, rtol=0, atol=1e-14)  # measured: 4e-15, of forces


def test_members_end_where_they_end_whenever_they_are_looked_at() -> None:
    fallen = ph.Event(lambda t, R: R[2, 2] - 0.5, direction=-1)
    tops = ph.problem("heavy-top", spin=[1.0, 5.0, 40.0])
    whole = ph.simulate(tops, step=0.01, until=3, events=fallen)
    seldom = ph.simulate(tops, step=0.01, times=[0.0, 0.1, 3.0], events=fallen)
    assert whole.dataset.status.values.tolist() == ["STOPPED", "STOPPED", "OK"]
    for name in ("end_time", "end_step"):
        assert seldom.dataset[name].values.tolist() == whole.dataset[name].values.tolist()
    assert [run.end_time for run in seldom.runs[:2]] == [run.events[0].t for run in seldom.runs[:2]]
    once = ph.simulate(ph.problem("heavy-top"), step=0.01, until=0.5, times=[0.1])
    assert (once.steps, once.end_time, once.summary()["steps"], once.dataset.attrs["steps"]) == (50, 0.5, 50, 50)
    assert "50 steps of 0.01 s to t = 0.5, 1 samples" in str(once)


def test_several_steps() -> None:
    family = ph.simulate(ph.problem("heavy-top"), step=[0.02, 0.01, 0.005], until=0.2)
    assert family.dataset.energy.dims == ("t", "step")
    assert family.t == pytest.approx(np.arange(11) * 0.02)
    fine = ph.simulate(ph.problem("heavy-top"), step=1e-3, until=0.2, every=20, method="rkn6-dmv10")
    errors = [np.abs(run.attitude - fine.attitude).max() for run in family.runs]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=0.1)
    with pytest.raises(InputError, match=r"0.02 is not a whole number of steps of 0.015"):
        ph.simulate(ph.problem("heavy-top"), step=[0.02, 0.015], until=0.2)
    with pytest.raises(InputError, match="give until"):
        ph.simulate(ph.problem("heavy-top"), step=[0.02, 0.01], steps=10)
    with pytest.raises(InputError, match="takes one step; got 2"):
        ph.simulate(ph.problem("heavy-top", spin=SPINS), step=[0.02, 0.01], until=0.2)


def test_pictures_of_a_batch(tmp_path: Path) -> None:
    family = tops()
    check_figure(family.plot())
    check_figure(family.plot.energy())
    check_figure(Plots(ph.load(family.save(tmp_path / "tops.nc")))())
    native = ph.simulate(
        ph.RigidBody((5, 5, 1)), None, ph.State.of(omega=np.eye(3)), step=0.1, steps=5
    )  # members of one run
    check_figure(native.plot())


def test_on_the_command_line(polhode: Any) -> None:
    code, out, err = polhode(
        "run", "heavy-top", "--set", "spin=1:50:3", "--step", "0.01", "--until", "0.2", "--out", "tops.zarr",
        "--plot", "tops.png",
    )  # fmt: skip
    assert code == 0, err
    assert "3 runs, imidm" in out
    assert "25.5" in out
    assert out.endswith("Written: tops.zarr\nWritten: tops.png\n")
    d = ph.load("tops.zarr")
    assert d.spin.values.tolist() == [1.0, 25.5, 50.0]
    code, out, err = polhode("run", "tops.zarr", "--out", "again.zarr", "--json")
    assert code == 0, err
    assert ph.load("again.zarr").attitude.values.tobytes() == d.attitude.values.tobytes()
    assert [record["parameters"]["spin"] for record in json.loads(out)] == [1.0, 25.5, 50.0]
    assert Path("tops.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("spin=1:2", "FROM:TO:COUNT"),
        ("spin=1:2:1", "2 to 100,000"),
        ("spin=1:2:1000000", "2 to 100,000"),
        ("spin=1:x:3", "x"),
        ("spin=1:2:3:4", "FROM:TO:COUNT"),
        ("inertia=1,2", "inertia"),
    ],
)
def test_bad_ranges(setting: str, words: str, polhode: Any) -> None:
    code, _, err = polhode("run", "heavy-top", "--set", setting)
    assert code == 2
    assert words in err


def test_a_batch_is_not_animated(polhode: Any) -> None:
    code, _, err = polhode("run", "heavy-top", "--set", "spin=1,2", "--plot", "tops.html")
    assert code == 2
    assert "drawn as curves" in err


# --- beside the examples ---------------------------------------------------------------------


def kicked(c: float) -> Any:
    """Its load has no value from t = c on."""
    push = ph.Torque(lambda t, c: jnp.where(t < c, 1.0, jnp.nan) * jnp.array([1.0, 0.5, 0.2]), c=c)
    return ph.RigidBody((1.0, 2.0, 2.5)), push, ph.State.of(omega=(1.0, 0.2, 0.3))


def test_samples_stand_at_their_own_times() -> None:
    """A member that ends between two samples has a last one of its own, which no other time is given."""
    with pytest.warns(UserWarning, match="1 of 2 members failed"):
        family = ph.simulate(ph.batch(kicked, c=[0.9, 100.0]), step=0.125, until=2.0, every=3)
    ended = family.runs[0].t[-1]
    assert ended not in family.t
    both = family["kinetic"][family.t < ended]
    assert both[:, 0].tolist() == both[:, 1].tolist()
    assert np.isnan(family["kinetic"][family.t > ended, 0]).all()


@pytest.mark.parametrize("name", ["t", "energy", "axis", "status", "member"])
def test_parameters_called_like_something_else(name: str, tmp_path: Path) -> None:
    family = ph.simulate(
        ph.batch(lambda **numbers: kicked(*numbers.values()), **{name: [50.0, 60.0]}), step=0.1, steps=3
    )
    assert family.dataset.energy.dims == ("t", f"parameter_{name}")
    assert ph.load(family.save(tmp_path / "x.nc"))[f"parameter_{name}"].values.tolist() == [50.0, 60.0]


def test_a_parameter_called_step_is_not_the_step() -> None:
    family = ph.simulate(ph.batch(lambda step: kicked(100 * step), step=[0.5, 0.25]), step=0.125, until=1.0)
    assert [run.step for run in family.runs] == [0.125, 0.125]


def test_times_that_members_do_not_share_are_refused() -> None:
    with pytest.raises(InputError, match="every member takes steps of its own; .* every_seconds="):
        ph.simulate(ph.batch(kicked, c=[50.0, 60.0]), tolerance=1e-3, until=1.0)
    family = ph.simulate(ph.batch(kicked, c=[50.0, 60.0]), tolerance=1e-3, until=1.0, every_seconds=0.5)
    assert family.t.tolist() == pytest.approx([0.0, 0.5, 1.0])
    assert np.isfinite(family["energy"]).all()


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: ph.batch(kicked, d=[1.0]), "the function of batch failed: TypeError"),
        (lambda: ph.batch(lambda c: (1, 2, 3, 4), c=[1.0]), r"\(body, load, start\); got "),
        (lambda: ph.batch(lambda c: pendulum(1.0) if c > 1 else kicked(c), c=[1.0, 2.0]), r"member \[1\] differs"),
        (lambda: ph.batch(lambda c: (*kicked(c)[:2], ph.State.of(omega=np.eye(3))), c=[1.0]), "a batch itself"),
        (lambda: ph.problem("free-body", omega=[[1, 0], [0, 1]]), r"3 numbers for every member; got .* \(2, 2\)"),
        (lambda: ph.simulate(ph.simulate(ph.batch(kicked, c=[9.0]), step=0.1, steps=2), until=3.0), "run by run"),
        (lambda: ph.batch(3, c=[1.0]), "batch needs a function"),
        (lambda: ph.batch(kicked), "batch needs parameters"),
    ],
)
def test_batches_that_cannot_be(made: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        made()


def test_what_a_batch_cannot_be_saved_to_is_said_before(polhode: Any) -> None:
    with pytest.raises(InputError, match=r"a batch does not fit into a \.csv; save it as \.zarr or \.nc"):
        tops(until=0.01, every=1).save("tops.csv")
    code, _, err = polhode("run", "heavy-top", "--set", "spin=10:30:3", "--out", "tops.csv")
    assert code == 2
    assert "does not fit into a .csv" in err
    code, _, err = polhode("run", "heavy-top", "--set", "inertia=1:3:3")
    assert code == 2
    assert "of which there is no range" in err


# --- systems whose numbers have leading axes ---------------------------------------------------


def hanging(length: Any, mass: Any = 1.0, g: Any = 9.81, moments: Any = (0.1, 0.1, 0.1)) -> Any:
    bob = mb.Body("bob", mass, moments, position=np.multiply.outer(length, [1.0, 0.0, 0.0]))
    weight = mb.Gravity(np.multiply.outer(g, [0.0, 0.0, -1.0]))
    hinge = mb.Revolute("ground", "bob", at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0), name="hinge")
    return mb.System([bob], forces=[weight], constraints=[hinge])


def test_a_system_with_leading_axes_is_a_batch() -> None:
    lengths, masses, weights = np.array([0.5, 1.0, 2.0]), np.array([1.0, 2.0, 3.0]), np.array([9.81, 9.81, 1.62])
    family = ph.simulate(hanging(lengths, masses, weights), step=0.01, until=0.2)
    assert isinstance(family, Family)
    assert family.dataset.position.dims == ("t", "member", "body", "axis")
    assert family.dataset["bob mass"].values.tolist() == masses.tolist()
    for i in range(3):
        same_bits(family, i, ph.simulate(hanging(lengths[i], masses[i], weights[i]), step=0.01, until=0.2))
    tensors = np.array([np.diag([0.1, 0.1, 0.1]), [[0.2, 0.01, 0.0], [0.01, 0.2, 0.0], [0.0, 0.0, 0.1]]])
    both: Any = hanging(1.0, moments=tensors)
    assert both.members.shape == (2,)
    assert both.members[1].system.inertias[0].tolist() == tensors[1].tolist()
    assert isinstance(hanging(1.0, moments=tensors[1]), mb.System)
    assert hanging(lengths[:, None], masses[:2]).members.shape == (3, 2)


def test_radii_anchors_and_springs() -> None:
    r = np.array([0.5, 1.0])
    coin = mb.Body("coin", 1.0, (0.25, 0.5, 0.25), position=np.multiply.outer(r, [0.0, 0.0, 1.0]),
                   velocity=np.multiply.outer(r, [2.0, 0.0, 0.0]), omega=(0.0, 2.0, 0.0))  # fmt: skip
    rolling: Any = mb.System([coin], constraints=[mb.RollingDisk("coin", radius=r)])
    assert [float(p.system.groups[0].radius[0]) for p in rolling.members] == [0.5, 1.0]
    at = np.array([[0.0, 0.0, 1.0], [0.0, 0.1, 1.0]])
    spring = mb.Spring("ground", "coin", stiffness=[3.0, 4.0], at_a=at)
    sprung: Any = mb.System([mb.Body("coin", 1.0, (1, 1, 1), attitude=ph.exp(np.eye(3)[:2]))], forces=[spring])
    assert [float(p.system.forces[0].stiffness) for p in sprung.members] == [3.0, 4.0]
    assert [p.system.forces[0].at_a.tolist() for p in sprung.members] == at.tolist()
    assert not np.allclose(sprung.members[0].system.start.quaternions, sprung.members[1].system.start.quaternions)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: hanging(np.ones(3), np.ones(2)), r"do not go together: .*mass \(2,\), bob: position \(3,\)"),
        (lambda: hanging(np.ones(2), np.array([1.0, -1.0])), "mass must be one positive number; got .*-1"),
        (
            lambda: hanging(1.0, moments=[[1.0, 1.0, 1.0], [1.0, 1.0, 9.0]]),
            r"body 'bob': no body has .* of member \[1\]",
        ),
        (lambda: hanging(np.ones(0)), "between 1 and"),
    ],
)
def test_systems_that_make_no_batch(made: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        made()


def test_several_steps_of_a_batch_are_refused() -> None:
    start = ph.State.of(omega=np.eye(3)[:2])
    for body in (ph.RigidBody((1.0, 2.0, 2.5)), ph.RigidBody([[1.0, 2.0, 2.5], [1.0, 2.0, 2.0]])):
        with pytest.raises(InputError, match="a batch itself"):
            ph.simulate(body, None, start, step=[0.02, 0.01], until=0.1)


def test_members_run_in_threads_with_the_bits_they_have_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as there are cores; not where the user's own functions are called on the way."""
    import threading

    from polhode import members

    monkeypatch.setattr(members, "cores", lambda: 3)
    where: set[str] = set()
    problems = ph.problem("pendulum", angle=[0.1, 0.2, 0.3, 0.4, 0.5])

    def simulate(problem: Any, **how: Any) -> Any:
        where.add(threading.current_thread().name)
        return ph.simulate(problem, **how)

    how: dict[str, Any] = {"step": 0.01, "steps": 20}
    family = members.family_of(simulate, problems, how, False)
    assert len(where) > 1
    assert "MainThread" in where  # the first, which compiles
    for k in (1, 4):
        alone = ph.simulate(problems.members[k], **how)
        np.testing.assert_array_equal(family.runs[k].energy, alone.energy)
        np.testing.assert_array_equal(family.runs[k].positions, alone.positions)
    where.clear()
    members.family_of(simulate, problems, how | {"on_sample": lambda run: None}, False)
    assert where == {"MainThread"}


def test_an_interrupt_stops_the_threads_of_a_family(monkeypatch: pytest.MonkeyPatch) -> None:
    from polhode import members

    monkeypatch.setattr(members, "cores", lambda: 2)
    problems = ph.problem("pendulum", angle=[0.1, 0.2, 0.3])

    def simulate(problem: Any, **how: Any) -> Any:
        if problem is problems.members[0]:
            return ph.simulate(problem, **(how | {"steps": 20}))
        if problem is problems.members[1]:
            signal.raise_signal(signal.SIGINT)  # noted in the main thread
        return ph.simulate(problem, **how)

    with pytest.raises(ph.Interrupted, match="interrupted in run") as stop:
        members.family_of(simulate, problems, {"step": 0.01, "steps": 10**8, "every": 10**6}, False)
    assert 1 <= len(stop.value.run.runs) < 3
