"""Kernels of systems: the three-field step is written in C for lanes, which compute what XLA's loop computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import kernels
import numpy as np
import pytest

import polhode as ph
from polhode.bench import bicycles_gpu
from polhode.kernel import UnwritableError
from polhode.kernel.source import ENDED, TALLY
from polhode.kernel.system_source import source_of_systems
from polhode.methods import method_of
from polhode.model.checks import InputError
from polhode.simulation.loop import run_block
from polhode.simulation.systems_on_gpu import Alike

STEPS = 20
ROUND_OFF = 1e-12  # of the largest number of a kind; measured: 2e-15, of multipliers 7e-14
SOON = ("pendulum",)
LATER = ("bicycle", "rolling-disk", "rolling-sphere", "rattleback", "four-bar")
OWN: dict[str, tuple[dict[str, Any], ...]] = {
    "pendulum": ({}, {"length": 0.7}),
    "bicycle": ({"speed": 4.0}, {"speed": 5.0}),
}
NAMES = [*SOON, *(pytest.param(name, marks=pytest.mark.long) for name in LATER)]

needs_compiler = pytest.mark.skipif(kernels.COMPILER is None, reason="there is no g++")


def begun(name: str) -> tuple[Any, Alike, list[Any], list[Any], float]:
    """First rung; two members, of other lengths or speeds where the problem has them; and the step."""
    problems = [ph.problem(name, **own) for own in OWN.get(name, ({}, {}))]
    method = method_of("three-field", "system")
    both = [problem.system.begun(problem.start, 0.0) for problem in problems]
    systems = [system for system, _ in both]
    states = [jax.tree.map(np.asarray, method.begin(system, state)) for system, state in both]
    return method.rungs[0], Alike(systems, states), systems, states, problems[0].step


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where kernels are compiled once."""
    return tmp_path_factory.mktemp("kernels")


def taken(method: Any, alike: Alike, states: list[Any], h: float, folder: Path) -> list[Any]:
    """Numbers of the states of members, `Ended` and tally, by lanes with too little fast memory for all arrays."""
    kernel = kernels.LaneOnCpu(alike.source(method, lanes=1, groups=1, near=1500), folder)
    leaves = [np.stack(x) for x in zip(*(jax.tree.leaves(state) for state in states), strict=True)]
    arrays = [jax.numpy.asarray(x) for x in (*leaves, np.zeros((ENDED, len(states))), np.zeros((TALLY, len(states))))]
    numbers = (np.int64(0), np.int64(0), np.float64(0.0), np.float64(h), np.int64(STEPS))
    read = [*map(jax.numpy.asarray, alike.numbers), *arrays]
    return [np.asarray(x) for x in kernel(numbers, read, arrays)]


@needs_compiler
@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_takes_the_steps_of_xla(name: str, folder: Path) -> None:
    method, alike, systems, states, h = begun(name)
    assert any(alike.own) == (name in OWN)
    *leaves, ended, tally = taken(method, alike, states, h, folder)
    for k, (system, begin) in enumerate(zip(systems, states, strict=True)):
        block = run_block(method, system, begin, np.int64(0), 0.0, h, np.int64(1), np.int64(STEPS))
        assert block.ok
        assert ended[0, k] == 1
        for mine, other in zip(leaves, jax.tree.leaves(block.state), strict=True):
            assert np.abs(mine[k] - other).max(initial=0.0) <= ROUND_OFF * max(np.abs(other).max(initial=0.0), 1.0)
        # Round-off may decide the last iteration of a step; measured: none, of the four-bar's spare rows 3 in all.
        assert abs(tally[0, k] - block.tally[0]) <= STEPS // 4


@needs_compiler
def test_a_member_whose_step_fails_stays_where_it_was(folder: Path) -> None:
    """And is told apart: what it has is its last good state, from which another way may go on."""
    method, alike, _, states, h = begun("pendulum")
    wild = jax.tree.map(np.array, states[0])
    wild.omegas[:] = 400.0 * np.array([0.3, 0.8, 0.5])
    *leaves, ended, _ = taken(method, alike, [wild, states[1]], h, folder)
    assert ended[0].tolist() == [0.0, 1.0]
    assert ended[1].tolist() == [1.0, 0.0]
    for x, y in zip(leaves, jax.tree.leaves(wild), strict=True):
        np.testing.assert_array_equal(x[0], y)
    *alone, _, _ = taken(method, alike, states, h, folder)
    for x, y in zip(leaves, alone, strict=True):
        np.testing.assert_array_equal(x[1], y[1])


def test_systems_of_different_structure_do_not_move_together() -> None:
    both = [begun(name) for name in ("pendulum", "chaplygin-sleigh")]
    with pytest.raises(InputError, match="member 1 does not"):
        Alike([systems[0] for _, _, systems, _, _ in both], [states[0] for _, _, _, states, _ in both])


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

    method, alike, *_ = begun("bicycle")
    assert machine_code(alike.source(method).text, "sm_90").startswith(b"\x7fELF")


@needs_compiler
@pytest.mark.long
def test_the_benchmark_of_bicycles(folder: Path) -> None:
    made = lambda source: kernels.LaneOnCpu(source, folder)  # noqa: E731
    (row,) = bicycles_gpu.measure((4,), 3, 1, made, lanes=1, groups=1)
    assert row.what == "three-field, 4 bicycles"
    assert "failed" not in row.value
