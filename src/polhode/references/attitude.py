"""Quaternions (w, x, y, z), body to space, for the reference solutions that need a whole attitude."""

from __future__ import annotations

import numpy as np


def matrix(q: np.ndarray) -> np.ndarray:
    """The rotation R of q, of any length but zero, on the last axis: body to space, shape (..., 3, 3)."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    n = w * w + x * x + y * y + z * z
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return np.stack([np.stack(row, -1) for row in rows], -2) / n[..., None, None]


def rate(q: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """q' = ½ q (0, ω) for ω in body axes, rad/s."""
    w, x, y, z = q
    a, b, c = omega
    return 0.5 * np.array(
        [-x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a]
    )


def cross_matrix(v: np.ndarray) -> np.ndarray:
    """S with S w = v × w."""
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
