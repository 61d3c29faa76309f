"""Columns of a Jacobian, and linear equations of a few unknowns, on pytrees of components of one batch shape."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from polhode.algebra import Mat3, Scalar, Vec3
from polhode.algebra.computed_once import once

Residual = Callable[[Any], Any]
_FEW = 6  # unknowns; LAPACK takes longer, and a loop that calls it is no native function


def solve_linear(g: Callable[[Any], Any], b: Any) -> Any:
    """The x with g(x) = b, for a linear g on a pytree of components."""
    return linear_solver(g, b)(b)


def linear_solver(g: Callable[[Any], Any], like: Any) -> Callable[[Any], Any]:
    """The inverse of a linear g on pytrees of components like `like`."""
    return solver_of(with_columns(g, jax.tree.map(jnp.zeros_like, like))[1], like)


def with_columns(f: Residual, x: Any) -> tuple[Any, list[list[Scalar]]]:
    """f(x), and the columns of its Jacobian, each by its own unknown: no multiplication by those that stand still."""
    leaves, tree = jax.tree.flatten(x)

    def moved(j: int, leaf: Scalar) -> Any:
        return f(jax.tree.unflatten(tree, [*leaves[:j], leaf, *leaves[j + 1 :]]))

    pairs = [jax.jvp(partial(moved, j), (leaf,), (jnp.ones_like(leaf),)) for j, leaf in enumerate(leaves)]
    return pairs[0][0], [jax.tree.leaves(column) for _, column in pairs]


def solver_of(columns: list[list[Scalar]], like: Any) -> Callable[[Any], Any]:
    """The x with Σ x_j column_j = b, for b like `like`."""
    tree, n = jax.tree.structure(like), len(columns)
    if n == 3:
        inverse = once(_inverse, columns)
        return lambda b: jax.tree.unflatten(tree, list(inverse @ Vec3(*jax.tree.leaves(b))))
    backward = _eliminated(columns) if n <= _FEW else _factored(columns)
    return lambda b: jax.tree.unflatten(tree, backward(jax.tree.leaves(b)))


def _eliminated(columns: list[list[Scalar]]) -> Callable[[list[Scalar]], list[Scalar]]:
    """Gaussian elimination written out, of two rows at a time, the one with the larger number first."""
    n = len(columns)
    rows, done = [list(row) for row in zip(*columns, strict=True)], []
    for k in range(n):
        for i in range(k + 1, n):
            other = abs(rows[i][k]) > abs(rows[k][k])
            rows[k], rows[i] = _exchanged(other, rows[k], rows[i])
            factor = rows[i][k] / rows[k][k]
            rows[i] = [b - factor * a for a, b in zip(rows[k], rows[i], strict=True)]
            done.append((k, i, other, factor))

    def solve(b: list[Scalar]) -> list[Scalar]:
        b = list(b)
        for k, i, other, factor in done:
            (b[k],), (b[i],) = _exchanged(other, [b[k]], [b[i]])
            b[i] = b[i] - factor * b[k]
        for k in reversed(range(n)):
            for j in range(k + 1, n):
                b[k] = b[k] - rows[k][j] * b[j]
            b[k] = b[k] / rows[k][k]
        return b

    return solve


def _exchanged(other: Any, a: list[Scalar], b: list[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
    """Both, the second first where `other`."""
    pairs = list(zip(a, b, strict=True))
    return [jnp.where(other, y, x) for x, y in pairs], [jnp.where(other, x, y) for x, y in pairs]


def _factored(columns: list[list[Scalar]]) -> Callable[[list[Scalar]], list[Scalar]]:
    """By LAPACK."""
    factors = jax.scipy.linalg.lu_factor(jnp.stack([jnp.stack(c, axis=-1) for c in columns], axis=-1))

    def solve(b: list[Scalar]) -> list[Scalar]:
        x = jax.scipy.linalg.lu_solve(factors, jnp.stack(b, axis=-1)[..., None])[..., 0]
        return [x[..., i] for i in range(len(columns))]

    return solve


def _inverse(columns: list[list[Scalar]]) -> Mat3:
    return Mat3.from_columns(*(Vec3(*c) for c in columns)).inverse()
