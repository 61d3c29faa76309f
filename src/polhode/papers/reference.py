"""A reference for bodies that are free or in uniform gravity, to better than 1e-12.

Taylor's method in extended precision (numpy's longdouble, 64 bits of mantissa on x86):
the equations q' = ½ q Ω, Π' = Π × Ω + T with U = weight · R33 are quadratic in q and Π,
so each next Taylor coefficient is a sum of products of earlier ones. Nothing is shared
with the methods under test. `Reference.error` is the difference from a second solution
with shorter steps and another order: what is left is below it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

Real = np.longdouble


@dataclass(frozen=True)
class Reference:
    attitude: np.ndarray  # rotation matrix at the end
    momentum: np.ndarray  # body
    error: float  # largest difference, in either, from the second solution


@lru_cache(maxsize=32)
def reference(
    inertia: tuple[float, float, float],
    weight: float,
    attitude: tuple[float, float, float, float],
    omega: tuple[float, float, float],
    until: float,
) -> Reference:
    """The state at `until` of a body started with a quaternion (w, x, y, z) and Ω (body)."""
    I = np.array(inertia, dtype=Real)
    y = np.concatenate([np.array(attitude, dtype=Real), I * np.array(omega, dtype=Real)])
    y[:4] /= np.sqrt(y[:4] @ y[:4])
    speed = float(np.abs(omega).max()) + np.sqrt(weight / min(inertia))
    steps = int(np.ceil(until * speed / 0.8))
    ends = [_solve(y, I, Real(weight), until, n, order) for n, order in ((steps, 30), (2 * steps, 24))]
    (R, Pi), (R2, Pi2) = ends
    error = max(np.abs(R - R2).max(), np.abs(Pi - Pi2).max())
    return Reference(R.astype(float), Pi.astype(float), float(error))


def _solve(
    y: np.ndarray, I: np.ndarray, weight: Real, until: float, steps: int, order: int
) -> tuple[np.ndarray, np.ndarray]:
    h = Real(until) / steps
    for _ in range(steps):
        c = _coefficients(y, I, weight, order)
        y = c[order]
        for k in range(order - 1, -1, -1):
            y = y * h + c[k]
    q, Pi = y[:4] / np.sqrt(y[:4] @ y[:4]), y[4:]
    w, v = q[0], q[1:]
    skew = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3, dtype=Real) + 2 * w * skew + 2 * skew @ skew, Pi


def _coefficients(y: np.ndarray, I: np.ndarray, weight: Real, order: int) -> np.ndarray:
    """Taylor coefficients of (q, Π); every product is a convolution of those so far."""
    c = np.zeros((order + 1, 7), dtype=Real)
    c[0] = y
    for k in range(order):
        a = c[: k + 1]
        product = a[::-1].T @ np.concatenate([a[:, :4], a[:, 4:] / I], axis=1)  # Σ a_(k-j),i b_j,l
        w, x, yy, z = range(4)
        p, W = (4, 5, 6), (4, 5, 6)
        q_w = -(product[x, W[0]] + product[yy, W[1]] + product[z, W[2]])
        q_x = product[w, W[0]] + product[yy, W[2]] - product[z, W[1]]
        q_y = product[w, W[1]] + product[z, W[0]] - product[x, W[2]]
        q_z = product[w, W[2]] + product[x, W[1]] - product[yy, W[0]]
        # T = weight (R32, -R31, 0) with R32 = 2(yz + wx), R31 = 2(xz - wy)
        T_1 = 2 * weight * (product[yy, z] + product[w, x])
        T_2 = -2 * weight * (product[x, z] - product[w, yy])
        P_1 = product[p[1], W[2]] - product[p[2], W[1]] + T_1
        P_2 = product[p[2], W[0]] - product[p[0], W[2]] + T_2
        P_3 = product[p[0], W[1]] - product[p[1], W[0]]
        slope = [q_w / 2, q_x / 2, q_y / 2, q_z / 2, P_1, P_2, P_3]
        c[k + 1] = np.array(slope, dtype=Real) / (k + 1)
    return c
