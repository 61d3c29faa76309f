"""Products of small arrays, written out: XLA fuses these, where `@` and `jnp.cross` become calls."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np


def turn(R: Any, s: Any) -> Any:
    """R s, for (..., 3, 3) and (..., 3)."""
    return R[..., 0] * s[..., 0:1] + R[..., 1] * s[..., 1:2] + R[..., 2] * s[..., 2:3]


def turn_back(R: Any, s: Any) -> Any:
    """Rᵀ s."""
    return R[..., 0, :] * s[..., 0:1] + R[..., 1, :] * s[..., 1:2] + R[..., 2, :] * s[..., 2:3]


def cross(a: Any, b: Any) -> Any:
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    u, v, w = b[..., 0], b[..., 1], b[..., 2]
    return jnp.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)


def dot(a: Any, b: Any) -> Any:
    return a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1] + a[..., 2] * b[..., 2]


def product(A: Any, B: Any) -> Any:
    """A B, for 3x3."""
    return A[..., :, 0:1] * B[..., 0:1, :] + A[..., :, 1:2] * B[..., 1:2, :] + A[..., :, 2:3] * B[..., 2:3, :]


def skew(a: Any) -> Any:
    """The matrix of a ×."""
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    o = jnp.zeros_like(x)
    rows = [jnp.stack(row, axis=-1) for row in ((o, -z, y), (z, o, -x), (-y, x, o))]
    return jnp.stack(rows, axis=-2)


def matrices(quaternions: Any) -> Any:
    """R of unit quaternions (..., 4) as (..., 3, 3); numpy of numpy."""
    library: Any = np if isinstance(quaternions, np.ndarray) else jnp
    w, x, y, z = (quaternions[..., i] for i in range(4))
    rows = (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )
    return library.stack([library.stack(row, axis=-1) for row in rows], axis=-2)


def inverse3(A: Any) -> Any:
    """A⁻¹, for (..., 3, 3)."""
    a, b, c = A[..., 0, :], A[..., 1, :], A[..., 2, :]
    bc = cross(b, c)
    return jnp.stack([bc, cross(c, a), cross(a, b)], axis=-1) / dot(a, bc)[..., None, None]


def over_positive3(A: Any, b: Any) -> Any:
    """A⁻¹b of a symmetric A, (..., 3, 3), with no negative eigenvalue, by Cholesky's elimination: Ax is b to round-off
    however near A is to singular, which an inverse written out does not give."""
    d0 = A[..., 0, 0]
    l1, l2 = A[..., 1, 0] / d0, A[..., 2, 0] / d0
    d1 = A[..., 1, 1] - l1 * A[..., 1, 0]
    m = A[..., 2, 1] - l1 * A[..., 2, 0]
    l3 = m / d1
    y1 = b[..., 1] - l1 * b[..., 0]
    y2 = b[..., 2] - l2 * b[..., 0] - l3 * y1
    z = y2 / (A[..., 2, 2] - l2 * A[..., 2, 0] - l3 * m)
    y = y1 / d1 - l3 * z
    return jnp.stack([b[..., 0] / d0 - l1 * y - l2 * z, y, z], axis=-1)


def root3(A: Any) -> Any:
    """Cholesky's lower root of a positive A, (..., 3, 3)."""
    a = jnp.sqrt(A[..., 0, 0])
    b, c = A[..., 1, 0] / a, A[..., 2, 0] / a
    d = jnp.sqrt(A[..., 1, 1] - b * b)
    e = (A[..., 2, 1] - b * c) / d
    f = jnp.sqrt(A[..., 2, 2] - c * c - e * e)
    o = jnp.zeros_like(a)
    return jnp.stack([jnp.stack(row, axis=-1) for row in ((a, o, o), (b, d, o), (c, e, f))], axis=-2)
