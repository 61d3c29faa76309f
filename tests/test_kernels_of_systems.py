"""Kernels of systems: the three-field step is written in C for lanes, which compute what XLA's loop computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import kernels
import numpy as np
import pytest

import polhode as ph
from polhode.kernel import UnwritableError
from polhode.kernel.source import ENDED, TALLY
from polhode.kernel.system_source import Source, source_of_systems
from polhode.methods import method_of
from polhode.simulation.loop import run_block
from polhode.simulation.member import step_of_member
from polhode.solve import until_converged

STEPS = 20
ROUND_OFF = 1e-12  # of the largest number of a kind; measured: 2e-15, of multipliers 7e-14
SOON = ("pendulum",)
LATER = ("bicycle", "rolling-disk", "rolling-sphere", "rattleback", "four-bar")
NAMES = [*SOON, *(pytest.param(name, marks=pytest.mark.long) for name in LATER)]

needs_compiler = pytest.mark.skipif(kernels.COMPILER is None, reason="there is no g++")


def begun(name: str, **parameters: Any) -> tuple[Any, Any, Any, float]:
    """First rung, system, state and step."""
    problem = ph.problem(name, **parameters)
    method = method_of("three-field", "system")
    system, state = problem.system.begun(problem.start, 0.0)
    return method.rungs[0], system, jax.tree.map(np.asarray, method.begin(system, state)), problem.step


def written(method: Any, system: Any, state: Any, own: tuple[bool, ...], **how: Any) -> Source:
    like = lambda x: jax.ShapeDtypeStruct(np.shape(x), np.result_type(x))  # noqa: E731
    with until_converged():
        return source_of_systems(
            step_of_member(method), jax.tree.map(like, system), own, jax.tree.map(like, state), **how
        )


def taken(kernel: Any, system: Any, states: list[Any], h: float, steps: int) -> list[Any]:
    """Numbers of the states of members, `Ended` and tally after so many steps."""
    members = len(states)
    leaves = [np.stack(x) for x in zip(*(jax.tree.leaves(state) for state in states), strict=True)]
    arrays = [jax.numpy.asarray(x) for x in (*leaves, np.zeros((ENDED, members)), np.zeros((TALLY, members)))]
    numbers = (np.int64(0), np.int64(0), np.float64(0.0), np.float64(h), np.int64(steps))
    shared = [jax.numpy.asarray(x) for x in jax.tree.leaves(system)]
    return [np.asarray(x) for x in kernel(numbers, [*shared, *arrays], arrays)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where kernels are compiled once."""
    return tmp_path_factory.mktemp("kernels")


def on_cpu(method: Any, system: Any, state: Any, folder: Path) -> kernels.LaneOnCpu:
    """With too little fast memory for all arrays."""
    own = (False,) * len(jax.tree.leaves(system))
    return kernels.LaneOnCpu(written(method, system, state, own, lanes=1, groups=1, near=1500), folder)


@needs_compiler
@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_takes_the_steps_of_xla(name: str, folder: Path) -> None:
    """Two members, one a few steps ahead of the other."""
    method, system, state, h = begun(name)
    ahead = run_block(method, system, state, np.int64(0), 0.0, h, np.int64(1), np.int64(3)).state
    states = [state, jax.tree.map(np.asarray, ahead)]
    *leaves, ended, tally = taken(on_cpu(method, system, state, folder), system, states, h, STEPS)
    for k, begin in enumerate(states):
        block = run_block(method, system, begin, np.int64(0), 0.0, h, np.int64(1), np.int64(STEPS))
        assert block.ok
        assert ended[0, k] == 1
        for mine, other in zip(leaves, jax.tree.leaves(block.state), strict=True):
            assert np.abs(mine[k] - other).max(initial=0.0) <= ROUND_OFF * max(np.abs(other).max(initial=0.0), 1.0)
        assert abs(tally[0, k] - block.tally[0]) <= 2  # round-off may decide the last iteration


@needs_compiler
def test_a_member_whose_step_fails_stays_where_it_was(folder: Path) -> None:
    """And is told apart: what it has is its last good state, from which another way may go on."""
    method, system, state, h = begun("pendulum")
    kernel = on_cpu(method, system, state, folder)
    wild = jax.tree.map(np.array, state)
    wild.omegas[:] = 400.0 * np.array([0.3, 0.8, 0.5])
    *leaves, ended, _ = taken(kernel, system, [wild, state], h, STEPS)
    assert ended[0].tolist() == [0.0, 1.0]
    assert ended[1].tolist() == [1.0, 0.0]
    for x, y in zip(leaves, jax.tree.leaves(wild), strict=True):
        np.testing.assert_array_equal(x[0], y)
    *alone, _, _ = taken(kernel, system, [state], h, STEPS)
    for x, y in zip(leaves, alone, strict=True):
        np.testing.assert_array_equal(x[1], y[0])


def test_a_step_without_words_in_c_is_named() -> None:
    def step(system: Any, state: Any, t: Any, h: Any) -> Any:
        return jax.numpy.sort(state), True, True, 0.0, 0, 0, 0

    with pytest.raises(UnwritableError, match="the operation 'sort'"):
        source_of_systems(step, (), (), jax.ShapeDtypeStruct((3,), float))


@pytest.mark.long
def test_nvrtc_compiles_the_bicycle() -> None:
    """Which needs no GPU; for that of an H200."""
    pytest.importorskip("cuda.core", reason="pip install 'polhode[kernels]'")
    from polhode.kernel.cuda import machine_code

    method, system, state, _ = begun("bicycle")
    source = written(method, system, state, (False,) * len(jax.tree.leaves(system)))
    assert machine_code(source.text, "sm_90").startswith(b"\x7fELF")
