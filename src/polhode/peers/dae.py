"""The equations of motion of constrained bodies in absolute coordinates, as a residual F(y, y') = 0.

y = (r, q, v, Ω, λ) of N bodies and k constraint rows: centres of mass and their velocities in space axes, unit
quaternions (w, x, y, z) body to space, angular velocities in body axes, multipliers;

    r' = v,  q' = ½ q (0, Ω),  m v' = m g + Tᵀλ,  J Ω' + Ω × JΩ = Rᵀ Qᵀ λ,  ψ = T v + Q R Ω = 0         (index 2)

With `ggl` also a multiplier η and the equation φ = 0 for each holonomic row, and v + Tᵀη, Ω + Rᵀ Qᵀ η in place
of v, Ω in the first two equations (Gear, Leimkuhler, Gupta, J. Comput. Appl. Math. 12-13 (1985) 77-90): still
index 2, and the joints do not creep apart. The length of q drops out, since R is of q/|q|.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from polhode.peers.constraint_rows import Constraint
from polhode.references.attitude import matrix

_STEP = 1e-30


class _Unknowns(NamedTuple):
    r: np.ndarray  # (..., N, 3)
    q: np.ndarray  # (..., N, 4)
    v: np.ndarray  # (..., N, 3)
    Omega: np.ndarray  # (..., N, 3)
    multipliers: np.ndarray  # λ, (..., k)
    stabilisers: np.ndarray  # η, (..., number of holonomic rows), or none


@dataclass(frozen=True)
class Equations:
    masses: np.ndarray  # (N,), kg
    inertias: np.ndarray  # about the centres of mass, body axes, (N, 3, 3), kg m²
    gravity: np.ndarray  # space axes, (3,), m/s²
    constraints: tuple[Constraint, ...]
    ggl: bool = False

    @property
    def holonomic(self) -> np.ndarray:
        return np.array([is_so for c in self.constraints for is_so in c.holonomic])

    @property
    def algebraic(self) -> np.ndarray:
        """Indices of λ and η in y."""
        count = len(self.holonomic) + (self.holonomic.sum() if self.ggl else 0)
        return 13 * len(self.masses) + np.arange(count)

    def unknowns(self, y: np.ndarray) -> _Unknowns:
        N, k = len(self.masses), len(self.holonomic)
        r, q, v, Omega, multipliers, stabilisers = np.split(y, np.cumsum([3 * N, 4 * N, 3 * N, 3 * N, k]), -1)
        lead = y.shape[:-1]
        r, v, Omega = (part.reshape(*lead, N, 3) for part in (r, v, Omega))
        return _Unknowns(r, q.reshape(*lead, N, 4), v, Omega, multipliers, stabilisers)

    def rows(self, r: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """T and Q of all rows and bodies, (..., k, 3N), Q on angular velocities in body axes."""
        N, k = len(self.masses), len(self.holonomic)
        T = np.zeros((*r.shape[:-2], k, N, 3), r.dtype)
        Q = np.zeros_like(T)
        first = 0
        for constraint in self.constraints:
            last = first + len(constraint.holonomic)
            for row in constraint.rows(r, R):
                T[..., first:last, row.body, :] = row.T
                Q[..., first:last, row.body, :] = row.Q @ R[..., row.body, :, :]
            first = last
        return T.reshape(*T.shape[:-2], 3 * N), Q.reshape(*Q.shape[:-2], 3 * N)

    def residual(self, y: np.ndarray, yp: np.ndarray) -> np.ndarray:
        """F(y, y'), with any number of leading axes, real or complex."""
        now, rate = self.unknowns(y), self.unknowns(yp)
        R = matrix(now.q)
        T, Q = self.rows(now.r, R)
        force, torque = _transposed(T, now.multipliers), _transposed(Q, now.multipliers)
        velocity, turning, gaps = now.v, now.Omega, []
        if self.ggl:
            push = np.zeros_like(now.multipliers)
            push[..., self.holonomic] = now.stabilisers
            velocity = velocity + _transposed(T, push)
            turning = turning + _transposed(Q, push)
            gaps = [c.gap(now.r, R) for c in self.constraints if any(c.holonomic)]
        momentum = (self.inertias @ now.Omega[..., None])[..., 0]
        parts = [
            rate.r - velocity,
            rate.q - _quaternion_rate(now.q, turning),
            rate.v - self.gravity - force / self.masses[:, None],
            (self.inertias @ rate.Omega[..., None])[..., 0] + np.cross(now.Omega, momentum) - torque,
        ]
        slip = _times(T, now.v) + _times(Q, now.Omega)
        return np.concatenate([part.reshape(*y.shape[:-1], -1) for part in parts] + [slip, *gaps], -1)

    def jacobian(self, y: np.ndarray, yp: np.ndarray, cj: float) -> np.ndarray:
        """∂F/∂y + c_j ∂F/∂y', all columns at once by a complex step, so to round-off."""
        step = 1j * _STEP * np.eye(len(y))
        return self.residual(y + step, yp + cj * step).imag.T / _STEP

    def start(self, r: np.ndarray, q: np.ndarray, v: np.ndarray, Omega: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Consistent y, y': v', Ω' and λ solve the equations of motion together with ψ' = 0; η = 0."""
        N, k = len(self.masses), len(self.holonomic)
        place, speed, multiplier = slice(0, 7 * N), slice(7 * N, 13 * N), slice(13 * N, 13 * N + k)
        y = np.concatenate([np.ravel(part) for part in (r, q, v, Omega)] + [np.zeros(len(self.algebraic))])
        yp = np.zeros_like(y)
        yp[place] = -self.residual(y, yp)[place]

        def equations(x: np.ndarray) -> np.ndarray:
            """Affine in x = (v', Ω', λ): the equations of motion, and ψ' by a complex step along y'."""
            at, rate = (np.tile(part, (*x.shape[:-1], 1)) for part in (y, yp))
            rate[..., speed] = x[..., : 6 * N]
            slip_rate = self.residual(at + 1j * _STEP * rate, rate)[..., multiplier].imag / _STEP
            at[..., multiplier] = x[..., 6 * N :]
            return np.concatenate([self.residual(at, rate)[..., speed], slip_rate], -1)

        offset = equations(np.zeros((1, 6 * N + k)))
        x = np.linalg.solve((equations(np.eye(6 * N + k)) - offset).T, -offset[0])
        yp[speed], y[multiplier] = x[: 6 * N], x[6 * N :]
        return y, yp


def _times(rows: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return (rows @ vectors.reshape(*vectors.shape[:-2], -1, 1))[..., 0]


def _transposed(rows: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
    """rowsᵀ multipliers, one vector a body, (..., N, 3)."""
    return (multipliers[..., None, :] @ rows).reshape(*multipliers.shape[:-1], -1, 3)


def _quaternion_rate(q: np.ndarray, Omega: np.ndarray) -> np.ndarray:
    """½ q (0, Ω)."""
    w, u = q[..., :1], q[..., 1:]
    return 0.5 * np.concatenate([-(u * Omega).sum(-1, keepdims=True), w * Omega + np.cross(u, Omega)], -1)
