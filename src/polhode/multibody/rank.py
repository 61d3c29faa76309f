"""Which rows follow from the others: the rank of A, in the metric of kinetic energy."""

from __future__ import annotations

from typing import Any

import numpy as np

DEPENDENT = 1e-8  # a row nearer to the span of those before it than this (relative) follows from them


def weighted(A: Any, masses: Any, inertias: Any) -> np.ndarray:
    """A M^(-1/2), each row of length one: (k, 6N)."""
    A = np.asarray(A)
    k, n, _ = A.shape
    values, vectors = np.linalg.eigh(np.asarray(inertias))
    root = vectors / np.sqrt(values)[:, None, :]
    W = np.concatenate(
        [A[..., :3] / np.sqrt(np.asarray(masses))[:, None], np.einsum("kbi,bij->kbj", A[..., 3:], root)], -1
    )
    W = W.reshape(k, 6 * n)
    length = np.linalg.norm(W, axis=1, keepdims=True)
    return W / np.where(length > 0, length, 1.0)


def dependent(W: np.ndarray) -> list[int]:
    """Rows that are combinations of rows before them."""
    basis: list[np.ndarray] = []
    found = []
    for i, row in enumerate(W):
        left = row
        for _ in range(2):  # twice is enough for orthogonality to round-off
            for e in basis:
                left = left - (e @ left) * e
        size = np.linalg.norm(left)
        if size <= DEPENDENT:
            found.append(i)
        else:
            basis.append(left / size)
    return found


def companions(W: np.ndarray, row: int) -> list[int]:
    """The rows before `row` that it is a combination of, itself included."""
    weights = np.linalg.lstsq(W[:row].T, W[row], rcond=1e-10)[0] if row else np.zeros(0)
    return [*np.flatnonzero(np.abs(weights) > 1e-6).tolist(), row]
