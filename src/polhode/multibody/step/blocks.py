"""Matrices over all bodies, (6N, 6N), from the blocks of each."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from polhode.algebra import Vec3
from polhode.algebra.arrays import product, skew, turn_back
from polhode.algebra.computed_once import computed_once
from polhode.algebra.scalars import stumpff
from polhode.multibody.system import System


def halfway(a: Any, b: Any) -> Any:
    """Between the rows of the two ends of a step."""
    return 0.5 * (a + b)


def rotations(blocks: Any) -> Any:
    """(N, 3, 3) on the rotations of (6N, 6N)."""
    return diagonal(jnp.pad(blocks, ((0, 0), (3, 0), (3, 0))))


def diagonal(blocks: Any) -> Any:
    """(N, 6, 6) on the diagonal of (6N, 6N)."""
    N = blocks.shape[0]
    return (blocks[:, :, None, :] * jnp.eye(N)[:, None, :, None]).reshape(6 * N, 6 * N)


def masses(system: System) -> Any:
    """M of each body, (N, 6, 6)."""
    moves = jnp.asarray(system.masses)[:, None, None] * jnp.eye(3)
    turns = jnp.asarray(system.inertias)
    return jnp.pad(moves, ((0, 0), (0, 3), (0, 3))) + jnp.pad(turns, ((0, 0), (3, 0), (3, 0)))


@computed_once
def carry_of(psi: Any) -> Any:
    """dexp(-ψ) of each rotation ψ, (N, 3, 3): how the end turns when the displacement does."""
    x = Vec3(psi[:, 3], psi[:, 4], psi[:, 5]).norm2()[:, None, None]
    S = skew(psi[:, 3:])
    return jnp.eye(3) - stumpff(2, x) * S + stumpff(3, x) * product(S, S)


def carried_by(carry: Any, slopes: Any, N: int) -> Any:
    """A derivative by the end pose, (rows, 6N), as one by the displacement that leads there."""
    parts = slopes.reshape(-1, N, 6)
    return jnp.concatenate([parts[..., :3], turn_back(carry, parts[..., 3:])], axis=-1).reshape(-1, 6 * N)
