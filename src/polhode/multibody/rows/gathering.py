"""Where the numbers of each constraint belong: sums over bodies and dense matrices.

Every constraint yields small blocks for its own bodies and rows.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from polhode.multibody.rows.group import NOWHERE, Gathered
from polhode.multibody.rows.sums import summed, table_of, taken


def by_row(system: Gathered, blocks: list[Any]) -> Any:
    """(constraints, rows, ...) of each group to (k, ...)."""
    flat = jnp.concatenate([b.reshape((-1, *b.shape[2:])) for b in blocks])
    return flat[np.argsort(np.concatenate([g.rows.ravel() for g in system.groups]))]


def by_body(system: Gathered, blocks: list[Any]) -> Any:
    """(constraints, bodies, 6) of each group, summed to (N, 6)."""
    bodies = np.concatenate([g.on.ravel() for g in system.groups])
    entries = [((int(body),), i + 1) for i, body in enumerate(bodies) if body != NOWHERE]
    return summed(jnp.concatenate([b.reshape(-1, 6) for b in blocks]), entries, (system.size,))


def by_row_and_body(system: Gathered, blocks: list[Any]) -> Any:
    """(constraints, rows, bodies, 6) of each group to (k, N, 6)."""
    entries, count = [], 1
    for g in system.groups:
        for rows, bodies in zip(g.numbers, g.bodies, strict=True):
            for row in rows:
                entries += [((row, body), count + j) for j, body in enumerate(bodies) if body != NOWHERE]
                count += len(bodies)
    return taken(jnp.concatenate([b.reshape(-1, 6) for b in blocks]), table_of(entries, (system.rows, system.size)))


def by_bodies(system: Gathered, blocks: list[Any]) -> Any:
    """(together, bodies, 6, bodies, 6) of each group, summed to (6N, 6N)."""
    entries, count = [], 1
    for g in system.groups:
        for bodies in g.together:
            for a in bodies:
                entries += [((a, b), count + j) for j, b in enumerate(bodies) if NOWHERE not in (a, b)]
                count += len(bodies)
    parts = [jnp.swapaxes(b, 2, 3).reshape(-1, 6, 6) for b in blocks]
    n = system.size
    return jnp.swapaxes(summed(jnp.concatenate(parts), entries, (n, n)), 1, 2).reshape(6 * n, 6 * n)
