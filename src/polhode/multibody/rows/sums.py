"""Sums of blocks by place, by gathering alone: a scatter would be a loop.

Blocks are laid end to end, and a fixed table says which of them stand at each place.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

_WIDE = 8  # numbers added at one place by one gather


def _lists(entries: list[tuple[Any, int]]) -> dict[Any, list[int]]:
    lists: dict[Any, list[int]] = {}
    for place, number in entries:
        lists.setdefault(place, []).append(number)
    return lists


def table_of(entries: list[tuple[Any, int]], shape: tuple[int, ...]) -> np.ndarray:
    """For each place the numbers of the blocks that stand there, filled up with 0, which is none."""
    lists = _lists(entries)
    depth = max((len(v) for v in lists.values()), default=1)
    table = np.zeros((*shape, depth), dtype=int)
    for place, numbers in lists.items():
        table[place][: len(numbers)] = numbers
    return table


def taken(values: Any, table: np.ndarray) -> Any:
    """Σ over the blocks listed for each place."""
    values = jnp.concatenate([jnp.zeros((1, *values.shape[1:])), values])
    total = values[table[..., 0]]
    for j in range(1, table.shape[-1]):
        total = total + values[table[..., j]]
    return total


def summed(values: Any, entries: list[tuple[Any, int]], shape: tuple[int, ...]) -> Any:
    """Σ over the blocks of each place. Long lists are summed a few at a time: one table for all would be as wide as
    the longest."""
    while max(map(len, _lists(entries).values()), default=0) > _WIDE:
        parts = [
            (place, numbers[i : i + _WIDE])
            for place, numbers in _lists(entries).items()
            for i in range(0, len(numbers), _WIDE)
        ]
        table = table_of([((i,), number) for i, (_, numbers) in enumerate(parts) for number in numbers], (len(parts),))
        values = taken(values, table)
        entries = [(place, i + 1) for i, (place, _) in enumerate(parts)]
    return taken(values, table_of(entries, shape))
