"""Kernels of systems: the three-field step is written in C for lanes, which compute what XLA's loop computes."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import kernels
import numpy as np
import pytest

import polhode as ph
from polhode import _notices, device, members, together
from polhode.bench import bicycles_gpu
from polhode.kernel import UnwritableError
from polhode.kernel.memory import Memory
from polhode.kernel.source import ENDED, TALLY
from polhode.kernel.system_source import source_of_systems
from polhode.methods import method_of
from polhode.model.checks import InputError
from polhode.results import Family
from polhode.simulation import Interrupted
from polhode.simulation.loop import run_block
from polhode.simulation.systems_on_gpu import Alike, SystemsOnGpu

STEPS = 20
LANE = {"lanes": 1, "groups": 1, "near": 1500}
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


@pytest.fixture(scope="module")
def made(folder: Path) -> Any:
    """What makes kernels of sources."""
    return lambda source: kernels.LaneOnCpu(source, folder)


def taken(method: Any, alike: Alike, states: list[Any], h: float, made: Any) -> list[Any]:
    """Numbers of the states of members, `Ended` and tally, by lanes with too little fast memory for all arrays."""
    kernel = alike.kernel(method, made, **LANE)
    leaves = [np.stack(x) for x in zip(*(jax.tree.leaves(state) for state in states), strict=True)]
    arrays = [jax.numpy.asarray(x) for x in (*leaves, np.zeros((ENDED, len(states))), np.zeros((TALLY, len(states))))]
    numbers = (np.int64(0), np.int64(0), np.float64(0.0), np.float64(h), np.int64(STEPS))
    read = [*map(jax.numpy.asarray, alike.numbers), *arrays]
    return [np.asarray(x) for x in kernel(numbers, read, arrays)]


@needs_compiler
@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_takes_the_steps_of_xla(name: str, made: Any) -> None:
    method, alike, systems, states, h = begun(name)
    assert any(alike.own) == (name in OWN)
    *leaves, ended, tally = taken(method, alike, states, h, made)
    for k, (system, begin) in enumerate(zip(systems, states, strict=True)):
        block = run_block(method, system, begin, np.int64(0), 0.0, h, np.int64(1), np.int64(STEPS))
        assert block.ok
        assert ended[0, k] == 1
        for mine, other in zip(leaves, jax.tree.leaves(block.state), strict=True):
            assert np.abs(mine[k] - other).max(initial=0.0) <= ROUND_OFF * max(np.abs(other).max(initial=0.0), 1.0)
        # Round-off may decide the last iteration of a step; measured: none, of the four-bar's spare rows 3 in all.
        assert abs(tally[0, k] - block.tally[0]) <= STEPS // 4


@needs_compiler
def test_a_member_whose_step_fails_stays_where_it_was(made: Any) -> None:
    """And is told apart: what it has is its last good state, from which another way may go on."""
    method, alike, _, states, h = begun("pendulum")
    wild = jax.tree.map(np.array, states[0])
    wild.omegas[:] = 400.0 * np.array([0.3, 0.8, 0.5])
    *leaves, ended, _ = taken(method, alike, [wild, states[1]], h, made)
    assert ended[0].tolist() == [0.0, 1.0]
    assert ended[1].tolist() == [1.0, 0.0]
    for x, y in zip(leaves, jax.tree.leaves(wild), strict=True):
        np.testing.assert_array_equal(x[0], y)
    *alone, _, _ = taken(method, alike, states, h, made)
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
def test_the_benchmark_of_bicycles(made: Any) -> None:
    (row,) = bicycles_gpu.measure((4,), 3, 1, made, lanes=1, groups=1)
    assert row.what == "three-field, 4 bicycles"
    assert "failed" not in row.value


def pretend(patch: pytest.MonkeyPatch, made: Any) -> None:
    """That there is a GPU, which runs kernels."""
    patch.setattr(members, "platform", lambda: "gpu")
    patch.setattr(together, "program_of", lambda method, alike: SystemsOnGpu(alike.kernel(method, made, **LANE), alike))


SWINGS = {"length": [1.0, 0.7, 1.0, 0.7], "rate": [0.5, 0.0, 250.0, 400.0]}
RUN: dict[str, Any] = {"step": 0.01, "steps": 12, "every": 4}


@needs_compiler
def test_a_family_is_moved_by_one_kernel(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the driver of all runs; a member whose steps it does not solve goes on by itself, to its end, or to where it
    fails alone too."""
    swings = ph.problem("pendulum", **SWINGS)
    with pytest.warns(UserWarning, match="1 of 4 members failed|11 of 12 steps were not solved whole"):
        here = ph.simulate(swings, **RUN)
    assert "failed in step 2, from t = 0.01" in here.reasons[3,]
    pretend(monkeypatch, made)
    with pytest.warns(UserWarning, match="of 4 members|11 of 12 steps") as told:
        there = ph.simulate(swings, **RUN)
    words = [str(warning.message) for warning in told]
    assert words[0].startswith("2 of 4 members have steps that the kernel does not solve; these go on by themselves")
    assert "11 of 12 steps were not solved whole" in words[1]
    assert there.reasons == here.reasons
    assert there.dataset.sizes == here.dataset.sizes
    for one, other in zip(there.runs, here.runs, strict=True):
        assert one.trajectory.steps.tolist() == other.trajectory.steps.tolist()
        assert (one.ok, one.halvings, one.renewals) == (other.ok, other.halvings, other.renewals)
        assert one.trajectory.iterations == pytest.approx(other.trajectory.iterations, rel=0.15)
        for x, y in zip(jax.tree.leaves(one.state), jax.tree.leaves(other.state), strict=True):
            np.testing.assert_allclose(x, y, rtol=0, atol=1e-11 * max(np.abs(y).max(), 1.0))  # measured: 1e-13
    assert [bool(run.nothing_wrong) for run in there.runs] == [True, True, False, False]
    monkeypatch.setattr(together, "_FIRST_BLOCK", 1)
    monkeypatch.setattr("polhode.simulation.walk._BLOCK_SECONDS", 0.0)
    with pytest.warns(UserWarning, match="of 4 members|11 of 12 steps were not solved whole"):
        often = ph.simulate(swings, **RUN)
    for k in range(4):
        for x, y in zip(jax.tree.leaves(often.runs[k].state), jax.tree.leaves(there.runs[k].state), strict=True):
            np.testing.assert_array_equal(x, y)
    monkeypatch.undo()
    more, alone = (ph.simulate(family.runs[0], steps=4) for family in (there, here))
    assert (more.steps, more.t.tolist()) == (16, alone.t.tolist())
    assert more.recipe == alone.recipe


@needs_compiler
def test_an_interrupt_keeps_what_all_members_have(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, made)
    monkeypatch.setattr(together, "_FIRST_BLOCK", 1)
    honest, calls = SystemsOnGpu.run, []

    def interrupted(self: Any, *args: Any) -> Any:
        calls.append(args)
        if len(calls) == 2:
            signal.raise_signal(signal.SIGINT)
        return honest(self, *args)

    monkeypatch.setattr(SystemsOnGpu, "run", interrupted)
    with pytest.raises(Interrupted, match="interrupted at step") as stop:
        ph.simulate(ph.problem("pendulum", length=[1.0, 0.7]), **RUN | {"steps": 200})
    family = stop.value.run
    assert isinstance(family, Family)
    first, second = (run.steps for run in family.runs)  # of two calls, the second as long as the clock had it
    assert 1 < first == second < 200
    assert ph.simulate(family.runs[1], steps=4).steps == second + 4


@needs_compiler
def test_a_kernel_whose_samples_are_wrong_is_found_out(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what sentinels look for, in all members at once."""
    pretend(monkeypatch, made)
    honest = SystemsOnGpu.run

    def lies(self: Any, *args: Any) -> Any:
        *rest, samples, seen = honest(self, *args)
        turned = samples.state.quaternions.at[-1, 1].multiply(1.001)
        return *rest, replace(samples, state=replace(samples.state, quaternions=turned)), seen

    monkeypatch.setattr(SystemsOnGpu, "run", lies)
    with pytest.warns(UserWarning, match=r"1 of 2 members failed.* member \[1\]: .*quaternions of length 1"):
        family = ph.simulate(ph.problem("pendulum", length=[1.0, 0.7]), **RUN)
    assert [run.trajectory.status.name for run in family.runs] == ["OK", "BROKEN"]


@pytest.mark.parametrize(
    ("problems", "how", "why"),
    [
        (("pendulum", {"length": [1.0, 0.7]}), {}, "there is no GPU that JAX sees"),
        (("pendulum", {"length": [1.0, 0.7]}), {"stop_if": "gap > 1"}, "stop_if ends each member by itself"),
        (("pendulum", {"length": [1.0, 0.7]}), {"times": [0.0, 0.015]}, "samples between steps"),
        (("heavy-top", {"spin": [1.0, 20.0]}), {}, "many bodies are one run, by leading axes"),
    ],
)
def test_what_a_kernel_does_not_move_is_said(
    problems: Any, how: dict[str, Any], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, given = problems
    monkeypatch.setattr(members, "platform", lambda: "gpu")
    _notices.told.clear()
    short = {"step": 0.01, "steps": 3, **how}
    with pytest.warns(UserWarning, match=f"run one by one, on the cores of the CPU and not by a kernel: .*{why}"):
        family = ph.simulate(ph.problem(name, **given), **short)
    assert family.ok
    monkeypatch.undo()
    alone = ph.simulate(ph.problem(name, **given), **short)
    assert family["energy"].tolist() == alone["energy"].tolist()


def test_who_runs_on_a_gpu_without_being_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "platform", lambda: "gpu")
    few = ph.problem("pendulum", length=[1.0, 0.7])
    assert device.quickest(few, None, None) == "cpu"
    assert device.quickest(replace(few, members=np.resize(few.members, 256)), None, None) is None
    bodies = ph.problem("heavy-top", spin=[1.0, 20.0])
    assert device.quickest(replace(bodies, members=np.resize(bodies.members, 256)), None, None) == "cpu"


def test_arrays_in_use_at_once_are_apart() -> None:
    """In either memory, pairs behind each other; and a place is used again."""
    random, memory = np.random.default_rng(3), Memory()
    there: list[int] = []
    for _ in range(200):
        there.append(memory.take(int(random.integers(1, 40)), float(random.integers(1, 9))))
        if random.random() < 0.3:
            there.append(memory.take(memory.pieces[there[-1]].count, 1.0, behind=there[-1]))
        while len(there) > 12:
            memory.give(there.pop(int(random.integers(len(there)))))
        memory.settle()
    where = memory.placed(150, 2.0)
    assert 0 < where.near_used <= 150
    assert where.near_used + where.far_used < sum(piece.count for piece in memory.pieces) / 4
    for space in (where.near, where.far):
        for j in space:
            for k in range(j):
                a, b = memory.pieces[j], memory.pieces[k]
                ends = [np.inf if x.ended is None else x.ended for x in (a, b)]
                if k in space and a.begun <= ends[1] and b.begun <= ends[0]:
                    assert space[j] + a.count <= space[k] or space[k] + b.count <= space[j]
            if (first := memory.pieces[j].behind) is not None:
                assert space[j] == space[first] + memory.pieces[first].count
