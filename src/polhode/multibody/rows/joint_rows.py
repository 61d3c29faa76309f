"""The rows of joints, in closed form, those of all joints together.

With points s_a and s_b of two bodies, d = σ(r_b - r_a) + R_b s_b - R_a s_a and g = e + R_a n, every row is

    φ = d · g + γ(d · d - L²)/2

closure with e an axis of space, or n an axis of a where the joint floats, sliding with n; a right angle with σ = 0 and
directions in the place of points; a rod of fixed length with γ = 1/L alone. With G = g + γd, in space axes,

    δφ = G · δd + d · R_a(δ × n),    δd = σ(δr_b - δr_a) + R_b(δ_b × s_b) - R_a(δ_a × s_a)

and ∂ψ/∂q is the rate of A, seen from space: D_w(A u) = D_u(A w) there. What several terms read is worked out once,
behind a barrier: without it XLA would write it into each of them (a step took 53 µs instead of 49, bicycle).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from polhode.algebra.arrays import cross, dot, product, skew, turn, turn_back
from polhode.algebra.computed_once import computed_once
from polhode.model.pytree import Static, tree
from polhode.multibody.describe.joint import Projection
from polhode.multibody.rows.group import NOWHERE, Group, Motion, Pose
from polhode.multibody.rows.sums import summed


class _Ends(NamedTuple):
    """What all rows read of the poses, (m, 3) each."""

    a: Any  # R_a, (m, 3, 3)
    b: Any
    d: Any  # space axes
    G: Any
    d_a: Any  # in the axes of a
    G_a: Any
    G_b: Any  # in the axes of b


@tree
class JointRows(Group):
    """One row each, between two bodies or a body and the ground."""

    at_a: Any  # (m, 3) s_a
    at_b: Any  # s_b
    turns: Any  # n
    fixed: Any  # e
    moves: Any  # (m,) σ
    stretch: Any  # γ
    length: Any  # L
    bodies: Static[tuple[tuple[int, ...], ...]]
    numbers: Static[tuple[tuple[int, ...], ...]]
    anchors: Static[tuple[bool, ...]]
    rods: Static[bool]  # γ is something somewhere
    holonomic = 1

    @staticmethod
    def of(rows: Sequence[tuple[Projection, tuple[int, int], int, bool]]) -> JointRows:
        """Of each row: what it says, its bodies, its number and whether it is anchored."""
        numbers: dict[str, Any] = {
            name: np.stack([np.asarray(getattr(row, name), dtype=float) for row, *_ in rows])
            for name in Projection._fields
        }
        _, bodies, places, anchored = zip(*rows, strict=True)
        rods = any(row.stretch for row, *_ in rows)
        return JointRows(**numbers, bodies=bodies, numbers=tuple((i,) for i in places), anchors=anchored, rods=rods)

    @property
    def together(self) -> tuple[tuple[int, ...], ...]:
        return tuple(dict.fromkeys(self.bodies))

    def lengths(self) -> list[float]:
        holds = (self.on != NOWHERE) & (np.asarray(self.moves)[:, None] > 0)
        arms = np.linalg.norm(np.stack([self.at_a, self.at_b], axis=1), axis=-1)
        return [*(arms * holds).ravel().tolist(), *np.asarray(self.length).tolist()]

    def _poses(self, q: Pose) -> tuple[Any, Any, Any, Any]:
        """r and R of a, then of b."""
        r, R = _with_ground(q[0], np.zeros(3)), _with_ground(q[1], np.eye(3))
        a, b = self.on.T
        return lax.optimization_barrier((r[a], R[a], r[b], R[b]))

    def _apart(self, q: Pose) -> tuple[Any, Any, Any, Any]:
        """d and g, space axes, and both rotations."""
        r_a, R_a, r_b, R_b = self._poses(q)
        d = jnp.asarray(self.moves)[:, None] * (r_b - r_a) + turn(R_b, self.at_b) - turn(R_a, self.at_a)
        return (*lax.optimization_barrier((d, self.fixed + turn(R_a, self.turns))), R_a, R_b)

    def _ends(self, q: Pose) -> _Ends:
        d, G, R_a, R_b = self._apart(q)
        if self.rods:
            G = G + jnp.asarray(self.stretch)[:, None] * d
        local = lax.optimization_barrier((turn_back(R_a, d), turn_back(R_a, G), turn_back(R_b, G)))
        return _Ends(R_a, R_b, d, G, *local)

    def _two(self, a: tuple[Any, Any], b: tuple[Any, Any]) -> Any:
        """(m, 1, 2, 6) from translation and rotation of each; nothing on the ground."""
        both = jnp.stack([jnp.concatenate(a, axis=-1), jnp.concatenate(b, axis=-1)], axis=1)
        return (both * (self.on != NOWHERE)[..., None])[:, None]

    @computed_once
    def phi(self, q: Pose, t: Any) -> Any:
        d, g, _, _ = self._apart(q)
        value = dot(d, g)
        if self.rods:
            value = value + 0.5 * self.stretch * (dot(d, d) - self.length**2)
        return value[:, None]

    @computed_once
    def blocks(self, q: Pose, t: Any) -> Any:
        e = self._ends(q)
        push = jnp.asarray(self.moves)[:, None] * e.G
        turns_a = cross(self.turns, e.d_a) - cross(self.at_a, e.G_a)
        return self._two((-push, turns_a), (push, cross(self.at_b, e.G_b)))

    def _rates(self, e: _Ends, u: Motion) -> tuple[Any, Any, Any, Any, Any, Any]:
        """Rates of s_a, n and s_b in their bodies, as their bodies turn, and of n, d and G in space."""
        moving = _with_ground(u, np.zeros(6))
        u_a, u_b = moving[self.on[:, 0]], moving[self.on[:, 1]]
        u_a, u_b = lax.optimization_barrier((u_a, u_b))
        s_a, n, s_b = cross(u_a[:, 3:], self.at_a), cross(u_a[:, 3:], self.turns), cross(u_b[:, 3:], self.at_b)
        s_a, n, s_b = lax.optimization_barrier((s_a, n, s_b))
        d = jnp.asarray(self.moves)[:, None] * (u_b[:, :3] - u_a[:, :3]) + turn(e.b, s_b) - turn(e.a, s_a)
        n_space = turn(e.a, n)
        d, n_space = lax.optimization_barrier((d, n_space))
        return s_a, n, s_b, n_space, d, n_space + jnp.asarray(self.stretch)[:, None] * d if self.rods else n_space

    @computed_once
    def psi(self, q: Pose, u: Motion, t: Any) -> Any:
        e = self._ends(q)
        _, _, _, n, d, _ = self._rates(e, u)
        return (dot(e.G, d) + dot(e.d, n))[:, None]

    @computed_once
    def psi_slope(self, q: Pose, u: Motion, t: Any) -> Any:
        e = self._ends(q)
        s_a, n, s_b, _, d, G = self._rates(e, u)
        push = jnp.asarray(self.moves)[:, None] * G
        d_a, G_a, G_b = lax.optimization_barrier((turn_back(e.a, d), turn_back(e.a, G), turn_back(e.b, G)))
        turns_a = cross(n, e.d_a) + cross(self.turns, d_a) - cross(s_a, e.G_a) - cross(self.at_a, G_a)
        return self._two((-push, turns_a), (push, cross(s_b, e.G_b) + cross(self.at_b, G_b)))

    def rate_slope(self, q: Pose, u: Motion, t: Any, Gam: Any) -> Any:
        return Gam[..., None] * self.psi_slope(q, u, t)[:, 0]

    @computed_once
    def wrench_slope(self, q: Pose, u: Motion, t: Any, Lam: Any) -> Any:
        e, moves = self._ends(q), jnp.asarray(self.moves)[:, None, None]
        S_a, S_b, N = skew(jnp.asarray(self.at_a)), skew(jnp.asarray(self.at_b)), skew(jnp.asarray(self.turns))
        along = -moves * product(e.a, N)  # by the translation of b, and the turning of a
        aa = product(S_a, N) + product(N, S_a) - _bent(self.at_a, e.G_a) + _bent(self.turns, e.d_a)
        bb = _bent(self.at_b, e.G_b)
        ba = -product(S_b, product(jnp.swapaxes(e.b, -1, -2), product(e.a, N)))
        o = jnp.zeros_like(aa)
        W = _matrix(((o, -along, o, o), (-_t(along), aa, _t(along), _t(ba)), (o, along, o, o), (o, ba, o, bb)))
        if self.rods:
            one = moves * jnp.eye(3)
            D = jnp.concatenate([-one, product(e.a, S_a), one, -product(e.b, S_b)], axis=-1)
            W = W + jnp.asarray(self.stretch)[:, None, None] * jnp.sum(D[:, :, :, None] * D[:, :, None, :], axis=1)
        pairs = self.together
        entries = [((pairs.index(pair),), i + 1) for i, pair in enumerate(self.bodies)]
        return summed(Lam[..., None] * W, entries, (len(pairs),)).reshape(-1, 2, 6, 2, 6)


def _with_ground(x: Any, ground: np.ndarray) -> Any:
    """The bodies' numbers, then those of the ground, which -1 asks for."""
    return jnp.concatenate([x, jnp.asarray(ground)[None]])


def _bent(s: Any, g: Any) -> Any:
    """Of g · (w × (δ × s)), by w and δ: s gᵀ - (s · g)1."""
    s = jnp.asarray(s)
    return s[:, :, None] * g[:, None, :] - dot(s, g)[:, None, None] * jnp.eye(3)


def _t(A: Any) -> Any:
    return jnp.swapaxes(A, -1, -2)


def _matrix(rows: Any) -> Any:
    """(m, 12, 12) of blocks (m, 3, 3)."""
    return jnp.concatenate([jnp.concatenate(row, axis=-1) for row in rows], axis=-2)
