"""Columns of a sparse Jacobian that no equation reads together: their derivatives are had by one direction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp
from jax import lax

_SIDE_BY_SIDE = 32  # directions


class Colours:
    """Of a pattern, (equations, unknowns): where derivatives may be other than zero (Curtis, Powell & Reid 1974)."""

    def __init__(self, pattern: Any) -> None:
        pattern = sp.csc_array(pattern, dtype=np.int32)
        self.rows, self.columns = pattern.tocoo().coords
        self.of = _coloured(pattern)
        self.count = int(self.of.max(initial=-1)) + 1

    def values(self, fn: Callable[[Any, Any], Any], y: Any, c: Any) -> tuple[Any, Any]:
        """The derivatives of fn(y, c) by y, at `rows` and `columns`; and along all of c at once."""
        times = -(-(self.count + 1) // _SIDE_BY_SIDE)
        each = -(-(self.count + 1) // times)
        seeds = np.zeros((times * each, len(self.of) + len(c)))
        seeds[self.of, np.arange(len(self.of))] = 1.0
        seeds[self.count, len(self.of) :] = 1.0

        along = jax.linearize(fn, y, c)[1]
        found = lax.map(jax.vmap(lambda e: along(*jnp.split(e, [len(y)]))), jnp.asarray(seeds).reshape(times, each, -1))
        found = found.reshape(times * each, -1)
        return found[self.of[self.columns], self.rows], found[self.count]


def _coloured(pattern: sp.csc_array) -> np.ndarray:
    """The first colour for each column that no column has which shares a row with it."""
    meets = sp.csr_array(pattern.T @ pattern)
    of = np.full(pattern.shape[1], -1)
    for i in range(len(of)):
        near = of[meets.indices[meets.indptr[i] : meets.indptr[i + 1]]]
        taken = np.zeros(len(near) + 1, dtype=bool)
        taken[near[(near >= 0) & (near <= len(near))]] = True
        of[i] = int(np.argmin(taken))
    return of
