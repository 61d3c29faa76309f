"""A sparse linear system inside a compiled step: SuperLU, called back on the host.

The places of the numbers are fixed when the step is compiled; the numbers and the right side
are its arguments. The answer depends on them alone: that the factors of the last matrix are
kept, for the next right side with the same matrix, changes its cost and nothing else.

SciPy frees what SuperLU has taken only in the thread that it was taken in, and XLA calls back from whichever it has: so
all of it is done in one.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import jax
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

_PIVOT = 0.1  # the pivot next in order is taken unless another of its column is ten times as large


class SparseSolver:
    """x with Jx = b, where J is the sum of `values` at (`rows`, `columns`) of a square of `size`.

    Unknowns are eliminated in the order they are in, where they are `ordered`, else in one that fills in little. A
    matrix that is singular, or not finite, gives NaN, which a step reports as not converged."""

    def __init__(self, rows: np.ndarray, columns: np.ndarray, size: int, *, ordered: bool = True) -> None:
        self.size, self._spec = size, "NATURAL" if ordered else "COLAMD"
        order = np.lexsort((rows, columns))
        r, c = rows[order], columns[order]
        first = np.flatnonzero(np.r_[True, (np.diff(r) != 0) | (np.diff(c) != 0)])  # of equal places
        self._order, self._first = order, first
        self._indices = r[first].astype(np.int32)
        self._starts = np.searchsorted(c[first], np.arange(size + 1)).astype(np.int32)
        self._last: tuple[np.ndarray, Any] | None = None

    def __call__(self, values: Any, b: Any) -> Any:
        """Under jit, while and scan; member by member under vmap."""
        shape = jax.ShapeDtypeStruct((self.size,), np.float64)
        return jax.pure_callback(self._called, shape, values, b, vmap_method="sequential")

    def _called(self, values: Any, b: Any) -> np.ndarray:
        return _thread(os.getpid()).submit(self._solve, np.asarray(values), np.asarray(b)).result()

    def _solve(self, values: np.ndarray, b: np.ndarray) -> np.ndarray:
        if self._last is None or not np.array_equal(self._last[0], values):
            self._last = (values.copy(), self._factors(values))
        factors = self._last[1]
        return np.full(self.size, np.nan) if factors is None else factors.solve(b)

    def _factors(self, values: np.ndarray) -> Any:
        if not np.isfinite(values).all():
            return None
        data = np.add.reduceat(values[self._order], self._first)
        matrix = sp.csc_matrix((data, self._indices, self._starts), shape=(self.size, self.size), copy=True)
        matrix.eliminate_zeros()  # most blocks of a joint hold more of them than numbers
        try:
            return splu(matrix, permc_spec=self._spec, diag_pivot_thresh=_PIVOT)
        except RuntimeError:  # exactly singular: no step leads on from here
            return None


@cache
def _thread(process: int) -> ThreadPoolExecutor:
    """The one of this process, which a fork has not."""
    return ThreadPoolExecutor(1, "superlu")
