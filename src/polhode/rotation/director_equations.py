"""The rotating body, standard and non-twisting, as differential equations in two forms:
split along and across d3, and in constrained directors (Gebhardt & Romero 2020, 3.4, 3.5, 4).

Right-hand sides for any integrator. A `Rotation` with a twist axis n is the non-twisting body,
d3 = R n; without one it is the standard body, n = e3. Both forms describe the same motion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from polhode.algebra import Mat3, Scalar, Vec3
from polhode.algebra.sphere import split
from polhode.model.checks import InputError
from polhode.rotation.system import Rotation


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class SplitState:
    """The frame (directors as columns), and the spatial momentum π = π⊥ + π∥ d3."""

    frame: Mat3
    across: Vec3  # π⊥
    along: Scalar  # π∥


def _axis(system: Rotation) -> Vec3:
    return Vec3(0.0, 0.0, 1.0) if system.twist_axis is None else system.twist_axis


def split_rate(system: Rotation, t: Scalar, state: SplitState) -> SplitState:
    """(51) for the standard body, (71) for the non-twisting one, with moments m⊥, m∥:

    ∇π⊥ + π∥ ḋ3 = m⊥,   π∥' - π⊥ · ḋ3 = m∥  (or π∥ = 0).
    """
    R, n = state.frame, _axis(system)
    d3 = R @ n
    twisting = system.twist_axis is None
    pi = state.across + d3 * state.along if twisting else state.across
    w = R @ system.omega(R.T @ pi)
    m_across, m_along = split(d3, R @ system.load.torque(t, R, R.T @ w))
    w_across = split(d3, w)[0]
    d3_rate = w_across.cross(d3)
    into_sphere = d3 * -state.across.dot(d3_rate)  # keeps π⊥ across d3
    if twisting:
        across = m_across - d3_rate * state.along + into_sphere
        return SplitState(w.skew() @ R, across, m_along + state.across.dot(d3_rate))
    return SplitState(w_across.skew() @ R, m_across + into_sphere, 0.0 * state.along)


def twist_reaction(system: Rotation, state: SplitState) -> Scalar:
    """μ = π⊥ · ḋ3 (71b, sign as in the errata): the moment -μ d3 keeps a free body from twisting."""
    R, d3 = state.frame, state.frame @ _axis(system)
    w = R @ system.omega(R.T @ state.across)
    return state.across.dot(w.cross(d3))


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class DirectorMotion:
    """Directors as the columns of a matrix, and their velocities."""

    frame: Mat3
    velocity: Mat3


def director_rate(system: Rotation, t: Scalar, state: DirectorMotion) -> DirectorMotion:
    """(64) and (81) with the constraints differentiated: M q̈ + Hᵀλ + Gᵀμ = Q, H q̈ = -H'q̇, G q̈ = -G'q̇.

    Six rows of orthonormality and, for the non-twisting body, one of w∥ = 0. Dense, 15 or 16 unknowns.
    """
    if system.axes is not None:
        raise InputError("director_rate is in principal axes: give system.principal, and directors along these axes")
    R, V = state.frame.array, state.velocity.array
    half = 0.5 * (system.moments.x + system.moments.y + system.moments.z)
    E = half - system.moments.array
    M = jnp.diag(jnp.repeat(E, 3))  # q = (d1, d2, d3)
    q, v = R.T.reshape(9), V.T.reshape(9)

    def rows(q: Any, v: Any) -> Any:
        """H(q) v and G(q) v."""
        R, V = q.reshape(3, 3).T, v.reshape(3, 3).T
        S = R.T @ V
        found = [S[i, j] + S[j, i] for i, j in ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))]
        if system.twist_axis is not None:
            n = _axis(system).skew().array
            found.append(0.5 * jnp.sum((R @ n) * V))
        return jnp.stack(found)

    A = jax.jacfwd(rows, argnums=1)(q, v)
    convective = jax.jvp(lambda q: rows(q, v), (q,), (v,))[1]
    omega = Vec3.of(_axial(R.T @ V) / 2)
    m = (state.frame @ system.load.torque(t, state.frame, omega)).array
    Q = 0.5 * jnp.cross(m, q.reshape(3, 3)).reshape(9)
    k = A.shape[0]
    matrix = jnp.block([[M, A.T], [A, jnp.zeros((k, k))]])
    a = jnp.linalg.solve(matrix, jnp.concatenate([Q, -convective]))[:9]
    return DirectorMotion(state.velocity, Mat3.of(a.reshape(3, 3).T))


def _axial(S: Any) -> Any:
    return jnp.stack([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]])
