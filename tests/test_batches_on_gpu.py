"""Batches as they run on a GPU, as far as that can be shown without one: by the same driver, the same kernel compiled
for a CPU, and arrays of JAX that nobody brings here before they are asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import kernels
import numpy as np
import pytest

import polhode as ph
from polhode.algebra import library
from polhode.bench import batch, batch_gpu
from polhode.simulation import on_gpu, samples_on_gpu
from polhode.simulation.member import kernel_source
from polhode.simulation.tiles import Tiles

pytestmark = pytest.mark.skipif(kernels.COMPILER is None, reason="there is no g++")
MEMBERS = 40
ROUND_OFF = 1e-13  # as in test_kernels


def pretend(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """That arrays of JAX are on a GPU, and that it has kernels."""

    def program(method: Any, system: Any, state: Any) -> Any:
        own = system.own_numbers()
        kernel = kernels.OnCpu(kernel_source(method, system, tuple(jax.tree.leaves(own)), state), folder)
        return on_gpu.OnGpu(kernel, system, own, state)

    patch.setattr(library, "_NEAR", ())
    patch.setattr("polhode.simulation.rungs.program_of_batch", program)
    patch.setattr(samples_on_gpu, "platform", lambda: "gpu")
    patch.setattr(samples_on_gpu, "free_memory", lambda: 10**9)
    patch.setattr("polhode.results.glance._MANY", {"cpu": 1})


def problem(weights: Any = 5.0, spins: Any = None) -> ph.Problem:
    load = ph.Potential(lambda R, weight: weight * R[2, 2], weight=weights)
    spins = np.linspace(5.0, 20.0, MEMBERS) if spins is None else spins
    start = ph.State.of(attitude=ph.exp((0.3, 0.0, 0.0)), omega=spins[:, None] * np.array([0.0, 0.1, 1.0]))
    return ph.Problem(ph.Rotation(ph.RigidBody((5.0, 5.0, 1.0)), load), start)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where kernels are compiled once."""
    return tmp_path_factory.mktemp("kernels")


RUN: dict[str, Any] = {"method": "imidm", "step": 0.01, "steps": 30, "every": 10}


def test_a_run_stays_where_it_is_until_it_is_asked_for(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    here = ph.simulate(problem(), **RUN)
    pretend(monkeypatch, folder)
    there = ph.simulate(problem(), **RUN)
    assert all(isinstance(x, jax.Array) for x in jax.tree.leaves(there.trajectory.states))
    assert there.nothing_wrong
    np.testing.assert_array_equal(there.t, here.t)
    for name in ("momentum", "attitude", "energy"):
        assert isinstance(there[name], np.ndarray)
        np.testing.assert_allclose(there[name], here[name], rtol=0, atol=ROUND_OFF * np.abs(here[name]).max())
    assert there.members == (MEMBERS,)
    more = ph.simulate(there, steps=5)
    whole = ph.simulate(problem(), **RUN | {"steps": 35})
    np.testing.assert_array_equal(more.last_state.momentum.array, whole.last_state.momentum.array)
    assert there.dataset.energy.shape == (4, MEMBERS)


def test_a_tensor_that_is_not_diagonal(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """States are in principal axes while steps are taken."""
    body = ph.RigidBody([[3.0, 0.2, 0.1], [0.2, 2.0, 0.3], [0.1, 0.3, 2.5]])
    start = ph.State.of(omega=np.random.default_rng(1).normal(size=(MEMBERS, 3)))
    here = ph.simulate(body, None, start, method="dmv", step=0.01, steps=20, every=10)
    pretend(monkeypatch, folder)
    there = ph.simulate(body, None, start, method="dmv", step=0.01, steps=20, every=10)
    assert there.nothing_wrong
    np.testing.assert_allclose(there.momentum, here.momentum, rtol=0, atol=ROUND_OFF * 10)


def test_members_that_are_lost_are_named(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    setup = ph.problem("coulomb-wall")
    start = ph.State.of(spatial_momentum=np.array([[0.01, 0, 0], [2, 2, 2], [2, 2.5, 2]]))
    how: dict[str, Any] = {"method": "imidm", "step": 0.5, "steps": 20}
    with pytest.warns(UserWarning, match="of 3 members of the batch were lost"):
        here = ph.simulate(setup.system.body, setup.system.load, start, **how)
    pretend(monkeypatch, folder)
    with pytest.warns(UserWarning, match="of 3 members of the batch were lost"):
        there = ph.simulate(setup.system.body, setup.system.load, start, **how)
    assert [(x.member, x.step) for x in there.lost] == [(x.member, x.step) for x in here.lost]
    np.testing.assert_array_equal(np.isnan(there.momentum), np.isnan(here.momentum))


_PARTS = {"_LARGE": 1, "_NUMBERS": 1, "_AT_ONCE": 1}


@pytest.mark.parametrize(
    ("settings", "members"), [({"_MANY": {"cpu": 1}}, MEMBERS), (_PARTS, 70)], ids=["whole", "parts"]
)
def test_a_glance_sees_what_sentinels_see(
    settings: dict[str, Any], members: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a large batch: one member of many turns up with another energy; also where 64 are looked at at a time."""
    for name, value in settings.items():
        monkeypatch.setattr(f"polhode.results.glance.{name}", value)
    start = ph.State.of(omega=np.ones((members, 3)))
    body = ph.RigidBody(np.tile((1.0, 2.0, 2.5), (members, 1))) if settings is _PARTS else ph.RigidBody((1.0, 2.0, 2.5))
    run = ph.simulate(body, None, start, method="dmv", step=0.01, steps=20, every=10)
    assert run.nothing_wrong
    honest = Tiles.run

    def lies(self: Any, *args: Any) -> Any:
        state, *rest, samples, _ = honest(self, *args)
        jax.tree.leaves(samples)[4][-1, members - 1] *= 1.0 + 1e-9  # of the momentum of one
        return state, *rest, samples, None

    monkeypatch.setattr(Tiles, "run", lies)
    with pytest.raises(ph.StepError, match="it keeps the energy of a free body to round-off"):
        ph.simulate(body, None, start, method="dmv", step=0.01, steps=20, every=10)


def test_members_are_split_over_devices(monkeypatch: pytest.MonkeyPatch, folder: Path, tmp_path: Path) -> None:
    """Over three, though their number is no multiple of that: the same bits as on one."""
    flags = f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count=3"
    command = [sys.executable, __file__, str(folder), str(tmp_path / "found.npy"), "3"]
    subprocess.run(command, env=os.environ | {"XLA_FLAGS": flags}, check=True, timeout=300)
    pretend(monkeypatch, folder)
    np.testing.assert_array_equal(moved(1), np.load(tmp_path / "found.npy"))


def moved(devices: int) -> np.ndarray:
    assert len(jax.devices()) == devices
    run = ph.simulate(problem(), **RUN)
    assert len(jax.tree.leaves(run.trajectory.end.state)[0].devices()) in (1, devices)
    assert run.nothing_wrong
    return run["momentum"]


def test_the_benchmark_of_a_gpu_runs(monkeypatch: pytest.MonkeyPatch, folder: Path, tmp_path: Path) -> None:
    pretend(monkeypatch, folder)

    def made(method: Any, system: Any, own: Any, state: Any) -> Any:
        return kernels.OnCpu(kernel_source(method, system, own, state), folder)

    how: dict[str, Any] = {"sizes": (4,), "steps": 10, "many": (4, 20), "repeats": 1, "methods": ("dmv", "imidm")}
    monkeypatch.setattr(batch_gpu, "_SECONDS", 1e-4)
    rows = batch_gpu.measure(8, made=made, peer=lambda *args: 1e-3, **how)
    assert [row.what for row in rows] == [
        *("dmv by hand, 4 bodies", "dmv, 4 bodies", "dmv by hand, 8 bodies", "dmv, 8 bodies", "imidm, 8 bodies"),
        *("dmv, 8 bodies, 10 steps: the whole call", "imidm, 8 bodies, 10 steps: the whole call"),
        "dmv, 4 bodies, 20 steps: drift of the energy",
    ]
    assert rows[-1].met
    batch.draw(rows, str(tmp_path / "rows.png"))


if __name__ == "__main__":
    where, to, count = sys.argv[1:]
    pretend(pytest.MonkeyPatch(), Path(where))
    np.save(to, moved(int(count)))
