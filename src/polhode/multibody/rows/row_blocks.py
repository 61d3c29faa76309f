"""A of a whole system as it comes from its constraints: a block (rows, bodies, 6) each, never (k, N, 6).

`Blocks` holds one array (constraints, rows, bodies, 6) for every group of like constraints.
Sums over bodies and rows are gathers (see `sums`), so all of it takes time linear in the
number of constraints.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp

from polhode.algebra.arrays import turn
from polhode.multibody.rows.gathering import by_body, by_row
from polhode.multibody.rows.group import Gathered, Group, Pose

Blocks = list[Any]


def blocks_of(system: Gathered, q: Pose, t: Any) -> Blocks:
    """A, in body axes."""
    return [g.blocks(q, t) for g in system.groups]


def turned(system: Gathered, R: Any, blocks: Blocks) -> Blocks:
    """The last three of each six turned by R, (N, 3, 3), of their body."""
    return [
        jnp.concatenate([b[..., :3], turn(R[g.on][:, None], b[..., 3:])], axis=-1)
        for g, b in zip(system.groups, blocks, strict=True)
    ]


def over_masses(system: Gathered, per_mass: tuple[Any, Any], blocks: Blocks) -> Blocks:
    """M⁻¹aᵀ of every row a."""
    m, J = per_mass
    parts = []
    for g, b in zip(system.groups, blocks, strict=True):
        at = g.on
        parts.append(jnp.concatenate([m[at][:, None, :, None] * b[..., :3], turn(J[at][:, None], b[..., 3:])], axis=-1))
    return parts


def pull(system: Gathered, blocks: Blocks, Lam: Any) -> Any:
    """AᵀΛ, (N, 6)."""
    if not blocks:
        return jnp.zeros((system.size, 6))
    pairs = zip(system.groups, blocks, strict=True)
    return by_body(system, [jnp.sum(b * Lam[g.rows][:, :, None, None], axis=1) for g, b in pairs])


def along(system: Gathered, blocks: Blocks, u: Any) -> Any:
    """Aϑ, (k,)."""
    if not blocks:
        return jnp.zeros(0)
    pairs = zip(system.groups, blocks, strict=True)
    return by_row(system, [jnp.sum(b * u[g.on][:, None], axis=(2, 3)) for g, b in pairs])


def inner(system: Gathered, blocks: Blocks, others: Blocks) -> Any:
    """a · b of every row a of one with the same row b of the other, (k,)."""
    if not blocks:
        return jnp.zeros(0)
    return by_row(system, [jnp.sum(a * b, axis=(2, 3)) for a, b in zip(blocks, others, strict=True)])


def places_of(group: Group) -> tuple[np.ndarray, np.ndarray]:
    """Row and column in (k, 6N) of every number of a block, each (constraints, rows, bodies, 6)."""
    columns = 6 * group.on[:, None, :, None] + np.arange(6)
    return tuple(np.broadcast_arrays(group.rows[:, :, None, None], columns))  # type: ignore[return-value]


def matrix_of(system: Gathered, blocks: Blocks) -> sp.csr_array:
    """(k, 6N), of numbers that are known."""
    where = [places_of(g) for g in system.groups]
    rows, columns = (np.concatenate([w[i].ravel() for w in where]) for i in range(2))
    values = np.concatenate([np.asarray(b).ravel() for b in blocks])
    somewhere = columns >= 0
    rows, columns, values = rows[somewhere], columns[somewhere], values[somewhere]
    return sp.csr_array((values, (rows, columns)), shape=(system.rows, 6 * system.size))
