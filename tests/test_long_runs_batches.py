"""Batches of problems, and problems asked for again, that are written as they go: what was cut short goes on."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_long_runs import files, often, same, stop_after

import polhode as ph
from polhode import kept, writing
from polhode.kept import folder_of
from polhode.model import InputError
from polhode.results import quiet
from polhode.results.store import SaveError
from polhode.simulation import walk

__all__ = ["often"]  # a fixture: small parts, and a commit after every block

HOW: dict[str, Any] = {"method": "dmv", "step": 0.01, "steps": 2000, "every": 7}
START = ph.State.of(omega=(1.0, 0.0, 0.1))
CUT = """
import json, sys
import polhode as ph
from polhode.results import growing, tree
tree.settled = lambda paths: None
growing.SECONDS = growing._COST = 0.0
tree.NUMBERS = 2**11
commit, told = tree.Tree.commit, json.loads(sys.argv[1])
def reporting(self, *about):
    commit(self, *about)
    print(".", end="", flush=True)
tree.Tree.commit = reporting
ph.simulate(ph.problem("heavy-top", **told["given"]), **told["how"], out=told["out"])
"""


def batch() -> Any:
    return ph.problem("free-body", inertia=[(1.0, 1.6, 2.2), (1.0, 1.5, 2.0), (1.0, 1.3, 1.9), (1.0, 1.7, 2.5)])


def alike(path: Path, memory: Any) -> None:
    """To the last bit, with all that is said of them."""
    read, made = ph.load(path), memory.dataset
    for name in made.variables:
        np.testing.assert_array_equal(made[name], read[name], err_msg=str(name))
    assert {k: v for k, v in read.attrs.items() if k not in ("seconds", "format")} == {
        k: v for k, v in made.attrs.items() if k not in ("seconds", "format")
    }


@pytest.mark.parametrize("cut", [1, *(pytest.param(cut, marks=pytest.mark.long) for cut in (0, 3))])
def test_a_batch_that_was_cut_short_goes_on(cut: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many members, in the middle of the next: in the end there is what a batch in memory has."""
    memory, path = ph.simulate(batch(), **HOW), tmp_path / "batch.zarr"
    begun, really = iter(range(cut)), kept.writing_of

    def breaking(*given: Any) -> Any:
        made = really(*given)
        return made if next(begun, None) is not None else writing.replace(made, on_sample=stop_after(2))

    with monkeypatch.context() as patch:
        patch.setattr(kept, "writing_of", breaking)
        patch.setattr("polhode.members.cores", lambda: 1)
        with pytest.raises(SystemExit):
            ph.simulate(batch(), **HOW, out=path)
    assert not path.exists()
    assert len(list(folder_of(path).glob("member-*.zarr"))) == cut + 1
    taken, go = [], walk.Walk.go

    def going(self: Any, *given: Any) -> None:
        taken.append(self.done)
        go(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(walk.Walk, "go", going)
        family = ph.simulate(batch(), **HOW, out=path)
    assert len(taken) == 4 - cut  # those that had ended are read
    assert max(taken) > 0  # and one went on
    assert not folder_of(path).exists()
    alike(path, memory)
    assert family.path == path
    assert family.summary()[1]["energy"] == memory.summary()[1]["energy"]
    longer = ph.simulate(family.runs[0], steps=100)
    np.testing.assert_array_equal(longer["momentum"], ph.simulate(memory.runs[0], steps=100)["momentum"])


@pytest.mark.optimised  # as what that process has written is
def test_a_process_that_is_killed(tmp_path: Path, polhode: Any) -> None:
    """On the command line, with all cores; `status` knows of it, and the same command goes on."""
    given, how = {"spin": [20.0, 30.0, 40.0]}, {"method": "strang-dmv", "step": 0.001, "until": 20.0, "every": 7}
    told = json.dumps({"given": given, "how": how, "out": str(tmp_path / "x.zarr")})
    child = subprocess.Popen([sys.executable, "-c", CUT, told], stdout=subprocess.PIPE, env=dict(os.environ))
    assert child.stdout is not None
    child.stdout.read(40)  # commits
    running = json.loads(polhode("status", str(tmp_path / "x.zarr"), "--json")[1])
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert (running["members"], running["running"]) == (3, True)
    code, out, _ = polhode("status", str(tmp_path / "x.zarr"))
    assert code == 0
    assert "a batch of 3 members, not running; the same command goes on" in " ".join(out.split())
    settings = ("--set", "spin=20,30,40", "--method", "strang-dmv", "--until", "20", "--every", "7")
    again = ("run", "heavy-top", *settings, "--out")
    code, _, err = polhode(*again, str(tmp_path / "x.zarr"))
    assert code == 0, err
    alike(tmp_path / "x.zarr", ph.simulate(ph.problem("heavy-top", **given), **how))
    assert {p.name for p in tmp_path.iterdir()} == {"x.zarr"}
    code, _, err = polhode(*again, str(tmp_path / "x.zarr"))
    assert (code, "--force replaces it" in err) == (2, True)


def test_another_batch_is_not_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "batch.zarr"

    def stop(*_: Any) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(kept.Family, "save", stop)
        with pytest.raises(SystemExit):
            ph.simulate(batch(), **HOW, out=path)
    with pytest.raises(InputError, match="another problem, method or step"):
        ph.simulate(batch(), **HOW | {"step": 0.02}, out=path)
    for other in ({"steps": 2001}, {"every": 8}, {"stop_if": "t > 1"}, {"sentinels": False}):
        with pytest.raises(InputError, match="of the same problem to another end, or with other samples"):
            ph.simulate(batch(), **HOW | other, out=path)
    with kept.Lock(folder_of(path) / kept.LOCK, "held"), pytest.raises(InputError, match="another process is running"):
        ph.simulate(batch(), **HOW, out=path)
    ph.simulate(batch(), **HOW | {"steps": 500}, out=path, force=True)
    assert ph.load(path).attrs["steps"] == 500
    with pytest.raises(InputError, match="exists; to replace it"):
        ph.simulate(batch(), **HOW, out=path)


def test_what_is_no_batch_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "batch.zarr"
    folder_of(path).mkdir()
    (folder_of(path) / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match=r"holds 'thesis.tex' of something else"):
        ph.simulate(batch(), **HOW, out=path)
    with pytest.raises(InputError, match=r"holds 'thesis.tex' of something else"):
        ph.sweep("free-body", {"inertia": [(1.0, 1.6, 2.2)]}, out=path, step=0.01, steps=10, force=True)
    assert (folder_of(path) / "thesis.tex").read_text() == "years of work"
    with pytest.raises(InputError, match=r"to \.zarr"):
        ph.simulate(batch(), **HOW, out=tmp_path / "batch.nc")
    with pytest.raises(InputError, match="with a tolerance"):
        ph.simulate(batch(), tolerance=1e-3, method="dmv", until=1.0, times=[1.0], out=path)


def test_a_member_that_failed_fails_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its samples up to there, and the reason."""

    def falling(least: float) -> Any:
        return ph.RigidBody((5, 5, 1)), ph.Potential(lambda R: 20 * (R[2, 2] - least) ** 0.5), START

    problems = ph.batch(falling, least=[-2.0, 0.9])
    how: dict[str, Any] = {"method": "rig_neg", "step": 1e-3, "steps": 1000, "every": 7}
    with pytest.warns(UserWarning, match="1 of 2 members failed"):
        memory = ph.simulate(problems, **how)

    def full(*_: Any) -> None:
        raise SaveError("full")

    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(kept.Family, "save", full)
        with pytest.raises(SaveError):
            ph.simulate(problems, **how, out=tmp_path / "x.zarr")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        family = ph.simulate(problems, **how, out=tmp_path / "x.zarr")
    assert not any("run again" in str(w.message) for w in told)
    assert family.reasons == memory.reasons
    alike(tmp_path / "x.zarr", memory)


def test_asked_again_a_run_goes_on(tmp_path: Path) -> None:
    """`resume=True`: the script that was killed is started again as it is."""
    one, path = ph.problem("free-body"), tmp_path / "run.zarr"
    ph.simulate(one, **HOW, out=tmp_path / "whole.zarr", resume=True)
    with pytest.raises(SystemExit):
        ph.simulate(one, **HOW, out=path, resume=True, on_sample=stop_after(2))
    for _ in range(2):  # and once more when it has ended
        run = ph.simulate(one, **HOW, out=path, resume=True)
        same(path, tmp_path / "whole.zarr")
        memory = ph.simulate(one, **HOW)
        assert run.summary() | {"seconds": 0} == memory.summary() | {"seconds": 0}
    shutil.rmtree(path)
    for _ in range(2):
        run = ph.simulate(one, **HOW, out=path, resume=True, stop_if="t > 7")
        assert run.why.startswith("stopped at t = ")
        assert run.trajectory.status.name == "STOPPED"
    (path / "energy/c/0").write_bytes(b"")
    with pytest.warns(UserWarning, match="is cut short; the run goes on before that"):
        ph.simulate(one, **HOW, out=path, resume=True, stop_if="t > 7")
    assert ph.load(path).t[-1] > 7


def test_interrupted_before_its_first_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while it compiles: its first sample is there, once."""
    whole, path = tmp_path / "whole.zarr", tmp_path / "run.zarr"
    ph.simulate(ph.problem("free-body"), **HOW, out=whole)

    def interrupt(self: Any, program: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(walk.Walk, "_next", interrupt)
        with pytest.raises(KeyboardInterrupt):
            ph.simulate(ph.problem("free-body"), **HOW, out=path)
    assert files(path)
    ph.resume(path)
    same(path, whole)


def test_threads_leave_filters_of_warnings_as_they_were() -> None:
    from concurrent.futures import ThreadPoolExecutor

    def hush(i: int) -> None:
        with quiet.quietly():
            time.sleep(0.002 * (i % 3))

    before = list(warnings.filters)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(hush, range(40)))
    assert list(warnings.filters) == before


def test_a_member_with_more_in_its_state_than_is_read_does_not_go_on(tmp_path: Path) -> None:
    family = ph.simulate(batch(), **HOW | {"method": "em", "steps": 50}, out=tmp_path / "batch.zarr")
    with pytest.raises(InputError, match="em keeps more in a state than was read"):
        ph.simulate(family.runs[0], steps=10)
