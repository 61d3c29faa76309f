"""`Quaternion` (w, x, y, z): the attitude of a body, taking body to space components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from polhode.algebra.computed_once import once
from polhode.algebra.reals import reals
from polhode.algebra.scalars import Scalar, sqrt, where
from polhode.algebra.vectors import Mat3, Vec3, stack
from polhode.algebra.written import components


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Quaternion:
    """w + x i + y j + z k. The product `p * q` is the rotation q followed by p."""

    w: Scalar
    x: Scalar
    y: Scalar
    z: Scalar

    __repr__ = components

    @classmethod
    def of(cls, values: Any) -> Quaternion:
        """From four numbers (w, x, y, z), or an array whose last axis has length four."""
        if isinstance(values, Quaternion):
            return values
        if not isinstance(values, jax.Array):
            values = reals(values)
        if values.ndim == 0 or values.shape[-1] != 4:
            raise ValueError(f"a quaternion has 4 components (w, x, y, z) in its last axis; got shape {values.shape}")
        return cls(*(values[..., i] for i in range(4)))

    @classmethod
    def identity(cls) -> Quaternion:
        """No rotation, (1, 0, 0, 0)."""
        return cls(1.0, 0.0, 0.0, 0.0)

    @classmethod
    def from_matrix(cls, R: Mat3) -> Quaternion:
        """From a rotation matrix. Four branches, by the largest of |w|, |x|, |y|, |z|,
        so that the division is always by something at least 1/2; w >= 0 is returned."""
        t = R.trace()
        branches = (
            (t, cls(1.0 + t, R.m32 - R.m23, R.m13 - R.m31, R.m21 - R.m12)),
            (R.m11, cls(R.m32 - R.m23, 1.0 - t + 2.0 * R.m11, R.m12 + R.m21, R.m13 + R.m31)),
            (R.m22, cls(R.m13 - R.m31, R.m12 + R.m21, 1.0 - t + 2.0 * R.m22, R.m23 + R.m32)),
            (R.m33, cls(R.m21 - R.m12, R.m13 + R.m31, R.m23 + R.m32, 1.0 - t + 2.0 * R.m33)),
        )
        size, best = branches[0]
        for other_size, other in branches[1:]:
            larger = other_size > size
            best = cls(*(where(larger, a, b) for a, b in zip(other, best, strict=True)))
            size = where(larger, other_size, size)
        unit = best.normalized()
        sign = where(unit.w < 0, -1.0, 1.0)
        return cls(*(sign * c for c in unit))

    @classmethod
    def from_scipy(cls, rotation: Any) -> Quaternion:
        """From scipy.spatial.transform.Rotation, which stores (x, y, z, w)."""
        q = rotation.as_quat()
        return cls(q[..., 3], q[..., 0], q[..., 1], q[..., 2])

    def to_scipy(self) -> Any:
        """As a `scipy.spatial.transform.Rotation`."""
        from scipy.spatial.transform import Rotation

        return Rotation.from_quat(np.asarray(stack([self.x, self.y, self.z, self.w])))

    @property
    def vector(self) -> Vec3:
        """The last three components."""
        return Vec3(self.x, self.y, self.z)

    @property
    def array(self) -> Any:
        """Shape (..., 4), in the order w, x, y, z."""
        return stack([self.w, self.x, self.y, self.z])

    def __iter__(self) -> Any:
        return iter((self.w, self.x, self.y, self.z))

    def __mul__(self, other: Quaternion) -> Quaternion:
        p, q = self.vector, other.vector
        return Quaternion(self.w * other.w - p.dot(q), *(self.w * q + other.w * p + p.cross(q)))

    def __neg__(self) -> Quaternion:
        return Quaternion(-self.w, -self.x, -self.y, -self.z)

    @property
    def conjugate(self) -> Quaternion:
        """The inverse rotation."""
        return Quaternion(self.w, -self.x, -self.y, -self.z)

    def norm(self) -> Scalar:
        """The length."""
        return sqrt(self.w * self.w + self.vector.norm2())

    def normalized(self) -> Quaternion:
        """Of length 1."""
        s = 1.0 / self.norm()
        return Quaternion(self.w * s, self.x * s, self.y * s, self.z * s)

    def renormalized(self) -> Quaternion:
        """Back to unit length from within round-off of it, without a root or a division. Lengths
        within 4e-15 are left alone: scaling by 1 - 1e-16 again and again would round with a bias."""
        s = once(_to_unit, self)
        return Quaternion(self.w * s, self.x * s, self.y * s, self.z * s)

    def rotate(self, v: Vec3) -> Vec3:
        """R v, as v plus an increment: what round-off there is scales with the angle."""
        u = self.vector
        t = 2.0 * u.cross(v)
        return v + (self.w * t + u.cross(t))

    def unrotate(self, v: Vec3) -> Vec3:
        """Rᵀ v."""
        return self.conjugate.rotate(v)

    def matrix(self) -> Mat3:
        """The rotation as a matrix, body to space."""
        w, x, y, z = self
        return Mat3(
            1.0 - 2.0 * (y * y + z * z),
            2.0 * (x * y - w * z),
            2.0 * (x * z + w * y),
            2.0 * (x * y + w * z),
            1.0 - 2.0 * (x * x + z * z),
            2.0 * (y * z - w * x),
            2.0 * (x * z - w * y),
            2.0 * (y * z + w * x),
            1.0 - 2.0 * (x * x + y * y),
        )


def _to_unit(q: Quaternion) -> Scalar:
    excess = q.w * q.w + q.vector.norm2() - 1.0
    return where(abs(excess) > 8e-15, 1.0 - 0.5 * excess, 1.0)
