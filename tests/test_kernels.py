"""Kernels: every rotation method is written in C, which computes what XLA's loop computes; NVRTC compiles it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jax
import kernels
import numpy as np
import pytest

import polhode as ph
from polhode import _notices
from polhode.kernel import UnwritableError, source_of_steps
from polhode.kernel.source import ENDED, TALLY
from polhode.methods import all_methods, method_of
from polhode.simulation import on_gpu
from polhode.simulation.member import kernel_source
from polhode.simulation.on_gpu import OnGpu
from polhode.simulation.tiles import Tiles

_rng = np.random.default_rng(7)
MEMBERS, STEPS, STEP = 5, 12, 0.02
MOMENTS, OMEGAS = _rng.uniform(2.0, 3.0, (MEMBERS, 3)), 2.0 * _rng.normal(size=(MEMBERS, 3))
WEIGHTS = _rng.uniform(1.0, 5.0, MEMBERS)
# Of the momentum, over 12 steps: g++ multiplies and adds one after the other, XLA in one rounding.
ROUND_OFF = 1e-13


def begun(name: str) -> tuple[Any, Any, Any, tuple[bool, ...]]:
    """Method, system, state and which numbers are of each member: bodies of different inertia and weight."""
    method = method_of(name)
    load = ph.Potential(lambda R, weight: weight * R[2, 2], weight=WEIGHTS)
    system = ph.Rotation(ph.RigidBody(MOMENTS), None if method.traits.loads == "none" else load)
    system, start = system.begun(ph.State.of(omega=OMEGAS))
    state = jax.tree.map(np.asarray, method.begin(system, start))
    return method, system, state, tuple(jax.tree.leaves(system.own_numbers()))


QUICK = ("dmv", "imidm")
LONG = [name for name in all_methods("rotation") if name not in QUICK]
METHODS = [*QUICK, *(pytest.param(name, marks=pytest.mark.long) for name in LONG)]


needs_compiler = pytest.mark.skipif(kernels.COMPILER is None, reason="there is no g++")


def on_cpu(name: str, folder: Path) -> tuple[Any, Any, Any, Any]:
    """The program of a batch as it runs on a GPU, but for who runs its threads; and method, system and state."""
    method, system, state, own = begun(name)
    kernel = kernels.OnCpu(kernel_source(method, system, own, state), folder)
    return OnGpu(kernel, system, system.own_numbers(), state), method, system, state


@needs_compiler
@pytest.mark.parametrize("name", METHODS)
def test_a_kernel_computes_what_xla_does(name: str, tmp_path: Path) -> None:
    program, method, system, state = on_cpu(name, tmp_path)
    run = (state, np.int64(3), 0.5, STEP)
    block = program(*run, np.int64(3), np.int64(STEPS // 3))
    xla = Tiles(method, system, state)(*run, np.int64(3), np.int64(STEPS // 3))
    for mine, other in ((block.state, xla.state), (block.samples, xla.samples)):
        for x, y in zip(jax.tree.leaves(mine), jax.tree.leaves(other), strict=True):
            assert np.abs(x - y).max() <= ROUND_OFF * max(np.abs(y).max(), 1.0)
    assert block.ok.all()
    assert block.done == xla.done == 3 + STEPS
    assert np.abs(block.tally[0] - xla.tally[0]) <= STEPS  # round-off may decide the last iteration of a step
    once = program(*run, np.int64(1), np.int64(STEPS))
    for x, y in zip(jax.tree.leaves(block.state), jax.tree.leaves(once.state), strict=True):
        np.testing.assert_array_equal(x, y)


@needs_compiler
def test_members_of_a_kernel_are_lost_as_those_of_xla(tmp_path: Path) -> None:
    """And where none is left, the call ends at the last good step."""
    setup = ph.problem("coulomb-wall")
    method = method_of("imidm")
    system, state = setup.system.begun(ph.State.of(spatial_momentum=np.array([[0.01, 0, 0], [2, 2, 2], [2, 2.5, 2]])))
    own = system.own_numbers()
    kernel = kernels.OnCpu(kernel_source(method, system, tuple(jax.tree.leaves(own)), state), tmp_path)
    for members in (slice(3), slice(1, 3)):
        part = jax.tree.map(lambda x, m=members: x[m], state)
        run = (part, np.int64(0), 0.0, 0.5, np.int64(10), np.int64(2))
        mine, xla = OnGpu(kernel, system, own, part)(*run), Tiles(method, system, part)(*run)
        assert mine.done == xla.done
        np.testing.assert_array_equal(mine.ok, xla.ok)
        np.testing.assert_array_equal(mine.failed, xla.failed)
        gone = xla.failed > 0
        np.testing.assert_array_equal(mine.report.converged[gone], xla.report.converged[gone])
        assert (np.isnan(mine.state.momentum.x) == np.isnan(xla.state.momentum.x)).all()
        assert gone.sum() >= 1


def test_what_cannot_be_written_is_said_and_runs_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU, as far as that can be told without one: XLA's loop takes over, with one notice."""
    method, system, state, _ = begun("dmv")
    monkeypatch.setattr(_notices, "told", set())
    monkeypatch.setattr(on_gpu, "why_not", lambda: None)
    monkeypatch.setattr(on_gpu, "platform", lambda: "gpu")

    def unwritable(*args: Any) -> str:
        raise UnwritableError("the operation 'sort'")

    monkeypatch.setattr(on_gpu, "kernel_of_steps", unwritable)
    with pytest.warns(UserWarning, match="XLA's own loop.*dmv holds the operation 'sort'"):
        program = on_gpu.program_of_batch(method, system, state)
    assert isinstance(on_gpu.program_of_batch(method, system, state), Tiles)  # said once
    block = program(state, np.int64(0), 0.0, STEP, np.int64(1), np.int64(2))
    assert block.ok.all()


def test_an_operation_without_words_in_c_is_named() -> None:
    def step(system: Any, state: Any, t: Any, h: Any) -> Any:
        return jax.numpy.sort(state), True, True, 0.0, 0, 0, 0

    with pytest.raises(UnwritableError, match="the operation 'sort'"):
        source_of_steps(step, (), (), jax.ShapeDtypeStruct((3,), float))


def test_small_arrays_inside_a_kernel(tmp_path: Path) -> None:
    """Products, sums, pieces and loops of the kind that users' functions hold, against JAX."""
    if kernels.COMPILER is None:
        pytest.skip("there is no g++")
    A = _rng.normal(size=(3, 3))

    def step(system: Any, state: Any, t: Any, h: Any) -> Any:
        x = system @ state + jax.numpy.cross(state, state[::-1]) * h
        x = jax.numpy.concatenate([x[1:], x[:1]]) / (1.0 + jax.numpy.max(abs(x)) + jax.numpy.sum(x * x) ** 3)
        x = jax.lax.fori_loop(0, 3, lambda k, y: 0.5 * y + jax.numpy.sin(y) * k, x)
        x = jax.numpy.where(x > 0.1, jax.numpy.arctan2(x, t + 1.0), jax.numpy.linalg.norm(x) - x**-2)
        return x, jax.numpy.all(jax.numpy.isfinite(x)), True, 0.0, 1, 0, 0

    like = jax.ShapeDtypeStruct((3,), float)
    kernel = kernels.OnCpu(source_of_steps(step, jax.ShapeDtypeStruct((3, 3), float), (False,), like), tmp_path)
    start = _rng.normal(size=(4, 3))
    numbers = (np.int64(0), np.int64(0), np.float64(0.0), np.float64(0.1), np.int64(1))
    arrays = [jax.numpy.asarray(x) for x in (start, np.zeros((ENDED, 4)), np.zeros((TALLY, 4)))]
    found = kernel(numbers, [jax.numpy.asarray(A), *arrays], arrays)[0]
    expected = np.stack([step(A, x, 0.0, 0.1)[0] for x in start])
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_nvrtc_compiles_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which needs no GPU; for that of an H200. What was compiled is kept."""
    pytest.importorskip("cuda.bindings", reason="pip install 'polhode[kernels]'")
    import cuda.core as core

    from polhode.kernel import cuda

    monkeypatch.setattr(sys.modules["polhode._programs.kept_bytes"], "traced_folder", lambda: tmp_path)
    for name in ("dmv", "imidm"):
        method, system, state, own = begun(name)
        source = kernel_source(method, system, own, state)
        code = cuda.machine_code(source, "sm_90")
        assert code.startswith(b"\x7fELF")
    monkeypatch.setattr(core, "Program", None)
    assert cuda.machine_code(source, "sm_90") == code
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.long
@pytest.mark.parametrize("name", all_methods("rotation"))
def test_nvrtc_compiles_every_method(name: str) -> None:
    pytest.importorskip("cuda.bindings", reason="pip install 'polhode[kernels]'")
    from polhode.kernel.cuda import machine_code

    method, system, state, own = begun(name)
    assert machine_code(kernel_source(method, system, own, state), "sm_90").startswith(b"\x7fELF")
