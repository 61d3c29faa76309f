"""Traced programs on disk: found again by a new process, never mistaken for another, and never trusted when spoilt."""

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import polhode as ph
from polhode import multibody as mb
from polhode._programs import NamelessError, Stored, files, forget, names, sources, stored, traced
from polhode._programs import folder as programs_folder
from polhode._programs.sources import modules_behind, source_of
from polhode.algebra import Vec3
from polhode.cli.cache import cache_command
from polhode.methods import all_methods
from polhode.problems import problem_of
from polhode.simulation import loop

RUN = """
import jax, numpy as np, polhode as ph
from polhode.multibody.rows.joint_rows import JointRows
from polhode.problems import problem_of
traced = []
blocks = JointRows.blocks
JointRows.blocks = lambda *args: traced.append(args) or blocks(*args)
compiled = []
jax.monitoring.register_event_listener(lambda name, **_: name.endswith("cache_misses") and compiled.append(name))
ph.simulate(ph.problem("heavy-top"), method="rig_neg", steps=10)
run = ph.simulate(problem_of("pendulum").problem().system, method="mm-dae", step=0.01, steps=10)
print(len(traced), len(compiled), run.positions.tobytes().hex())
"""


@pytest.fixture(name="folder")
def cache_folder(tmp_path: Path) -> Any:
    before = jax.config.jax_compilation_cache_dir  # type: ignore[attr-defined]
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    yield tmp_path / f"traced-{os.geteuid()}"
    jax.config.update("jax_compilation_cache_dir", before)


def test_a_second_process_traces_and_compiles_nothing_and_takes_the_same_steps(tmp_path: Path) -> None:
    """`JointRows.blocks` is read from the source, which the key covers; replacing it there changes no key."""
    env = os.environ | {"JAX_COMPILATION_CACHE_DIR": str(tmp_path), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    first, second = (
        subprocess.run([sys.executable, "-c", RUN], env=env, capture_output=True, text=True, check=True).stdout.split()
        for _ in range(2)
    )
    assert int(first[0]) > 0
    assert int(first[1]) > 0
    assert second == ["0", "0", first[2]]


def _summed(numbers: Any) -> Any:
    return {"sum": jnp.sum(numbers["a"] ** 2) * numbers["b"], "turned": Vec3(*numbers["a"])}


def _power(n: int, x: Any) -> Any:
    return x**n


@pytest.fixture(name="ours")
def as_if_ours(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes `Stored` functions of what polhode's own modules hold."""

    def make(fn: Callable[..., Any], static: int = 0) -> Stored:
        monkeypatch.setattr(loop, fn.__name__, fn, raising=False)
        monkeypatch.setattr(names, "is_from", lambda x, *packages: x is fn or is_from(x, *packages))
        made = stored(fn, static=static)
        assert isinstance(made, Stored)
        return made

    is_from = names.is_from
    return make


NUMBERS = {"a": np.arange(3.0), "b": 2.0}


def test_what_is_found_is_used(folder: Path, ours: Any) -> None:
    value = ours(_summed)(NUMBERS)
    (path,) = folder.iterdir()
    magic, digest, tree, _ = path.read_bytes().split(b"\n", 3)
    assert magic == b"polhode program 1"
    assert len(digest) == 64
    assert json.loads(tree)[1]["turned"][0] == "polhode.algebra.vectors:Vec3"
    written = path.stat().st_mtime_ns
    again = ours(_summed)(NUMBERS)
    assert again["sum"] == value["sum"] == 10.0
    assert isinstance(again["turned"], Vec3)
    assert path.stat().st_mtime_ns == written


def test_static_arguments_shapes_and_settings_tell_programs_apart(folder: Path, ours: Any) -> None:
    power = ours(_power, static=1)
    assert float(power(2, 3.0)) == 9.0
    assert float(power(3, 3.0)) == 27.0
    assert power(2, np.arange(3.0)).tolist() == [0.0, 1.0, 4.0]
    assert len(list(folder.iterdir())) == 3
    with jax.enable_x64(False):
        assert power(2, 3.0).dtype == np.float32
    assert power(2, 3.0).dtype == np.float64
    assert ours(_power, static=1)(2, 3.0).dtype == np.float64  # from disk
    assert len(list(folder.iterdir())) == 4


class _Planted:
    def __reduce__(self) -> Any:
        return (os.mkdir, ("planted",))


@pytest.mark.parametrize("content", [b"", b"not a program", b"cut", b"flipped", b"planted", b"of another name"])
def test_a_spoilt_file_is_written_anew(
    folder: Path, ours: Any, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ours(_summed)(NUMBERS)
    (path,) = folder.iterdir()
    good = path.read_bytes()
    spoilt = {
        b"cut": good[: len(good) // 2],
        b"flipped": good[:-300] + bytes([good[-300] ^ 1]) + good[-299:],
        b"planted": pickle.dumps(_Planted()),
    }
    if content == b"of another name":
        ours(_power, static=1)(2, 3.0)
        (other,) = (p for p in folder.iterdir() if p != path)
        spoilt[content] = other.read_bytes()
        other.unlink()
    path.write_bytes(spoilt.get(content, content))
    assert ours(_summed)(NUMBERS)["sum"] == 10.0
    assert files.read(path) is not None
    assert not Path("planted").exists()


def test_no_flipped_bit_is_used(folder: Path, ours: Any) -> None:
    ours(_summed)(NUMBERS)
    (path,) = folder.iterdir()
    good = path.read_bytes()
    for position in np.random.default_rng(1).integers(0, 8 * len(good), 300):
        spoilt = bytearray(good)
        spoilt[position // 8] ^= 1 << (position % 8)
        path.write_bytes(spoilt)
        assert files.read(path) is None
    path.write_bytes(good)
    assert files.read(path) is not None


def test_what_another_could_have_written_is_not_read(folder: Path, ours: Any) -> None:
    ours(_summed)(NUMBERS)
    (path,) = folder.iterdir()
    path.chmod(0o666)
    assert files.read(path) is None
    path.chmod(0o600)
    assert files.read(path) is not None
    link = path.with_name("link")
    link.symlink_to(path)
    assert files.read(link) is None
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_truncated_entry_that_cannot_be_removed_is_no_error(
    folder: Path, ours: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours(_summed)(NUMBERS)
    (path,) = folder.iterdir()
    path.write_bytes(path.read_bytes()[:100])

    def denied(*_: Any, **__: Any) -> None:
        raise PermissionError("read-only")

    for name in ("open", "replace", "unlink", "remove"):
        monkeypatch.setattr(os, name, denied)
    assert ours(_summed)(NUMBERS)["sum"] == 10.0
    monkeypatch.undo()
    assert path.stat().st_size == 100


def test_a_program_that_does_not_run_is_traced_again(folder: Path, ours: Any) -> None:
    """As if written by another JAX: whole, but of no use."""
    ours(_summed)(NUMBERS)
    (path,) = folder.iterdir()
    exported = export.export(jax.jit(lambda x: [x]))(jax.ShapeDtypeStruct((7,), float))
    files.write(path, {"sum": 0}, exported)
    assert ours(_summed)(NUMBERS)["sum"] == 10.0


TOP = ph.RigidBody((1.0, 2.0, 2.5))
START = ph.State.of(attitude=ph.exp((0.3, 0.0, 0.0)), omega=(0.1, 0.2, 3.0))


def test_a_users_function_is_kept_by_what_it_computes(folder: Path) -> None:
    def energies(weight: float) -> list[float]:
        load = ph.Potential(lambda R: weight * R.m33 + jnp.sinc(R.m13))
        return ph.simulate(TOP, load, START, method="rig_neg", step=0.01, steps=3).energy.tolist()

    first = energies(1.0)
    kept = sorted(p.name for p in folder.iterdir())
    assert any(name.startswith("run_block") for name in kept)
    assert energies(2.0) != first
    forget()
    assert energies(1.0) == first
    assert sorted(p.name for p in folder.iterdir()) == kept


def test_no_more_programs_stay_in_memory_than_there_is_room_for(
    folder: Path, ours: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = sys.modules[Stored.__module__]
    monkeypatch.setattr(held, "_MOST", 3)
    power = ours(_power, static=1)
    forget()
    for _ in range(2):
        assert [float(power(n, 2.0)) for n in range(6)] == [2.0**n for n in range(6)]
        assert [n for _, n in held._recent] == [n for f, n in held._recent if f is power]
        assert len(held._recent) == 3
    last, count = list(held._recent), len(list(folder.iterdir()))
    assert float(power(3, 2.0)) == 8.0  # what was used last goes last
    assert list(held._recent) == [last[1], last[2], last[0]]
    assert len(list(folder.iterdir())) == count


def test_under_a_transformation_it_is_plain_jit(folder: Path, ours: Any) -> None:
    power = ours(_power, static=1)
    assert float(jax.grad(lambda x: power(2, x))(3.0)) == 6.0
    assert not folder.exists()


def test_what_the_motion_does_not_depend_on_compiles_nothing_anew() -> None:
    pendulum = problem_of("pendulum").problem().system
    bare, observed = pendulum.bare(), pendulum.bare(observed=True)
    assert bare.shapes == observed.shapes == ()
    assert bare.observables == ()
    assert [w.name for w in observed.observables] == [w.name for w in pendulum.observables] != []


class _Weight(NamedTuple):
    g: float

    def __call__(self, R: Any) -> Any:
        return self.g * R[2, 2]


class _Number(float):
    def __call__(self, R: Any) -> Any:
        return self * R[2, 2]


class _Word(str):
    def __call__(self, R: Any) -> Any:
        return len(self) * R[2, 2]


class _Kind(Enum):
    ONE = 1

    def __call__(self, R: Any) -> Any:
        return R[2, 2]


def _from_exec() -> Any:
    space: dict[str, Any] = {"__name__": "polhode.simulation.loop"}
    exec("def fn(R): return R[2, 2]", space)
    return space["fn"]


@pytest.mark.parametrize("x", [_Weight(1.0), _Number(1.0), _Word("a"), _Kind.ONE, _from_exec(), lambda R: R, _Weight])
def test_what_is_not_ours_has_no_name(x: Any) -> None:
    with pytest.raises(NamelessError):
        names.add(names.Key(), x)
    with pytest.raises(NamelessError):
        names.add(names.Key(), (1, [x]))


@pytest.mark.parametrize("load", [_Weight(1.0), _Number(1.0), _Word("a"), _Kind.ONE, _from_exec()])
def test_any_callable_is_a_load(load: Any) -> None:
    run = ph.simulate(TOP, ph.Potential(load), START, method="rig_neg", step=0.01, steps=3)
    assert run.potential == pytest.approx(run.attitude[:, 2, 2])


def test_programs_are_told_apart_by_their_derivatives() -> None:
    def made(slope: float) -> Any:
        f = jax.custom_jvp(lambda x: 2.0 * x)
        f.defjvp(lambda x, dx: (f(x[0]), slope * dx[0]))
        return f

    def numbers(slope: float) -> Any:
        return traced(made(slope), 1.0)[0]

    assert numbers(2.0) == numbers(2.0) != numbers(3.0)
    assert numbers(2.0).nameable


def test_a_callback_is_like_nothing_but_itself() -> None:
    def load(R: Any) -> Any:
        return jax.pure_callback(lambda x: np.asarray(x) * 2.0, jax.ShapeDtypeStruct((), float), R)

    (one, _), (other, _) = traced(load, 1.0), traced(load, 1.0)
    assert one != other
    assert not one.nameable


def test_what_is_ours_has_a_name() -> None:
    for function in sys.modules["polhode._programs.stored"]._ALL:
        if function._fn.__module__.startswith("polhode"):
            names.add(names.Key(), function._fn)
    every: list[Any] = [*all_methods("rotation").values(), *all_methods("system").values()]
    for method in every:
        names.add(names.Key(), method)
    assert [m.name for m in every if names.calls_back(m)] == ["three-field-sparse"]
    assert names.calls_back(mb.Halving(mb.ThreeFieldSparse()))


def test_what_calls_back_to_python_is_compiled_once_and_not_kept(folder: Path) -> None:
    chain = problem_of("chain").problem(bodies=1).system
    runs = []
    for _ in range(2):
        programs = loop.run_block_briefly.made
        runs.append(ph.simulate(chain, method="three-field-sparse", step=0.005, steps=2).positions)
    assert loop.run_block_briefly.made == programs > 0
    assert np.array_equal(*runs)
    assert not any(path.name.startswith("run_block") for path in folder.iterdir())


@pytest.mark.parametrize("problem", ["heavy-top", "pendulum"])
def test_a_step_is_compiled_once(problem: str) -> None:
    """A run in one block, then one in several: the second compiles nothing."""
    compiled: list[float] = []
    ph.simulate(ph.problem(problem), step=0.01, steps=4)

    def note(event: str, duration_secs: float, **_: str | int) -> None:
        if "backend_compile" in event:
            compiled.append(duration_secs)

    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        run = ph.simulate(ph.problem(problem), step=0.01, steps=13, every=5)
        assert run.trajectory.steps.tolist() == [0, 5, 10, 13]
        assert compiled == []
    finally:
        jax.monitoring.clear_event_listeners()


@pytest.mark.optimised
def test_steps_are_the_same_wherever_a_run_ends() -> None:
    """The first ones by a program compiled soon, the others by one compiled well: by their numbers alone."""
    pendulum = ph.problem("pendulum")
    whole = ph.simulate(pendulum, step=0.01, steps=520)
    assert np.array_equal(ph.simulate(pendulum, step=0.01, steps=516).positions, whole.positions[:517])
    assert np.array_equal(ph.simulate(pendulum, step=0.01, steps=500).positions, whole.positions[:501])
    assert np.array_equal(ph.simulate(pendulum, step=0.01, steps=520, every=260).positions, whole.positions[::260])
    assert np.ptp(whole.energy) < 1e-11 * np.abs(whole.energy).max()


def test_a_program_depends_on_the_source_behind_it() -> None:
    """Not on plots, files and the command line."""
    step = type(ph.methods.method_of("three-field", "system")).__module__
    behind = set(modules_behind([step, loop.__name__, "numpy"]))
    for name in (
        "multibody.rows.joint_rows",
        "multibody.step.equations",
        "solve.chord",
        "algebra.arrays",
        "model.traits",
    ):
        assert f"polhode.{name}" in behind
    assert not [name for name in behind if name.startswith(("polhode.results", "polhode.cli", "polhode.papers"))]
    one_body = set(modules_behind(["polhode.methods.krysl"]))
    assert "polhode.solve.iteration" in one_body
    assert not [name for name in one_body if name.startswith("polhode.multibody")]


def test_what_is_behind_a_program_is_in_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    source_of.cache_clear()
    before = source_of(frozenset({"polhode.methods.krysl"}))
    really = sources._text
    monkeypatch.setattr(sources, "_text", lambda name: (really(name) or b"") + b"#" * ("iteration" in name))
    source_of.cache_clear()
    changed = source_of(frozenset({"polhode.methods.krysl"}))
    source_of.cache_clear()
    assert changed != before


def test_the_folder_of_programs_is_bounded_and_can_be_cleared(
    folder: Path, ours: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ours(_power, static=1)(2, 3.0)
    (mine,) = folder.iterdir()
    theirs = folder.parent / "jit_of_another-cache"
    theirs.write_bytes(b"0" * 1000)
    older = folder / "older"
    older.write_bytes(b"0" * 1000)
    os.utime(older, (1.0, 1.0))
    monkeypatch.setattr(programs_folder, "_written", 0)
    programs_folder.bounded(mine.stat().st_size + 10)
    assert sorted(folder.iterdir()) == [mine]
    cache_command(clear=False)
    assert f"{folder.parent}\n1 files" in capsys.readouterr().out
    cache_command(clear=True)
    assert list(folder.iterdir()) == []
    assert theirs.exists()
    assert ours(_power, static=1)(2, 3.0) == 9.0
