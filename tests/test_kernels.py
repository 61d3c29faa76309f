"""Kernels: every rotation method is written in C, which computes what XLA's loop computes; NVRTC compiles it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import kernels
import polhode as ph
from polhode.kernel import Unwritable
from polhode.methods import all_methods, method_of
from polhode.simulation.member import kernel_source
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


QUICK = ("dmv", "imidm", "akw")
LONG = [name for name in all_methods("rotation") if name not in QUICK]
METHODS = [*QUICK, *(pytest.param(name, marks=pytest.mark.long) for name in LONG)]


@pytest.mark.skipif(kernels.COMPILER is None, reason="there is no g++")
@pytest.mark.parametrize("name", METHODS)
def test_a_kernel_computes_what_xla_does(name: str, tmp_path: Path) -> None:
    method, system, state, own = begun(name)
    call = kernels.compiled(kernel_source(method, system, own, state), tmp_path)
    run = (MEMBERS, 3, 0.5, STEP)
    now, ended, tally = kernels.run(call, *run, (5, STEPS - 5), jax.tree.leaves(system), jax.tree.leaves(state))
    block = Tiles(method, system, state)(system, state, np.int64(3), 0.5, STEP, np.int64(1), np.int64(STEPS))
    for x, y in zip(now, jax.tree.leaves(block.state), strict=True):
        assert np.abs(x - y).max() <= ROUND_OFF * max(np.abs(y).max(), 1.0)
    assert (ended[0] == 1).all()
    assert np.abs(tally[0].max() - block.tally[0]) <= 1  # round-off may decide the last iteration
    once, _, _ = kernels.run(call, *run, (STEPS,), jax.tree.leaves(system), jax.tree.leaves(state))
    for x, y in zip(now, once, strict=True):
        np.testing.assert_array_equal(x, y)
