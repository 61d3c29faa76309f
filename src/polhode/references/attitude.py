"""Quaternions (w, x, y, z), body to space, for the reference solutions that need a whole attitude."""

from __future__ import annotations

import numpy as np


def matrix(q: np.ndarray) -> np.ndarray:
    """The rotation R of q, of any length but zero, on the last axis: body to space, shape (..., 3, 3)."""
    w, x, y, z = q.tolist() if q.ndim == 1 else np.moveaxis(q, -1, 0)  # plain floats: ten times faster
    n = w * w + x * x + y * y + z * z
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return np.moveaxis(np.array(rows) / n, (0, 1), (-2, -1))


def rate(q: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """q' = ½ q (0, ω) for ω in body axes, rad/s."""
    (w, x, y, z), (a, b, c) = q.tolist(), (0.5 * omega).tolist()
    return np.array([-x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a])


def cross_matrix(v: np.ndarray) -> np.ndarray:
    """S with S w = v × w."""
    x, y, z = v.tolist()
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
