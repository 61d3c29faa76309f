"""Traced programs on disk: found again by a new process, and never mistaken for another."""

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import polhode as ph
from polhode._programs import Stored, stored
from polhode.problems import problem_of

RUN = """
import jax, numpy as np, polhode as ph
from polhode.multibody import local
from polhode.problems import problem_of
traced = []
rows = local.Local.rows
local.Local.rows = lambda self: traced.append(self) or rows(self)
run = ph.simulate(problem_of("pendulum").system(), step=0.01, steps=10)
print(len(traced), run.positions.tobytes().hex())
"""


@pytest.fixture(name="folder")
def cache_folder(tmp_path: Path) -> Any:
    before = jax.config.jax_compilation_cache_dir  # type: ignore[attr-defined]
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    yield tmp_path / "traced"
    jax.config.update("jax_compilation_cache_dir", before)


def test_a_second_process_traces_nothing_and_takes_the_same_steps(tmp_path: Path) -> None:
    """`local.Local.rows` is read from the source, which the key covers; replacing it there changes no key."""
    env = os.environ | {"JAX_COMPILATION_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run([sys.executable, "-c", RUN], env=env, capture_output=True, text=True, check=True).stdout.split()
        for _ in range(2)
    )
    assert int(first[0]) > 0
    assert second[0] == "0"
    assert second[1] == first[1]


def fresh(fn: Any, static: int = 0) -> Stored:
    made = stored(fn, static=static)
    assert isinstance(made, Stored)
    return made


def test_what_is_found_is_used(folder: Path) -> None:
    numbers = {"a": np.arange(3.0), "b": 2.0}
    value = fresh(_energy)(numbers)
    (path,) = folder.iterdir()
    example, _ = pickle.loads(path.read_bytes())
    assert example == {"sum": 0}
    written = path.stat().st_mtime_ns
    assert fresh(_energy)(numbers)["sum"] == value["sum"] == 10.0
    assert path.stat().st_mtime_ns == written


def _energy(numbers: Any) -> Any:
    return {"sum": jnp.sum(numbers["a"] ** 2) * numbers["b"]}


_energy.__module__ = "polhode.tests"  # as if it were ours


def _power(n: int, x: Any) -> Any:
    return x**n


_power.__module__ = "polhode.tests"


def test_static_arguments_and_shapes_tell_programs_apart(folder: Path) -> None:
    power = fresh(_power, static=1)
    assert float(power(2, 3.0)) == 9.0
    assert float(power(3, 3.0)) == 27.0
    assert power(2, np.arange(3.0)).tolist() == [0.0, 1.0, 4.0]
    assert len(list(folder.iterdir())) == 3


@pytest.mark.parametrize("content", [b"", b"not a program", pickle.dumps(({"sum": 0}, b"nor this"))])
def test_a_spoilt_file_is_written_anew(folder: Path, content: bytes) -> None:
    numbers = {"a": np.arange(3.0), "b": 2.0}
    fresh(_energy)(numbers)
    (path,) = folder.iterdir()
    good = path.read_bytes()
    path.write_bytes(content)
    assert fresh(_energy)(numbers)["sum"] == 10.0
    assert len(path.read_bytes()) == len(good)


def test_a_users_function_is_traced_as_ever(folder: Path) -> None:
    """It may read what no key could know of."""
    weight = [1.0]
    load = ph.Potential(lambda R: weight[0] * R.m33)
    ph.simulate(ph.RigidBody((1.0, 2.0, 2.5)), load, ph.State.of(omega=(0.1, 0.2, 3.0)), step=0.01, steps=3)
    assert not folder.exists()


def test_under_a_transformation_it_is_plain_jit(folder: Path) -> None:
    assert float(jax.grad(lambda x: fresh(_power, static=1)(2, x))(3.0)) == 6.0
    assert not folder.exists()


def test_what_the_motion_does_not_depend_on_compiles_nothing_anew() -> None:
    pendulum = problem_of("pendulum").system()
    bare, observed = pendulum.bare(), pendulum.bare(observed=True)
    assert bare.shapes == observed.shapes == ()
    assert bare.observables == ()
    assert observed.observables == pendulum.observables != ()
