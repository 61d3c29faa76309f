"""Sweeps: their designs, their members, what a killed worker loses, and how they go on."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

import polhode as ph
from polhode.cli.sweep import over_of
from polhode.results.lock import Lock
from polhode.sweeps import workers
from polhode.sweeps.design import design_of
from polhode.sweeps.members import Source, stacked


def test_a_grid() -> None:
    made = design_of({"spin": [1, 2, 3], "method": ["imidm", "akw"]})
    assert (made.dims, made.shape) == (("spin", "method"), (3, 2))
    assert made.member(3) == {"spin": 2.0, "method": "akw"}
    assert made.coordinate("spin")[1].tolist() == [1.0, 2.0, 3.0]
    assert made.coordinate("method")[1].tolist() == ["imidm", "akw"]


def test_ranges_end_where_they_say() -> None:
    made = design_of(
        {"a": {"from": 0.1, "to": 0.7, "count": 4}, "b": {"from": 1e-3, "to": 10, "count": 5, "scale": "log"}}
    )
    assert made.coordinate("a")[1] == pytest.approx([0.1, 0.3, 0.5, 0.7], abs=1e-15)
    assert made.coordinate("a")[1][[0, -1]].tolist() == [0.1, 0.7]
    assert made.coordinate("b")[1] == pytest.approx([1e-3, 1e-2, 0.1, 1, 10])
    assert made.coordinate("b")[1][[0, -1]].tolist() == [1e-3, 10.0]


@pytest.mark.parametrize("kind", ["random", "sobol"])
def test_points_are_drawn(kind: str) -> None:
    over = {"a": {"from": 2.0, "to": 3.0}, "b": {"from": 1e-6, "to": 1.0, "scale": "log"}, "method": ["x", "y"]}
    made, again, other = (design_of(over, kind, 100, seed) for seed in (1, 1, 2))
    assert made.values == again.values
    assert made.values["a"] != other.values["a"]
    a, b = (np.array(made.values[name]) for name in "ab")
    assert 2 <= a.min() < 2.1 < 2.9 < a.max() <= 3
    assert abs(a.mean() - 2.5) < (0.02 if kind == "sobol" else 0.1)  # Sobol's are even
    assert (b < 1e-3).sum() == pytest.approx(50, abs=3 if kind == "sobol" else 15)
    assert set(made.values["method"]) == {"x", "y"}
    assert (made.dims, made.shape) == (("member",), (100,))


WRONG: list[tuple[Any, ...]] = [
    ({}, "grid", None, "names with lists or ranges"),
    ({"a": []}, "grid", None, "the list is empty"),
    ({"a": [float("nan")]}, "grid", None, "a\\[0\\] must be finite"),
    ({"a": 3}, "grid", None, "is swept over a list"),
    ({"a": {"from": 1, "to": 2}}, "grid", None, "from, to and count"),
    ({"a": {"from": 1, "to": 2, "count": 3}}, "random", 4, "from and to"),
    ({"a": {"from": 1, "to": 2, "cuont": 3}}, "grid", None, "did you mean 'count'"),
    ({"a": {"from": -1, "to": 2, "count": 3, "scale": "log"}}, "grid", None, "between positive numbers"),
    ({"a": [1, 2], "b": [1]}, "list", None, "as many values; got a 2, b 1"),
    ({"a": [1]}, "gird", None, "did you mean 'grid'"),
    ({"a": [1]}, "sobol", None, "how many"),
    ({"a": [1]}, "grid", 4, "no members"),
    ({"a": {"from": 0, "to": 1, "count": 10**7}}, "grid", None, "between 1 and 100,000 members"),
    ({"method": [1]}, "grid", None, "names; got 1"),
]


@pytest.mark.parametrize(("over", "kind", "members", "words"), WRONG)
def test_wrong_designs_are_refused(over: Any, kind: str, members: Any, words: str) -> None:
    with pytest.raises(ph.InputError, match=words):
        design_of(over, kind, members)


def test_over_on_the_command_line() -> None:
    assert over_of(["a=1,2", "b=0:1:5", "c=0:1", "method=imidm, akw"]) == {
        "a": [1.0, 2.0],
        "b": {"from": 0.0, "to": 1.0, "count": 5},
        "c": {"from": 0.0, "to": 1.0},
        "method": ["imidm", "akw"],
    }
    for wrong in (["a"], ["a=1", "a=2"], ["a=0:1:x"], ["a=0:1:2:3"], ["a=__import__('os')"]):
        with pytest.raises(ph.InputError, match="--over"):
            over_of(wrong)


def test_what_leads_nowhere_is_named() -> None:
    content = {"body": {"inertia": [1, 2, 3]}, "start": {"omega": [0, 1, 2]}, "run": {"step": 0.1, "until": 1.0}}
    problem, how = Source("x", content).member({"start.omega.2": 5.0, "body.inertia.0": 1.5})
    assert [float(x) for x in problem.start.turning] == [0, 1, 5]
    assert (how["step"], how["until"], how["method"].name) == (0.1, 1.0, "imidm")
    for name in ("start.omega.3", "start.omega", "body", "nothing", "start.omega.x", "body.mass"):
        with pytest.raises(ph.InputError):
            Source("x", content).member({name: 5.0})


def test_members_of_one_body_are_a_batch() -> None:
    tops = [Source("heavy-top", {"problem": "heavy-top"}).member({"spin": spin})[0] for spin in (10.0, 20.0)]
    batch = stacked(tops)
    assert batch is not None
    runs = [ph.simulate(p, step=0.001, steps=20, method="imidm") for p in (batch, *tops)]
    for k, alone in enumerate(runs[1:]):
        np.testing.assert_allclose(runs[0]["momentum"][:, k], alone["momentum"], rtol=0, atol=1e-13)
    assert stacked([tops[0], Source("free-body", {"problem": "free-body"}).member({})[0]]) is None
    assert stacked([Source("bicycle", {"problem": "bicycle"}).member({})[0]] * 2) is None


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups are run in this process, one after the other."""

    def run_all(groups: Any, done: Any, scheduler: Any = None, workers: Any = None) -> None:
        for group in groups:
            done(group, group.run())

    monkeypatch.setattr("polhode.sweeps.sweeping.run_all", run_all)


SWEEP = """
problem = "heavy-top"
[run]
method = "imidm"
step = 0.001
until = 0.02
every = 5
[sweep]
design = "grid"
[sweep.over]
spin = { from = 10, to = 30, count = 3 }
tilt = [0.1, 0.2]
"""


@pytest.mark.usefixtures("at_once")
def test_a_file(here: Path) -> None:
    Path("tops.toml").write_text(SWEEP)
    made = ph.sweep("tops.toml")
    assert made.ok
    data = made.dataset
    assert data["energy"].dims == ("t", "spin", "tilt")
    assert data.spin.values.tolist() == [10.0, 20.0, 30.0]
    assert data.sizes["t"] == 5
    alone = ph.simulate(ph.problem("heavy-top", spin=20.0, tilt=0.2), method="imidm", step=0.001, until=0.02, every=5)
    found = data.sel(spin=20.0, tilt=0.2)
    np.testing.assert_allclose(found.momentum, alone["momentum"], rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.t, alone.t)
    assert sorted(p.name for p in here.iterdir()) == ["tops.toml", "tops.zarr"]
    with pytest.raises(ph.InputError, match=r"tops.zarr' exists; to replace it: --force"):
        ph.sweep("tops.toml")
    assert made.plot.energy() is not None


@pytest.mark.usefixtures("at_once", "here")
def test_members_that_fail_are_listed_and_run_again() -> None:
    """With steps that are far too long; the others go on."""
    over = {"step": [0.001, 5.0]}
    how: dict[str, Any] = {"method": "imidm", "until": 10.0, "every_seconds": 5.0, "out": "steps.zarr"}
    with pytest.warns(UserWarning, match="1 of 2 members failed"):
        made = ph.sweep("heavy-top", over, **how)
    assert list(made.failed) == [1]
    assert "not solved" in made.failed[1]
    assert made.dataset.status.values.tolist() == ["OK", "NOT_CONVERGED"]
    assert np.isfinite(made.dataset.energy.sel(parameter_step=0.001)).all()
    assert Path("steps.zarr.members").is_dir()
    with pytest.warns(UserWarning, match="1 of 2 members failed"):
        again = ph.sweep("heavy-top", over, **how, rerun=True)
    assert list(again.failed) == [1]
    assert len(json.loads(Path("steps.zarr.members/sweep.json").read_text())["groups"]) == 3
    with pytest.raises(ph.InputError, match=r"holds another sweep \(it differs in: over\)"):
        ph.sweep("heavy-top", {"step": [0.001, 0.002]}, **how)
    with pytest.raises(ph.InputError, match="a sweep is of one problem"):
        ph.sweep("heavy-top", {"spin": [1.0, 2.0], "tilt": [[0.0, 1.0]]}, until=0.01, out="wrong.zarr")


@pytest.mark.usefixtures("at_once", "here")
def test_a_sweep_that_was_cut_short_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from polhode.sweeps.group import Group

    really, count = Group.run, [0]

    def run(self: Group) -> Any:
        count[0] += 1
        if count[0] == 3:
            raise KeyboardInterrupt
        return really(self)

    how: dict[str, Any] = {"method": "imidm", "step": 0.001, "until": 0.02, "workers": 1}
    over = {"spin": [10.0, 20.0, 30.0, 40.0]}
    monkeypatch.setattr(Group, "run", run)
    with pytest.raises(KeyboardInterrupt):
        ph.sweep("heavy-top", over, out="cut.zarr", **how)
    assert not Path("cut.zarr").exists()
    made = ph.sweep("heavy-top", over, out="cut.zarr", **how)
    assert count[0] == 5  # two, the one that was cut, two
    whole = ph.sweep("heavy-top", over, out="whole.zarr", **how)
    assert made.dataset.identical(whole.dataset.assign_attrs(made.dataset.attrs))


@pytest.mark.usefixtures("here")
def test_what_is_wrong_is_said_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_WAIT", "0.2s")
    over = {"spin": [1.0, 2.0]}
    cases: list[tuple[str, Any, dict[str, Any]]] = [
        ("did you mean 'heavy-top'", "heavy-tpo", {"out": "x.zarr"}),
        ("give out=", "heavy-top", {}),
        ("written to .zarr", "heavy-top", {"out": "x.nc"}),
        ("no parameter 'sipn'", "heavy-top", {"out": "x.zarr", "over": {"sipn": [1.0]}}),
        ("unknown method", "heavy-top", {"out": "x.zarr", "over": {"method": ["imdim"]}}),
        ("every_seconds= or times=", "heavy-top", {"out": "x.zarr", "over": {"step": [0.1, 0.2]}}),
        ("a problem's name, an input file, or a function", 3, {"out": "x.zarr"}),
        ("no Dask scheduler at 'tcp://127.0.0.1:9'", "heavy-top", {"out": "y.zarr", "scheduler": "tcp://127.0.0.1:9"}),
    ]
    for words, what, how in cases:
        how = {"over": over, "until": 1.0, **how}
        with pytest.raises(ph.InputError, match=words):
            ph.sweep(what, how.pop("over"), **how)
        assert list(Path().iterdir()) == []


def _make(length: float) -> Any:
    body = ph.RigidBody((length, 2.0, 3.0), allow_unphysical=True)
    return body, None, ph.State.of(omega=(0.1, 2.0, 0.1))


@pytest.mark.slow
@pytest.mark.optimised  # as the programs of workers are
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("kills", [1, pytest.param(2, marks=pytest.mark.long)])
def test_workers_that_are_killed_lose_nothing(kills: int) -> None:
    """On real processes, of which one is killed as soon as it has begun to write, and another a little later."""
    how: dict[str, Any] = {"step": 0.01, "steps": 1_500_000, "every": 15_000, "method": "dmv", "workers": 2}
    over = {"length": [1.0, 1.5, 2.0]}
    killed: list[int] = []

    def kill() -> None:
        folder = Path("killed.zarr.members")
        while len(killed) < kills:
            time.sleep(0.05)
            begun = list(folder.glob("group-*.zarr")) if folder.exists() else []
            workers = [p for p in psutil.Process().children(recursive=True) if "spawn_main" in " ".join(p.cmdline())]
            if len(begun) > len(killed) and workers:
                victim = max(workers, key=lambda p: sum(p.cpu_times()[:2]))
                os.kill(victim.pid, signal.SIGKILL)
                killed.append(victim.pid)
                time.sleep(1.0)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    made = ph.sweep(_make, over, out="killed.zarr", **how)
    thread.join(1.0)
    assert killed
    assert made.ok
    for k, length in enumerate(over["length"]):
        alone = ph.simulate(*_make(length), **{key: how[key] for key in ("step", "steps", "every", "method")})
        assert np.array_equal(made.dataset["momentum"].isel(length=k), alone["momentum"])


def test_as_many_workers_as_cores() -> None:
    assert 1 <= workers.cores() <= (os.cpu_count() or 1)


@pytest.mark.usefixtures("at_once")
def test_the_command_line(polhode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given = ["sweep", "heavy-top", "--over", "spin=10:30:3", "--until", "0.02", "--every", "5", "--out", "tops.zarr"]
    code, out, _ = polhode(*given)
    assert code == 0
    assert "heavy-top: 3 members" in out
    assert "Written: tops.zarr" in out
    code, out, err = polhode(*given)
    assert code == 2
    assert "--force" in err
    code, out, _ = polhode(*given, "--force", "--json")
    assert code == 0
    assert [m["parameters"] for m in json.loads(out)["members"]] == [{"spin": 10.0}, {"spin": 20.0}, {"spin": 30.0}]
    assert polhode("sweep", "heavy-top", "--out", "x.zarr")[0] == 2
    assert polhode("sweep", "heavy-top", "--over", "spin=1,nan", "--out", "x.zarr")[0] == 2

    def cut(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("polhode.sweeps.sweeping.run_all", cut)
    code, _, err = polhode(*given, "--force")
    assert (code, "the same command goes on" in err) == (130, True)
    code, out, _ = polhode("status", "tops.zarr", "--json")
    assert json.loads(out) == {"path": "tops.zarr", "members": 3, "ended": 0, "failed": 0, "running": False}
    assert "a sweep of 3 members, not running" in polhode("status", "tops.zarr")[1]


def _refuses_two(spin: float) -> Any:
    if spin == 2.0:
        raise ZeroDivisionError("no two")
    return ph.problem("heavy-top", spin=spin)


@pytest.mark.usefixtures("at_once", "here")
def test_one_member_takes_no_other_along() -> None:
    how: dict[str, Any] = {"method": "imidm", "step": 0.001, "until": 0.01, "workers": 1, "out": "x.zarr"}
    with pytest.warns(UserWarning, match="1 of 8 members failed"):
        made = ph.sweep(_refuses_two, {"spin": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]}, **how)
    assert made.failed == {1: "the function of the sweep failed: ZeroDivisionError: no two"}


class _Fast:
    def __init__(self, share: float) -> None:
        self.share = share

    def __call__(self, spin: float) -> Any:
        return _refuses_two(self.share * spin)


def _fast(spin: float, share: float) -> Any:
    return _refuses_two(share * spin)


def _closure(share: float) -> Any:
    return lambda spin: _refuses_two(share * spin)


@pytest.mark.usefixtures("at_once", "here")
@pytest.mark.parametrize("make", [_Fast, _closure, lambda share: partial(_fast, share=share)])
def test_another_function_is_another_sweep(make: Any) -> None:
    how: dict[str, Any] = {"method": "imidm", "step": 0.001, "until": 0.01, "workers": 1, "out": "x.zarr"}
    with pytest.warns(UserWarning, match="1 of 3 members failed"):
        ph.sweep(make(1.0), {"spin": [1.0, 2.0, 5.0]}, **how)
    with pytest.warns(UserWarning, match="1 of 3 members failed"):  # the same
        ph.sweep(make(1.0), {"spin": [1.0, 2.0, 5.0]}, **how)
    with pytest.raises(ph.InputError, match=r"another sweep \(it differs in: what its function or method computes"):
        ph.sweep(make(3.0), {"spin": [1.0, 2.0, 5.0]}, **how)


@pytest.mark.usefixtures("at_once", "here")
def test_what_came_there_meanwhile_is_not_replaced() -> None:
    how: dict[str, Any] = {"method": "imidm", "step": 0.001, "until": 0.01, "workers": 1, "out": "x.zarr"}
    over = {"spin": [1.0, 2.0, 5.0]}
    with pytest.warns(UserWarning, match="1 of 3 members failed"):
        own = ph.sweep(_refuses_two, over, **how).dataset
    another = ph.problem("heavy-top")
    ph.simulate(another, **{key: how[key] for key in ("method", "step", "until", "out")}, force=True)
    with pytest.raises(ph.InputError, match="put there by something else since this sweep was begun"):
        ph.sweep(_refuses_two, over, **how)
    assert "failures" not in ph.load("x.zarr").attrs
    shutil.rmtree("x.zarr")
    with pytest.warns(UserWarning, match="1 of 3 members failed"):
        assert ph.sweep(_refuses_two, over, **how).dataset.equals(own)


@pytest.mark.usefixtures("at_once", "here")
def test_a_full_disk_is_no_failure_of_members(monkeypatch: pytest.MonkeyPatch) -> None:
    how: dict[str, Any] = {"method": "imidm", "step": 0.001, "until": 0.01, "workers": 1, "out": "x.zarr"}

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr("polhode.writing.planted", full)
        with pytest.raises(OSError, match="no room for the members .* the same command goes on"):
            ph.sweep("heavy-top", {"spin": [1.0, 2.0]}, **how)
        patched.undo()
        patched.setattr("polhode.results.store.workspace", full)  # where a folder is looked at
        with pytest.raises((OSError, ph.InputError), match="No space left"):
            ph.sweep("heavy-top", {"spin": [1.0, 2.0]}, **how)
    assert ph.sweep("heavy-top", {"spin": [1.0, 2.0]}, **how).ok


def _from(t0: float) -> Any:
    return replace(ph.problem("heavy-top"), t0=t0)


def _stops_at(end: float) -> Any:
    seen = ph.Event(lambda t, R, omega: t - end, stop=True, name="there")
    return replace(ph.problem("heavy-top"), events=(seen,))


@pytest.mark.usefixtures("at_once", "here")
def test_members_of_other_times_are_kept_apart() -> None:
    how: dict[str, Any] = {"method": "imidm", "step": 0.001, "until": 0.01, "workers": 1, "every": 5}
    with pytest.raises(ph.InputError, match=r"begins at t = 0 s, the last at 0.002: give times="):
        ph.sweep(_from, {"t0": [0.0, 0.002]}, out="x.zarr", **how)
    with pytest.raises(ph.InputError, match=r"member 1 has samples at times of its own \(t = 0.002 s"):
        ph.sweep(_from, {"t0": [0.0, 0.002, 0.0]}, out="x.zarr", **how)
    assert len(list(Path("x.zarr.members").glob("*.zarr"))) == 3


@pytest.mark.usefixtures("at_once", "here")
def test_where_events_stop_members_is_in_the_result() -> None:
    how: dict[str, Any] = {"method": "imidm", "step": 0.001, "until": 0.01, "workers": 1, "every": 5}
    made = ph.sweep(_stops_at, {"end": [0.0062, 0.02]}, out="x.zarr", **how)
    assert made.ok
    assert not Path("x.zarr.members").exists()
    alone = ph.simulate(_stops_at(0.0062), **{k: how[k] for k in ("method", "step", "until", "every")})
    data = made.dataset
    assert data.event_name.values.tolist() == [["there"], [""]]
    assert data.event_time.values[0] == pytest.approx([0.0062])
    assert data.end_time.values == pytest.approx([0.0062, 0.01])
    assert data.last_momentum.values[0].tolist() == alone["momentum"][-1].tolist()
    assert data.last_momentum.values[1].tolist() == data.momentum.values[-1, 1].tolist()
    assert np.isfinite(data.energy.values).tolist() == [[True, True], [True, True], [False, True]]


@pytest.mark.usefixtures("at_once", "here")
def test_what_is_there_is_not_replaced_by_another() -> None:
    ph.simulate(ph.problem("heavy-top"), method="imidm", step=0.001, until=0.01, out="x.zarr")
    Path("x.zarr.members").mkdir()
    how: dict[str, Any] = {"method": "imidm", "step": 0.001, "until": 0.01, "out": "x.zarr"}
    with pytest.raises(ph.InputError, match="exists; to replace it"):
        ph.sweep("heavy-top", {"spin": [1.0, 2.0]}, **how)
    with Lock(Path("x.zarr.members") / "lock", ""), pytest.raises(ph.InputError, match="another process is running"):
        ph.sweep("heavy-top", {"spin": [1.0, 2.0]}, **how, force=True)
    with pytest.raises(ph.InputError, match="same bodies, rows and observables"):
        ph.sweep("chain", {"bodies": [2, 3]}, until=0.05, out="y.zarr")
    with pytest.raises(ph.InputError, match="must be numbers") as caught:
        design_of({"m" * 5000: ["x"]})
    assert len(str(caught.value)) < 500
    with pytest.raises(ph.InputError, match="different shapes"):
        design_of({"inertia": [[1, 1, 1], [1, 2]]})
