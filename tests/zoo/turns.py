"""Rotations for the coordinates of references, in JAX; nothing of them is polhode's."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp


def cross_matrix(v: Any) -> Any:
    zero = jnp.zeros_like(v[0])
    return jnp.array([[zero, -v[2], v[1]], [v[2], zero, -v[0]], [-v[1], v[0], zero]])


def about(axis: Any, angle: Any) -> Any:
    """Rodrigues' formula, for a direction of any length."""
    n = jnp.asarray(axis, dtype=float)
    K = cross_matrix(n / jnp.sqrt(n @ n))
    return jnp.eye(3) + jnp.sin(angle) * K + (1.0 - jnp.cos(angle)) * (K @ K)


def rx(angle: Any) -> Any:
    return about((1, 0, 0), angle)


def ry(angle: Any) -> Any:
    return about((0, 1, 0), angle)


def rz(angle: Any) -> Any:
    return about((0, 0, 1), angle)


def vec(*components: Any) -> Any:
    return jnp.stack([jnp.asarray(c, dtype=float) for c in components])
