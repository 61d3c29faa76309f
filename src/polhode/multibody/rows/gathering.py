"""Where the numbers of each constraint belong: sums over bodies and dense matrices, by gathering alone.

Every constraint yields small blocks for its own bodies and rows. They are laid end to end,
and a fixed table says which of them stand at each place; a scatter would be a loop.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from polhode.multibody.rows.gathered import Gathered, Group

_WIDE = 8  # numbers added at one place by one gather


def rows_of(group: Group) -> np.ndarray:
    """(constraints, rows): the rows of each constraint in the system."""
    return np.array(group.first)[:, None] + np.arange(group.rows)


def _lists(entries: list[tuple[Any, int]]) -> dict[Any, list[int]]:
    lists: dict[Any, list[int]] = {}
    for place, number in entries:
        lists.setdefault(place, []).append(number)
    return lists


def _table(entries: list[tuple[Any, int]], shape: tuple[int, ...]) -> np.ndarray:
    """For each place the numbers of the blocks that stand there, filled up with 0, which is none."""
    lists = _lists(entries)
    depth = max((len(v) for v in lists.values()), default=1)
    table = np.zeros((*shape, depth), dtype=int)
    for place, numbers in lists.items():
        table[place][: len(numbers)] = numbers
    return table


def _take(blocks: list[Any], table: np.ndarray) -> Any:
    """Σ over the blocks listed for each place."""
    first = jnp.zeros((1, *blocks[0].shape[1:]))
    values = jnp.concatenate([first, *blocks])
    total = values[table[..., 0]]
    for j in range(1, table.shape[-1]):
        total = total + values[table[..., j]]
    return total


def by_row(system: Gathered, blocks: list[Any]) -> Any:
    """(constraints, rows, ...) of each group to (k, ...)."""
    flat = jnp.concatenate([b.reshape((-1, *b.shape[2:])) for b in blocks])
    return flat[np.argsort(np.concatenate([rows_of(g).ravel() for g in system.groups]))]


def by_body(system: Gathered, blocks: list[Any]) -> Any:
    """(constraints, bodies, 6) of each group, summed to (N, 6)."""
    entries, count = [], 1
    for g in system.groups:
        for bodies in g.bodies:
            entries += [((body,), count + j) for j, body in enumerate(bodies)]
            count += len(bodies)
    values = jnp.concatenate([b.reshape(-1, 6) for b in blocks])
    # A body of many constraints is summed a few at a time: one table for all would be as wide as its list.
    while max(map(len, _lists(entries).values()), default=0) > _WIDE:
        parts = [
            (place, numbers[i : i + _WIDE])
            for place, numbers in _lists(entries).items()
            for i in range(0, len(numbers), _WIDE)
        ]
        table = _table([((i,), number) for i, (_, numbers) in enumerate(parts) for number in numbers], (len(parts),))
        values = _take([values], table)
        entries = [(place, i + 1) for i, (place, _) in enumerate(parts)]
    return _take([values], _table(entries, (system.size,)))


def by_row_and_body(system: Gathered, blocks: list[Any]) -> Any:
    """(constraints, rows, bodies, 6) of each group to (k, N, 6)."""
    entries, count = [], 1
    for g in system.groups:
        for rows, bodies in zip(rows_of(g), g.bodies, strict=True):
            for row in rows:
                entries += [((row, body), count + j) for j, body in enumerate(bodies)]
                count += len(bodies)
    return _take([b.reshape(-1, 6) for b in blocks], _table(entries, (system.rows, system.size)))


def by_bodies(system: Gathered, blocks: list[Any]) -> Any:
    """(constraints, bodies, 6, bodies, 6) of each group, summed to (6N, 6N)."""
    entries, count = [], 1
    for g in system.groups:
        for bodies in g.bodies:
            for a in bodies:
                entries += [((a, b), count + j) for j, b in enumerate(bodies)]
                count += len(bodies)
    parts = [jnp.swapaxes(b, 2, 3).reshape(-1, 6, 6) for b in blocks]
    n = system.size
    return jnp.swapaxes(_take(parts, _table(entries, (n, n))), 1, 2).reshape(6 * n, 6 * n)
