"""The unit sphere S²: exponential, logarithm, parallel transport, splitting, the non-twisting frame.

Gebhardt & Romero (2020), section 2. Points and vectors are `Vec3` in space; any batch shape.
Coincident points are no exception. Between antipodal points every great circle is shortest;
one of them is chosen, always the same for the same point, and log and transport agree on it.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from polhode.algebra.scalars import Scalar, atan2, sqrt, stumpff, where
from polhode.algebra.vectors import Mat3, Vec3


def exp(d: Vec3, v: Vec3) -> Vec3:
    """Where the great circle from d with tangent v arrives after length |v| (6)."""
    x = v.norm2()
    return d * stumpff(0, x) + v * stumpff(1, x)


def log(d: Vec3, e: Vec3) -> Vec3:
    """The tangent vector at d whose exp is e, of length at most π (7)."""
    u, theta = _direction(d, e)
    return u * theta


def transport(d: Vec3, e: Vec3, w: Vec3) -> Vec3:
    """The tangent vector w at d moved to e along the great circle between them, parallel (10)."""
    u, _ = _direction(d, e)
    along = w.dot(u)
    sine, cosine = e.dot(u), d.dot(e)
    return w - (u * (1.0 - cosine) + d * sine) * along


def covariant_derivative(d: Vec3, dv: Vec3) -> Vec3:
    """(1 - d ⊗ d) v': the rate of a vector field along a curve, seen from the sphere (5)."""
    return dv - d * d.dot(dv)


def split(d: Vec3, v: Vec3) -> tuple[Vec3, Scalar]:
    """v = v⊥ + v∥ d (12)."""
    along = d.dot(v)
    return v - d * along, along


def split_tensor(T: Mat3, d: Vec3, e: Vec3) -> tuple[Mat3, Scalar, Scalar]:
    """T⊥ (from the plane across d to that across e), T∥ = e · T d, and what neither holds: the
    size of the mixed parts, zero if T splits from d to e (13)."""
    along = e.dot(T @ d)
    across = T - e.outer(d) * along
    out, back = T @ d - e * along, T.T @ e - d * along
    mixed = sqrt(out.norm2() + back.norm2())
    return across - out.outer(d) - e.outer(back), along, mixed


def bishop_frame(d3: Vec3, d1: Vec3) -> Mat3:
    """The non-twisting frame along a curve on the sphere (19): d3 holds its points in order, components
    of shape (n, ...), and d1 is the first director at the first point. The frames have shape
    (n, ...), columns d1, d2, d3. Exact along great circles, second order in the spacing else."""
    d3 = jax.tree.map(jnp.asarray, d3)
    first = jax.tree.map(lambda c: c[0], d3)
    start = covariant_derivative(first, jax.tree.map(jnp.asarray, d1))
    start = start / start.norm()

    def move(now: Any, point: Vec3) -> Any:
        here, v = now
        v = covariant_derivative(point, transport(here, point, v))  # tangent to round-off, always
        v = v / v.norm()
        return (point, v), v

    _, rest = jax.lax.scan(move, (first, start), jax.tree.map(lambda c: c[1:], d3))
    first_directors = jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), start, rest)
    return Mat3.from_columns(first_directors, d3.cross(first_directors), d3)


def twist_angle(frame: Mat3, reference: Mat3) -> Scalar:
    """ψ of (24): how far `frame` is turned about their common d3 against `reference`, in (-π, π]."""
    d1 = frame.column(0)
    return atan2(d1.dot(reference.column(1)), d1.dot(reference.column(0)))


def twist_rate(frame: Mat3, rate: Mat3) -> Scalar:
    """ψ' = ḋ1 · d2 of (26), from the frame and its derivative; zero for a non-twisting frame (18)."""
    return rate.column(0).dot(frame.column(1))


def perpendicular(d: Vec3) -> Vec3:
    """A unit vector across d, the same for the same d: d × the axis that is farthest from it."""
    x, y, z = (abs(c) for c in d)
    use_x = (x <= y) & (x <= z)
    use_y = ~use_x & (y <= z)
    one, zero = 1.0 + 0.0 * d.x, 0.0 * d.x
    axis = Vec3(where(use_x, one, zero), where(use_y, one, zero), where(use_x | use_y, zero, one))
    v = d.cross(axis)
    return v / v.norm()


def _direction(d: Vec3, e: Vec3) -> tuple[Vec3, Scalar]:
    """Unit tangent at d towards e, and the angle between them."""
    across = d.cross(e)
    s2, cosine = across.norm2(), d.dot(e)
    none = s2 == 0.0  # coincident or antipodal: any direction will do
    s = sqrt(where(none, 1.0 + 0.0 * s2, s2))
    fallback = perpendicular(d)
    tangent = across.cross(d)
    u = Vec3(*(where(none, b, a / s) for a, b in zip(tangent, fallback, strict=True)))
    return u, atan2(where(none, 0.0 * s, s), cosine)
