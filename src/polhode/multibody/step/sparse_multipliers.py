"""Multipliers of many rows that follow from one another: the least of those that pull alike, by sparse matrices."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from polhode.multibody.rows import row_blocks as rows
from polhode.multibody.rows.momenta import extent
from polhode.multibody.start.least_multipliers import PROXIMAL, REFINED, length_of_rows
from polhode.multibody.system import System
from polhode.solve.sparse import SparseSolver


def least_of_blocks(system: System, q: Any, t: Any, Lam: Any) -> Any:
    """The same as `least`: with z = Wᵀx as unknowns too, so that no product of rows is needed,

    z - Wᵀx = 0
    Wz + εx = goal"""
    size = jnp.array([1.0, 1.0, 1.0, *[extent(system, q[0])] * 3])
    A = [block / size for block in rows.blocks_of(system, q, t)]
    moves, turns = (rows.inner(system, *[[b[..., i] for b in A]] * 2) for i in (np.s_[:3], np.s_[3:]))
    length = length_of_rows(moves, turns)
    W = [b / length[g.rows][:, :, None, None] for g, b in zip(system.groups, A, strict=True)]
    n, k = 6 * system.size, system.rows
    values, at, to = _entries(system, W)
    one, rest = np.arange(n), n + np.arange(k)
    rows_at, columns = (np.concatenate([one, *pair, rest]) for pair in ((to, n + at), (n + at, to)))
    solver = SparseSolver(rows_at, columns, n + k, ordered=False)
    numbers = jnp.concatenate([jnp.ones(n), -values, values, jnp.full(k, PROXIMAL)])

    def lifted(b: Any) -> Any:
        return solver(numbers, jnp.pad(b, (n, 0)))[n:]

    def gram(x: Any) -> Any:
        return rows.along(system, W, rows.pull(system, W, x))

    goal = gram(Lam * length)
    x = lifted(goal)
    for _ in range(REFINED):
        x = x + lifted(goal - gram(x))
    return x / length


def _entries(system: System, W: rows.Blocks) -> tuple[Any, np.ndarray, np.ndarray]:
    """Each number of W, with its row and column in (k, 6N)."""
    where = [rows.places_of(g) for g in system.groups]
    at, to = (np.concatenate([w[i].ravel() for w in where]) for i in range(2))
    there = to >= 0
    return jnp.concatenate([b.ravel() for b in W])[there], at[there], to[there]
