"""Runs that are written as they go: killed at any instant they go on with the same bits, and nothing is lost."""

import errno
import filecmp
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import polhode as ph
from polhode import writing
from polhode.model import InputError
from polhode.results import growing, tree
from polhode.results.clock import NAME as CLOCK
from polhode.results.durable import settled
from polhode.results.store import SaveError
from polhode.results.tree import Tree
from polhode.simulation import rungs

STEP, UNTIL = 0.01, 60.0


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small parts, and a commit after every block; waiting for the disk is for power cuts, not for kills."""
    monkeypatch.setattr(tree, "settled", lambda paths: None)
    monkeypatch.setattr(growing, "SECONDS", 0.0)
    monkeypatch.setattr(growing, "_COST", 0)
    monkeypatch.setattr(tree, "NUMBERS", 2**11)


def body(**more: Any) -> Any:
    how = {"method": "dmv", "step": STEP, "until": UNTIL, "every": 7, **more}
    return ph.simulate(ph.problem("free-body"), **how)


def files(path: Path) -> list[str]:
    return sorted(str(p.relative_to(path)) for p in path.rglob("*") if p.is_file() and p.name != CLOCK)


def same(one: Path, other: Path) -> None:
    """Every file, byte by byte, but for the clock."""
    assert files(one) == files(other)
    _, differ, odd = filecmp.cmpfiles(one, other, files(one), shallow=False)
    assert not differ
    assert not odd


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was never interrupted."""
    path = tmp_path_factory.mktemp("whole") / "run.zarr"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree, "NUMBERS", 2**11)
        body(out=path)
    return path


def stop_after(count: int) -> Callable[[Any], Any]:
    """A process that ends in the middle of a run: what it had not committed is gone."""
    blocks = iter(range(count))

    def on_sample(run: Any) -> None:
        if next(blocks, None) is None:
            raise SystemExit

    return on_sample


def test_what_is_written_is_what_a_run_in_memory_has(whole: Path) -> None:
    run, read = body(), ph.load(whole)
    for name in run.dataset.variables:
        np.testing.assert_array_equal(run.dataset[name], read[name], err_msg=str(name))
    ours = {"format", "seconds", "energy_drift"}
    for name, value in run.dataset.attrs.items():
        assert name in ours or read.attrs[name] == value, name
    assert read.attrs["energy_drift"] == run.drift("energy")


def killed(path: Path, problem: str, how: dict[str, Any], kills: int, seed: int = 1) -> int:
    """How often a process was killed at work on this run, until it had come to its end."""
    told = {"problem": problem, "how": how, "path": str(path), "kills": kills, "seed": seed}
    told["briefly"] = rungs.run_block._options["briefly"]  # of the test that asks
    script = Path(__file__).parent / "killed.py"
    env = {**os.environ, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, script, json.dumps(told)], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_ten_kills(whole: Path, tmp_path: Path) -> None:
    """Of processes at work, at random instants; the last bit of every file is that of a run never interrupted."""
    count = 0
    for seed in range(5):
        if count >= 10:
            break
        path = tmp_path / f"{seed}.zarr"
        how = {"method": "dmv", "step": STEP, "until": UNTIL, "every": 7}
        count += killed(path, "free-body", how, 10 - count, seed)
        same(path, whole)
    assert count >= 10


@pytest.mark.parametrize("blocks", [0, 1, 3, 4, 9])
def test_a_run_cut_short_goes_on_with_the_same_bits(blocks: int, whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.zarr"
    with pytest.raises(SystemExit):
        body(out=path, on_sample=stop_after(blocks))
    run = ph.resume(path)
    assert run.ok
    same(path, whole)


def test_extended_it_is_the_longer_run(whole: Path, tmp_path: Path) -> None:
    """Its last sample, which was there only for being the last, is none of the longer run."""
    path = tmp_path / "run.zarr"
    run = body(out=path, until=17.33)
    assert run.t[-1] == pytest.approx(17.33)
    with pytest.raises(InputError, match="has come to its end, step 1733; to go on, give a later --until"):
        ph.resume(path)
    with pytest.raises(InputError, match="stands at t = 17.33 already"):
        ph.resume(path, until=17.0)
    ph.resume(path, until=31.0)
    ph.resume(path, until=UNTIL)
    same(path, whole)


def test_interrupted_it_goes_on(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.zarr"

    def interrupt(run: Any) -> None:
        if run.trajectory.steps[-1] > 2000:
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(ph.Interrupted) as stop:
            body(out=path, on_sample=interrupt)
    finally:
        signal.signal(signal.SIGINT, before)
    stood = ph.load(path)
    assert 2000 < stood.step_count[-1] < 6000
    assert stood.attrs["status"] == "INTERRUPTED"
    assert stop.value.run.steps >= stood.step_count[-1]
    ph.resume(path)
    same(path, whole)


def half(path: Path) -> None:
    with pytest.raises(SystemExit):
        body(out=path, on_sample=stop_after(8))


def damaged(path: Path, seed: int = 0) -> None:
    """One bit."""
    data = bytearray(path.read_bytes())
    data[random.Random(seed).randrange(len(data))] ^= 16
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (lambda path: damaged(path / "energy/c/1"), "part 1 of 'energy' is not what was written"),
        (lambda path: os.truncate(path / "attitude/c/2/0", 40), "part 2 of 'attitude' is cut short"),
        (lambda path: (path / "t/c/0").unlink(), "part 0 of 't' is missing"),
        (lambda path: (path / "t/c/1").write_bytes((path / "t/c/0").read_bytes()), "is not the one that was written"),
        (lambda path: damaged(path / ".polhode" / Tree(path).attributes["checkpoint"]), "the mark of where it stands"),
        (lambda path: damaged(path / ".polhode" / "c2"), r"the mark of where it stands .*c2: its checksum differs"),
    ],
)
def test_what_is_torn_is_noticed_and_made_again(
    harm: Callable[[Path], Any], says: str, whole: Path, tmp_path: Path
) -> None:
    """A part altered, cut, missing, or another's; or the mark: the run goes on before it, and ends as it should."""
    path = tmp_path / "run.zarr"
    half(path)
    assert Tree(path).samples > 3 * Tree(path).rows
    harm(path)
    if "mark" not in says:
        with pytest.raises(InputError, match="cannot be read as a trajectory"):
            ph.load(path)
    with pytest.warns(UserWarning, match=says):
        ph.resume(path)
    same(path, whole)


def test_no_flipped_bit_changes_what_is_read(whole: Path, tmp_path: Path) -> None:
    """Of any file but the clock and marks; arrays' own zarr.json are not read."""
    path = tmp_path / "run.zarr"
    saved = ph.load(whole)
    subprocess.run(["cp", "-r", whole, path], check=True)
    chance, noticed = random.Random(1), 0
    for seed in range(60):
        victim = path / chance.choice([f for f in files(path) if (path / f).stat().st_size])
        before = victim.read_bytes()
        damaged(victim, seed)
        try:
            read = ph.load(path)
        except InputError:
            noticed += 1
        else:
            assert read.identical(saved.assign_attrs(seconds=read.attrs["seconds"])), victim
        victim.write_bytes(before)
    assert noticed > 30


def test_it_is_read_while_it_grows(tmp_path: Path) -> None:
    """By xarray as it is: everything of one length, all of it there, and never shorter than before."""
    path, seen = tmp_path / "run.zarr", []

    def look(run: Any) -> None:
        data = xarray.open_zarr(path, chunks=None, decode_times=False).load()
        assert data.step_count.values.tolist() == [7 * i for i in range(data.sizes["t"])]
        np.testing.assert_array_equal(data.energy, data.kinetic + data.potential)
        assert (data.kinetic > 0).all()
        seen.append(data.sizes["t"])

    run = body(out=path, on_sample=look)
    assert seen == sorted(seen)
    assert 0 < seen[-1] <= len(run.t)


def test_two_processes_on_one_run(tmp_path: Path, polhode: Any) -> None:
    """The second is refused; one that was killed holds nothing."""
    path = tmp_path / "run.zarr"
    said: list[str] = []

    def meanwhile(run: Any) -> None:
        if not said:
            with pytest.raises(InputError, match="is being written by another process"):
                ph.resume(path)
            with pytest.raises(InputError, match="is being written by another process"):
                body(out=path, force=True)
            said.append(polhode("status", str(path))[1])
            raise SystemExit

    with pytest.raises(SystemExit):
        body(out=path, on_sample=meanwhile)
    assert f"running (process {os.getpid()}" in " ".join(said[0].split())  # lines are broken
    assert "steps/s" in said[0]
    code, out, _ = polhode("status", str(path))
    assert code == 0
    assert "not running: process" in out
    assert f"to go on: polhode resume {path}" in out
    code, out, _ = polhode("resume", str(path))
    assert code == 0
    assert json.loads(polhode("status", str(path), "--json")[1])["finished"]


def test_nothing_is_overwritten(whole: Path, tmp_path: Path, polhode: Any) -> None:
    path = tmp_path / "run.zarr"
    body(out=path, until=1.0)
    before = files(path)
    with pytest.raises(InputError, match="exists. To go on with it: polhode resume"):
        body(out=path)
    code, _, err = polhode("run", "free-body", "--out", str(path))
    assert (code, files(path)) == (2, before)
    assert "--force replaces it" in err
    body(out=path, force=True)
    same(path, whole)
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


def test_what_is_not_its_own_is_refused(tmp_path: Path, polhode: Any) -> None:
    """Another problem, method, or version of the format; a run that was saved whole."""
    path, run = tmp_path / "run.zarr", None
    half(path)
    with pytest.raises(InputError, match="is a run of another problem, method or step"):
        ph.resume(path, ph.problem("free-body", inertia=(1.0, 2.0, 2.5)))
    with pytest.raises(InputError, match="is a run of another problem, method or step"):
        ph.resume(path, ph.problem("free-body"), method="exact")
    grown = Tree(path)
    grown.commit(grown.samples, {**grown.attributes, "format": "polhode trajectory 5"})
    with pytest.raises(InputError, match="polhode trajectory 5"):
        ph.resume(path)
    run = body(until=1.0)
    run.save(tmp_path / "saved.zarr")
    with pytest.raises(InputError, match="was saved whole, not written as it went"):
        ph.resume(tmp_path / "saved.zarr")
    damaged(path / "zarr.json", 3)
    code, _, err = polhode("resume", str(path))
    assert code == 2
    assert "polhode:" in err


def test_a_full_disk_loses_nothing(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the file system would say it, at some write in the middle."""
    path, writes, really = tmp_path / "run.zarr", iter(range(150)), tree.written

    def full(place: Path, *data: Any) -> None:
        if next(writes, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        really(place, *data)

    monkeypatch.setattr(tree, "written", full)
    with pytest.raises(SaveError, match="No space left on device. What was committed is whole; make room, then go on"):
        body(out=path)
    monkeypatch.setattr(tree, "written", really)
    assert 0 < ph.load(path).sizes["t"] < 858
    ph.resume(path)
    same(path, whole)


def test_a_disk_that_is_full_from_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tree, "written", full)
    with pytest.raises(SaveError, match="Nothing of it was begun; make room, then run it again"):
        body(out=tmp_path / "run.zarr")
    assert list(tmp_path.iterdir()) == []
    several = ph.problem("free-body", inertia=[(1.0, 1.6, 2.2), (1.0, 1.5, 2.0)])
    with pytest.raises(SaveError, match="a member of .*: No space left on device. .* the same call, or command, goes"):
        ph.simulate(several, method="dmv", step=STEP, steps=70, out=tmp_path / "batch.zarr")
    monkeypatch.undo()
    ph.simulate(several, method="dmv", step=STEP, steps=70, out=tmp_path / "batch.zarr")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "small"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], capture_output=True).returncode:
        pytest.skip("file systems cannot be mounted here")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_a_small_disk(whole: Path, small_disk: Path, tmp_path: Path) -> None:
    """A file system that is really full."""
    (small_disk / "ballast").write_bytes(b"0" * 500_000)
    path = small_disk / "run.zarr"
    with pytest.raises(SaveError, match="No space left on device"):
        body(out=path)
    assert ph.load(path).sizes["t"] < 858
    (small_disk / "ballast").unlink()
    ph.resume(path)
    same(path, whole)


def test_what_a_commit_speaks_of_is_on_the_disk_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For power cuts: every file written since the last commit was waited for when zarr.json is replaced."""
    written_since: set[Path] = set()
    roots, really = [], tree.written

    def write(place: Path, *data: Any) -> None:
        if place.name == "zarr.json" and place.parent.name == "run.zarr":
            roots.append(set(written_since))
        else:
            written_since.add(place)
        really(place, *data)

    def settle(paths: Any) -> None:
        settled(paths)
        written_since.difference_update(paths)

    monkeypatch.setattr(tree, "written", write)
    monkeypatch.setattr(tree, "settled", settle)
    body(out=tmp_path / "run.zarr", until=5.0)
    assert len(roots) > 2
    assert roots == [set()] * len(roots)


@pytest.mark.long
def test_the_page_on_long_runs(polhode: Any, tmp_path: Path) -> None:
    """What it shows, runs as it stands there."""
    text = (Path(__file__).parents[1] / "docs" / "long-runs.md").read_text(encoding="utf-8")
    for line in re.findall(r"^\$ polhode (.*)$", text, flags=re.MULTILINE):
        code, out, err = polhode(*shlex.split(line))
        assert code == 0, err
        assert "dmv" in out
    names: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(compile(code, "long-runs.md", "exec"), names)
    assert names["longer"].t[-1] == pytest.approx(4.0)
    assert names["data"].attrs["finished"] == 1
    assert names["run"].why.startswith("stopped at t = ")


def test_what_came_there_meanwhile_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By another process that began at the same time, and was done before."""
    path, really = tmp_path / "run.zarr", writing.planted

    def planted(*given: Any) -> Any:
        monkeypatch.setattr(writing, "planted", really)
        ph.simulate(ph.problem("free-body"), method="dmv", step=0.01, steps=7, out=path)
        return really(*given)

    monkeypatch.setattr(writing, "planted", planted)
    with pytest.raises(ph.InputError, match="exists. To go on with it"):
        ph.simulate(ph.problem("free-body"), method="dmv", step=0.01, steps=5, out=path)
    assert ph.load(path).attrs["steps"] == 7


def test_the_last_part_of_another_run_is_noticed(tmp_path: Path) -> None:
    """Of runs that have ended; each chunk is whole, but not where it belongs."""
    for spin in (50.0, 20.0):
        ph.simulate(
            ph.problem("heavy-top", spin=spin), method="rig_neg", step=0.001, steps=30, out=tmp_path / f"{spin}.zarr"
        )
    here, there = tmp_path / "50.0.zarr", tmp_path / "20.0.zarr"
    assert ph.load(here).sizes["t"] == 31
    (here / "energy/c/0").write_bytes((there / "energy/c/0").read_bytes())
    with pytest.raises(Exception, match="its last part is not the one that was written"):
        ph.load(here)


def test_it_does_not_go_on_with_others_of_the_same_names(tmp_path: Path) -> None:
    def crossing(level: float) -> Any:
        return ph.Event(lambda t, R, omega: omega[0] - level, stop=False, name="crossing")

    path = tmp_path / "run.zarr"
    with pytest.raises(SystemExit):
        body(out=path, events=[crossing(0.1)], on_sample=stop_after(3))
    with pytest.raises(InputError, match="another method, or other events, of these names"):
        ph.resume(path, ph.problem("free-body"), events=[crossing(0.2)])
    ph.resume(path, ph.problem("free-body"), events=[crossing(0.1)])


@pytest.mark.parametrize("stop", [{"stop_if": "t > 20"}, {"until": 59.95}])
def test_the_last_block_is_committed_with_how_it_ended(
    stop: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is killed between its last sample and the commit that says how the run ended."""
    body(out=tmp_path / "whole.zarr", **stop)
    path = tmp_path / "run.zarr"

    def killed(*_: Any) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(writing, "finished", killed)
        with pytest.raises(SystemExit):
            body(out=path, **stop)
    ph.resume(path)
    same(path, tmp_path / "whole.zarr")


def test_what_does_not_grow_is_mended(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.zarr"
    with pytest.raises(SystemExit):
        body(out=path, on_sample=stop_after(3))
    grown = Tree(path)
    victim = next(path / n / "c" for n in grown.arrays if n not in grown.growing)
    damaged(next(p for p in (victim, *victim.rglob("*")) if p.is_file()), 5)
    with pytest.warns(UserWarning, match="they were written again"):
        ph.resume(path)
    same(path, whole)


def test_leftovers_of_a_kill_after_the_end_are_taken_away(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.zarr"
    subprocess.run(["cp", "-r", whole, path], check=True)
    for name in ("a", "b", "new"):
        (path / ".polhode" / name).write_bytes(b"left")
    with pytest.raises(InputError, match="has come to its end"):
        ph.resume(path)
    same(path, whole)


@pytest.mark.parametrize("lost", [False, True])
def test_a_folder_with_the_words_of_another_run_does_not_go_on(lost: bool, tmp_path: Path) -> None:
    """The same problem, method, step and samples, to another end; and also where its mark is not there."""
    path, other = tmp_path / "run.zarr", tmp_path / "other.zarr"
    for place, until in ((path, 60.0), (other, 30.0)):
        with pytest.raises(SystemExit):
            body(out=place, until=until, on_sample=stop_after(4 if place == path else 3))
    (path / "zarr.json").write_bytes((other / "zarr.json").read_bytes())
    if lost:
        (path / ".polhode" / Tree(other).attributes["checkpoint"]).unlink()
    with pytest.raises(InputError, match=r"its zarr\.json is that of another run, to another end"):
        ph.resume(path)
