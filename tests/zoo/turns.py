"""Rotations for the coordinates of references, in JAX, or in numpy of numbers; nothing of them is polhode's."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def library(*values: Any) -> Any:
    """Of numbers NumPy's functions: of JAX's each would be a program of its own."""
    return jnp if any(isinstance(x, jax.Array) for x in values) else np


def cross_matrix(v: Any) -> Any:
    x, y, z = v
    zero = 0.0 * x
    return library(x, y, z).array([[zero, -z, y], [z, zero, -x], [-y, x, zero]])


def about(axis: Any, angle: Any) -> Any:
    """Rodrigues' formula, for a direction of any length."""
    n = library(axis).asarray(axis, dtype=float)
    K = cross_matrix(n / library(n).sqrt(n @ n))
    of_angle = library(angle)
    return np.eye(3) + of_angle.sin(angle) * K + (1.0 - of_angle.cos(angle)) * (K @ K)


def rx(angle: Any) -> Any:
    return about((1, 0, 0), angle)


def ry(angle: Any) -> Any:
    return about((0, 1, 0), angle)


def rz(angle: Any) -> Any:
    return about((0, 0, 1), angle)


def vec(*components: Any) -> Any:
    found = library(*components)
    return found.stack([found.asarray(c, dtype=float) for c in components])
