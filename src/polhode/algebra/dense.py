"""The inverse of a dense matrix, for many products with it inside a compiled loop.

A call to LAPACK cannot be part of a loop that XLA turns into one native function, and for
some fifty unknowns costs more than the arithmetic; elimination written out costs neither.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from polhode.algebra.arrays import inverse3

_BLOCK = 3
_PANEL = 6


def inverse(A: Any) -> Any:
    """A⁻¹ by Gauss-Jordan elimination, three columns at a time, without exchanging rows: for matrices
    whose leading blocks are far from singular, as mass matrices and their Schur complements are."""
    n = A.shape[0]
    if n == 0:
        return A
    size = -(-n // _BLOCK) * _BLOCK
    if size > n:
        A = jnp.pad(A, (0, size - n)) + jnp.diag(jnp.where(jnp.arange(size) < n, 0.0, 1.0))
    places = jnp.arange(size)

    def eliminate(k: Any, A: Any) -> Any:
        first = k * _BLOCK
        rows = lax.dynamic_slice(A, (first, 0), (_BLOCK, size))
        cols = lax.dynamic_slice(A, (0, first), (size, _BLOCK))
        P = inverse3(lax.dynamic_slice(A, (first, first), (_BLOCK, _BLOCK)))
        own = (places >= first) & (places < first + _BLOCK)
        unit = 1.0 * (places == first + jnp.arange(_BLOCK)[:, None])
        # One update for all: own rows become P rows, own columns -cols P, their crossing P.
        right = jnp.where(own, unit, rows)
        r = [P[j, 0] * right[0] + P[j, 1] * right[1] + P[j, 2] * right[2] for j in range(_BLOCK)]
        c = jnp.where(own[:, None], -unit.T, cols)
        keep = jnp.where(own, 0.0, 1.0)
        # Without the barrier the factors would be worked out anew for every entry.
        r0, r1, r2, c, keep = lax.optimization_barrier((*r, c, keep))
        return keep[:, None] * A * keep - c[:, 0:1] * r0 - c[:, 1:2] * r1 - c[:, 2:3] * r2

    A = lax.fori_loop(0, size // _BLOCK, eliminate, A)
    return A[:n, :n]


def matmul(A: Any, B: Any) -> Any:
    """A B, six columns of A at a time. XLA hands `A @ B` of this size to a library, and a loop that
    calls a library is not turned into one native function."""
    n = A.shape[1]
    if not n:
        return jnp.zeros((A.shape[0], B.shape[1]))
    size = -(-n // _PANEL) * _PANEL
    if size > n:
        A, B = jnp.pad(A, ((0, 0), (0, size - n))), jnp.pad(B, ((0, size - n), (0, 0)))

    def add(k: Any, C: Any) -> Any:
        a = lax.dynamic_slice(A, (0, k * _PANEL), (A.shape[0], _PANEL))
        b = lax.dynamic_slice(B, (k * _PANEL, 0), (_PANEL, B.shape[1]))
        for j in range(_PANEL):
            C = C + a[:, j : j + 1] * b[j]
        return C

    return lax.fori_loop(0, size // _PANEL, add, jnp.zeros((A.shape[0], B.shape[1])))
