"""Constraint rows in space axes: ψ = Σ_b T_b v_b + Q_b ω_b = 0, and φ = 0 where a row is holonomic, ψ = φ'.

A_s = [T, Q] as in the three-field paper, section 5. All functions work on arrays with any number of leading
axes and are analytic, so that derivatives can be taken by a complex step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np


class Row(NamedTuple):
    """Of some rows, the part that belongs to one body: blocks of shape (..., rows, 3)."""

    body: int
    T: np.ndarray  # on v, the velocity of the centre of mass in space axes
    Q: np.ndarray  # on ω, in space axes


class Constraint(Protocol):
    """`r` are centres of mass (..., N, 3), `R` rotations body to space (..., N, 3, 3)."""

    @property
    def holonomic(self) -> tuple[bool, ...]:
        """One truth value a row: whether `gap` has a value for it."""

    def rows(self, r: np.ndarray, R: np.ndarray) -> list[Row]: ...

    def gap(self, r: np.ndarray, R: np.ndarray) -> np.ndarray:
        """φ of the holonomic rows, in their order."""


def skew(v: np.ndarray) -> np.ndarray:
    """S with S w = v × w, on the last axis."""
    S = np.zeros((*v.shape, 3), v.dtype)
    S[..., 2, 1] = v[..., 0]
    S[..., 0, 2] = v[..., 1]
    S[..., 1, 0] = v[..., 2]
    return S - np.swapaxes(S, -1, -2)


@dataclass(frozen=True)
class Hinge:
    """A ball joint at s_i of body i and s_j of body j; n of i perpendicular to b and c of j, φ = (R_i n)·(R_j b)."""

    bodies: tuple[int, int]
    points: tuple[np.ndarray, np.ndarray]  # s_i, s_j from the centres of mass, body axes, m
    axis: np.ndarray  # n, axes of body i
    across: np.ndarray  # rows b, c, axes of body j

    holonomic = (True,) * 5

    def rows(self, r: np.ndarray, R: np.ndarray) -> list[Row]:
        (i, j), (s_i, s_j) = self.bodies, self.points
        n_cross = skew(R[..., i, :, :] @ self.axis)
        turns = np.swapaxes(n_cross @ R[..., j, :, :] @ self.across.T, -1, -2)
        T = np.broadcast_to(np.eye(5, 3), (*turns.shape[:-2], 5, 3))
        Q_i, Q_j = skew(R[..., i, :, :] @ s_i), skew(R[..., j, :, :] @ s_j)
        return [Row(i, T, np.concatenate([-Q_i, turns], -2)), Row(j, -T, np.concatenate([Q_j, -turns], -2))]

    def gap(self, r: np.ndarray, R: np.ndarray) -> np.ndarray:
        (i, j), (s_i, s_j) = self.bodies, self.points
        R_i, R_j = R[..., i, :, :], R[..., j, :, :]
        ball = r[..., i, :] + R_i @ s_i - r[..., j, :] - R_j @ s_j
        lean = ((R_i @ self.axis)[..., None, :] @ R_j @ self.across.T)[..., 0, :]
        return np.concatenate([ball, lean], -1)


@dataclass(frozen=True)
class RollingWheel:
    """A thin disk with its axis along body y on z = 0: A_s = [I, a skew(e)], φ = z - a e_z.

    n = R e2, u = k - n (n·k), e = u/|u| with k the normal of the plane, ±e_z, on the side of the wheel.
    """

    body: int
    radius: float
    up: float  # +1 where z points up, -1 where it points down

    holonomic = (False, False, True)

    def _to_centre(self, R: np.ndarray) -> np.ndarray:
        n = R[..., self.body, :, 1]
        u = self.up * (np.array([0.0, 0.0, 1.0]) - n * n[..., 2:])
        return self.radius * u / np.sqrt((u * u).sum(-1))[..., None]

    def rows(self, r: np.ndarray, R: np.ndarray) -> list[Row]:
        Q = skew(self._to_centre(R))
        return [Row(self.body, np.broadcast_to(np.eye(3), Q.shape), Q)]

    def gap(self, r: np.ndarray, R: np.ndarray) -> np.ndarray:
        return r[..., self.body, 2:] - self._to_centre(R)[..., 2:]


@dataclass(frozen=True)
class SphereInCylinder:
    """Body 0, a sphere of radius a inside a cylinder of radius b around z: A_s = [I, -a skew(e1)] along e1, e2, e3."""

    radius: float
    cylinder_radius: float

    holonomic = (True, False, False)

    def rows(self, r: np.ndarray, R: np.ndarray) -> list[Row]:
        x, y = r[..., 0, 0], r[..., 0, 1]
        c, s = x / np.sqrt(x * x + y * y), y / np.sqrt(x * x + y * y)
        zero = np.zeros_like(c)
        e1, e2 = np.stack([c, s, zero], -1), np.stack([-s, c, zero], -1)
        e3 = np.broadcast_to([0.0, 0.0, 1.0], e1.shape)
        return [Row(0, np.stack([e1, e2, e3], -2), self.radius * np.stack([0 * e1, e3, -e2], -2))]

    def gap(self, r: np.ndarray, R: np.ndarray) -> np.ndarray:
        x, y = r[..., 0, 0], r[..., 0, 1]
        return (np.sqrt(x * x + y * y) - (self.cylinder_radius - self.radius))[..., None]
