"""Which rows follow from the others: the rank of A, in the metric of kinetic energy.

Where no row comes near to following from those before it, as in chains and trees, a sparse
factorisation says so in linear time. Only otherwise are rows made orthogonal one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

_FAR = 1e-5  # rows all farther than this are independent; its square is far above round-off


def weighted(A: Any, masses: Any, inertias: Any) -> sp.csr_array:
    """A M^(-1/2), each row of length one, of A as (k, 6N), sparse."""
    n = len(masses)
    values, vectors = np.linalg.eigh(np.asarray(inertias))
    root = np.zeros((n, 6, 6))
    root[:, :3, :3] = np.eye(3) / np.sqrt(np.asarray(masses))[:, None, None]
    root[:, 3:, 3:] = vectors / np.sqrt(values)[:, None, :]
    W = A @ sp.bsr_array((root, np.arange(n), np.arange(n + 1))).tocsr()
    length = np.sqrt(W.multiply(W).sum(axis=1))
    return sp.diags_array(1.0 / np.where(length > 0, length, 1.0)) @ W


def dependent(W: sp.csr_array, near: float) -> list[int]:
    """Rows that are combinations of rows before them: nearer than this to their span."""
    if near < _FAR and _all_far(W):
        return []
    dense = W.toarray()
    basis = np.zeros_like(dense)
    found, count = [], 0
    for i, left in enumerate(dense):
        for _ in range(2):  # twice is enough for orthogonality to round-off
            left = left - (basis[:count] @ left) @ basis[:count]
        size = np.linalg.norm(left)
        if size <= near:
            found.append(i)
        else:
            basis[count] = left / size
            count += 1
    return found


def _all_far(W: sp.csr_array) -> bool:
    """Whether every row is far from the span of those before it. The pivots of W Wᵀ, eliminated in the
    order of its rows, are the squares of these distances."""
    try:
        factors = splu((W @ W.T).tocsc(), permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:  # a pivot is exactly zero
        return False
    in_order = np.array_equal(factors.perm_r, factors.perm_c)
    return in_order and bool((factors.U.diagonal() > _FAR**2).all())


def companions(W: sp.csr_array, row: int) -> list[int]:
    """The rows before `row` that it is a combination of, itself included."""
    dense = W.toarray()
    weights = np.linalg.lstsq(dense[:row].T, dense[row], rcond=1e-10)[0] if row else np.zeros(0)
    return [*np.flatnonzero(np.abs(weights) > 1e-6).tolist(), row]
