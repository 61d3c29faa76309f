"""Saved files: damage is noticed, nothing is lost by a kill, a full disk or two processes at once."""

import errno
import json
import os
import random
import shutil
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import polhode as ph
from polhode.cli.run import names_of
from polhode.inputs import job_of
from polhode.model import InputError
from polhode.results import format_csv, store
from polhode.results.store import SaveError, save

ENDINGS = [".zarr", ".nc", ".csv"]


@pytest.fixture(scope="module")
def run() -> Any:
    return job_of("heavy-top", {"spin": 30.0}).override(until=0.02).run(ph.methods.IMIDM(), 1e-3)


def system_like() -> xarray.Dataset:
    """What a system of bodies saves besides: labels with spaces, an empty variable, lists of one."""
    t = np.arange(3)
    return xarray.Dataset(
        {
            "force": (("t", "row"), np.outer(t, [0.5, np.nan]), {"units": "N"}),
            "trace": (("t", "point", "axis"), np.zeros((3, 0, 3))),
            "theta": ("t", -0.0 * t),
        },
        {
            "t": ("t", 0.1 * t),
            "step_count": ("t", t),
            "row": ("row", ["pin: x", "größe, z"]),
            "point": ("point", np.zeros(0, "<U1")),
            "axis": ("axis", ["x", "y", "z"]),
        },
        {
            "format": ph.results.dataset.FORMAT,
            "kind": "system",
            "masses": [1.0],
            "observables": ["theta"],
            "recipe": "",
        },
    )


def files_of(path: Path) -> list[Path]:
    return sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]


def flipped(path: Path, seed: int) -> tuple[Path, bytes]:
    """One bit of one file; what it was before."""
    chance = random.Random(seed)
    victim = chance.choice([f for f in files_of(path) if f.stat().st_size])
    before = victim.read_bytes()
    damaged = bytearray(before)
    damaged[chance.randrange(len(before))] ^= 1 << chance.randrange(8)
    victim.write_bytes(damaged)
    return victim, before


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_flipped_bit_changes_data_in_silence(ending: str, tmp_path: Path) -> None:
    """With 400 flips for each of two runs and three formats none did; before checksums 347 of 400 in a .nc."""
    saved = system_like()
    path = save(saved, tmp_path / f"run{ending}")
    refused = 0
    for seed in range(60):
        victim, before = flipped(path, seed)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a reader may find something odd
                xarray.testing.assert_identical(ph.load(path), saved)
        except InputError:
            refused += 1
        victim.write_bytes(before)
    assert refused > 10
    xarray.testing.assert_identical(ph.load(path), saved)


def test_a_missing_chunk_is_named(run: Any, tmp_path: Path) -> None:
    path = run.save(tmp_path / "run.zarr")
    shutil.rmtree(path / "momentum" / "c")
    with pytest.raises(InputError, match="damaged: the variable 'momentum' differs from what was saved"):
        ph.load(path)
    shutil.rmtree(path / "momentum")
    with pytest.raises(InputError, match="momentum"):
        ph.load(path)


def test_an_edited_attribute_is_noticed(run: Any, tmp_path: Path) -> None:
    path = run.save(tmp_path / "run.csv")
    text = path.read_text()
    path.write_text(text.replace('"step": 0.001', '"step": 0.002', 1))
    with pytest.raises(InputError, match="damaged: its attributes"):
        ph.load(path)
    path.write_text(text.replace("momentum_x,momentum_y", "momentum_y,momentum_x", 1))
    with pytest.raises(InputError, match="headings of its columns"):
        ph.load(path)
    path.write_text(text.replace('"checksums"', '"cheksums"', 1))
    with pytest.raises(InputError, match="checksums are missing"):
        ph.load(path)


@pytest.mark.parametrize("ending", ENDINGS)
def test_files_without_checksums_still_load_and_say_so(run: Any, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"old{ending}"
    old = run.dataset.assign_attrs(format="polhode trajectory 1", kind="rotation")
    if ending == ".nc":
        old.to_netcdf(path, engine="h5netcdf")
    else:
        store._format(ending).write(old, path)
    with pytest.warns(UserWarning, match="no checksums"):
        back = ph.load(path)
    xarray.testing.assert_identical(back, old)
    run.save(path)  # and are replaced
    xarray.testing.assert_identical(ph.load(path), run.dataset)


@pytest.mark.parametrize("ending", ENDINGS)
def test_lists_of_one_and_odd_names_come_back(ending: str, tmp_path: Path) -> None:
    back = ph.load(save(system_like(), tmp_path / f"run{ending}"))
    xarray.testing.assert_identical(back, system_like())
    assert back.attrs["masses"] == [1.0]
    assert back.attrs["observables"] == ["theta"]
    assert np.signbit(back.theta.values).tolist() == np.signbit(system_like().theta.values).tolist()


def test_columns_of_one_name_are_not_mixed_up(tmp_path: Path) -> None:
    dataset = system_like().assign({"force_pin: x": ("t", np.arange(3.0))})
    xarray.testing.assert_identical(ph.load(save(dataset, tmp_path / "run.csv")), dataset)


@pytest.mark.parametrize("name", ["a/b", "", "..", "x" * 300, "a\0b"])
def test_quantities_whose_names_would_be_lost_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be saved.* the run is still in memory"):
        save(system_like().assign({name: ("t", np.arange(3.0))}), tmp_path / "run.zarr")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_full_disk_is_an_error_and_the_old_file_stays(
    run: Any, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file may grow beyond 4 kB, which the system says as it says that a disk is full."""
    import resource

    path = save(system_like(), tmp_path / f"run{ending}")
    big = run.dataset.isel(t=np.zeros(2000, int))
    big["omega"] = big.omega + np.random.default_rng(0).random(big.omega.shape)  # does not compress
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(SaveError, match="was not written: File too large. Nothing is lost"):
            save(big, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    xarray.testing.assert_identical(ph.load(path), system_like())
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_on_the_command_line_a_full_disk_loses_neither_table_nor_run(
    polhode: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, write = [], format_csv.write

    def full(dataset: Any, half: Path) -> None:
        written.append(half)
        if len(written) == 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(dataset, half)

    monkeypatch.setattr(format_csv, "write", full)
    code, out, err = polhode("run", "free-body", "--until", "1", "--out", "f.csv")
    assert code == 1
    assert "energy drift" in out
    assert "'f.csv' was not written: [Errno 28] No space left on device" in err
    spare = Path(err.split("so it was saved to '")[1].split("'")[0])
    assert ph.load(spare).sizes["t"] > 1
    shutil.rmtree(spare.parent)
    assert not Path("f.csv").exists()


KILLED = """
    import os, shutil, signal, sys, tempfile, warnings
    warnings.simplefilter("ignore")
    from pathlib import Path
    import polhode as ph
    from polhode.results.store import load, save

    old, new = load("old.csv"), load("new.csv")
    ended = set()

    def child(path, moment):
        calls = [0]
        def dying(call):
            def wrapped(*arguments, **more):
                for _ in range(2):  # before it, and after it
                    if calls[0] == moment:
                        os.kill(os.getpid(), signal.SIGKILL)
                    calls[0] += 1
                    if _ == 0:
                        result = call(*arguments, **more)
                return result
            return wrapped
        for module, name in ((os, "rename"), (os, "replace"), (shutil, "rmtree"), (tempfile, "mkdtemp")):
            setattr(module, name, dying(getattr(module, name)))
        save(new, path)
        os._exit(0)

    os.fsync = lambda handle: None  # takes long, and a kill does not undo what was written
    for ending in (".zarr", ".csv"):  # .nc is moved as .csv is
        moment, done = 0, False
        path, kept = Path(f"run{ending}"), save(old, Path(f"kept{ending}"))
        while not done:
            if ending == ".zarr":
                shutil.rmtree(path, ignore_errors=True)
                shutil.copytree(kept, path)
            else:
                shutil.copy(kept, path)
            pid = os.fork()
            if pid == 0:
                child(path, moment)
            done = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
            there = load(path)
            assert there.identical(old) or there.identical(new), (ending, moment)
            missing = not path.exists()
            save(old, Path("other.csv"))  # cleans up beside it
            left = sorted(p.name for p in Path().iterdir() if p.name.startswith(".polhode"))
            assert left == [] or not any(Path(n, "lock").exists() for n in left), (ending, moment, left)
            again = load(path)
            assert path.exists() and again.identical(there), (ending, moment)
            for name in left:
                shutil.rmtree(name)
            ended.add((ending, there.identical(new), missing))
            moment += 1
    print(sorted(ended))
"""


def old_and_new(folder: Path) -> None:
    """Of few arrays: each is a file more that a kill may come before or after."""
    old = system_like().drop_dims(["row", "point", "axis"])
    save(old, folder / "old.csv")
    save(old.assign(theta=("t", np.arange(3.0))), folder / "new.csv")


def python(code: str, folder: Path) -> str:
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_kill_at_any_moment_leaves_the_old_or_the_new_and_no_litter(tmp_path: Path) -> None:
    old_and_new(tmp_path)
    out = python(KILLED, tmp_path)
    for ending in (".zarr", ".csv"):  # both happened; and a folder was caught between the two moves
        assert f"('{ending}', False, False)" in out
        assert f"('{ending}', True, False)" in out
    assert "('.zarr', True, True)" in out


AT_ONCE = """
    import os, sys, warnings
    warnings.simplefilter("ignore")
    from pathlib import Path
    import polhode as ph
    from polhode.results.store import load, save

    one, two = load("old.csv"), load("new.csv")
    os.fsync = lambda handle: None
    for ending in (".zarr", ".nc", ".csv"):
        path = Path(f"run{ending}")
        save(one, path)
        pids = []
        for dataset in (one, two):
            pid = os.fork()
            if pid == 0:
                for _ in range(6):
                    save(dataset, path)
                os._exit(0)
            pids.append(pid)
        while pids:
            there = load(path)
            assert there.identical(one) or there.identical(two)
            pids = [pid for pid in pids if os.waitpid(pid, os.WNOHANG) == (0, 0)] if len(pids) > 1 else (
                os.waitpid(pids[0], 0) and [])
        there = load(path)
        assert there.identical(one) or there.identical(two)
    assert not [p for p in Path().iterdir() if p.name.startswith(".polhode")]
"""


def test_two_processes_save_to_one_path(tmp_path: Path) -> None:
    old_and_new(tmp_path)
    python(AT_ONCE, tmp_path)


def test_what_may_be_alive_or_of_others_is_not_cleaned(run: Any, tmp_path: Path) -> None:
    from polhode.results.workspace import workspace

    foreign = tmp_path / ".polhode-notes"
    foreign.mkdir()
    (foreign / "precious.txt").write_text("mine")
    elsewhere = tmp_path / ".polhode-abcdefgh"
    (elsewhere / "new").mkdir(parents=True)
    (elsewhere / "lock").write_text("another machine")
    for name, age in (("begun", 10), ("forgotten", 10_000)):
        (tmp_path / f".polhode-{name}").mkdir()
        os.utime(tmp_path / f".polhode-{name}", (time.time() - age,) * 2)
    with workspace(tmp_path) as alive:
        run.save(tmp_path / "run.csv")
        assert alive.exists()
    assert (foreign / "precious.txt").read_text() == "mine"
    assert elsewhere.exists()
    assert (tmp_path / ".polhode-begun").exists()
    assert not (tmp_path / ".polhode-forgotten").exists()


def test_an_error_while_a_folder_is_put_in_place_puts_the_old_one_back(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(system_like(), tmp_path / "run.zarr")
    rename = os.rename

    def failing(source: Any, target: Any) -> None:
        if Path(target) == path and Path(source).parent.name == "new":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rename(source, target)

    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(SaveError, match="Input/output error"):
        run.save(path)
    monkeypatch.undo()
    xarray.testing.assert_identical(ph.load(path), system_like())


def test_ctrl_c_while_a_folder_is_put_in_place_loses_nothing(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(system_like(), tmp_path / "run.zarr")
    rename = os.rename
    moves: list[Any] = []

    def interrupted(source: Any, target: Any) -> None:
        rename(source, target)
        moves.append(source)
        if len(moves) == 1:  # the old one is aside, the new one not yet in place
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run.save(path)
    assert moves[0] == path
    xarray.testing.assert_identical(ph.load(path), run.dataset)
    assert [p.name for p in tmp_path.iterdir()] == ["run.zarr"]


def test_a_link_is_kept_and_what_it_leads_to_replaced(run: Any, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    for ending in ENDINGS:
        real, link = tmp_path / "far" / f"run{ending}", tmp_path / f"link{ending}"
        save(system_like(), real)
        link.symlink_to(real)
        run.save(link)
        assert link.is_symlink()
        xarray.testing.assert_identical(ph.load(real), run.dataset)


def test_long_names_are_refused_before_the_run_and_the_longest_allowed_work(polhode: Any) -> None:
    code, out, err = polhode("run", "free-body", "--until", "1", "--out", "n" * 252 + ".csv")
    assert (code, out) == (2, "")
    assert "has 256 characters, more than a file may have there" in err
    long = "n" * 245 + ".zarr"  # 250 characters
    code, out, err = polhode("run", "free-body", "--until", "1", "--out", long)
    assert (code, err) == (0, "")
    assert ph.load(long).sizes["t"] > 1
    two = ["--method", "imidm", "--method", "akw"]
    code, out, err = polhode("run", "free-body", "--until", "1", *two, "--out", long)
    assert (code, out) == (2, "")
    assert "characters, more than" in err


def test_no_two_runs_are_saved_under_one_name() -> None:
    from polhode.solve import FixedPoint

    imidm, other = ph.methods.IMIDM(), ph.methods.IMIDM(solver=FixedPoint())
    chosen = [(m, h) for m in (imidm, other) for h in (0.01, 0.0100000001, 0.1 + 0.2, 1.0)]
    names = [p.name for p in names_of(Path("runs/a.nc"), chosen)]
    assert names == [
        "a-imidm-0.01.nc", "a-imidm-0.0100000001.nc", "a-imidm-0.30000000000000004.nc", "a-imidm-1.nc",
        "a-imidm-0.01-2.nc", "a-imidm-0.0100000001-2.nc", "a-imidm-0.30000000000000004-2.nc", "a-imidm-1-2.nc",
    ]  # fmt: skip
    assert names_of(Path("a.nc"), [(imidm, 0.01)]) == [Path("a.nc")]


def test_two_steps_that_print_alike_are_both_saved(polhode: Any) -> None:
    steps = ["--step", "0.01", "--step", "0.0100000001"]
    code, _, err = polhode("run", "free-body", *steps, "--until", "0.0500000005", "--out", "f.csv", "--json")
    assert code == 0, err
    kept = {json.loads(p.read_text().split("\n")[0][10:])["attributes"]["step"] for p in Path.cwd().glob("f-*.csv")}
    assert kept == {0.01, 0.0100000001}


@pytest.mark.parametrize("at", range(6))
def test_what_is_left_of_tidying_is_taken_away_by_the_next(
    at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is killed while it takes its own workspace away; at most an empty folder stays, for an hour."""
    from polhode.results.workspace import clean, workspace

    left = iter(range(at))

    def killed(really: Any) -> Any:
        def call(*given: Any, **more: Any) -> None:
            if next(left, None) is None:
                raise SystemExit
            really(*given, **more)

        return call

    def life() -> None:
        with workspace(tmp_path) as place:
            (place / "run.zarr").mkdir()
            (place / "run.zarr" / "zarr.json").write_text("{}")
        raise SystemExit

    with monkeypatch.context() as patch:
        for name in ("unlink", "rmdir"):
            patch.setattr(os, name, killed(getattr(os, name)))
        with pytest.raises(SystemExit):
            life()
    clean(tmp_path)
    assert [p for p in tmp_path.rglob("*") if p.parent != tmp_path] == []
