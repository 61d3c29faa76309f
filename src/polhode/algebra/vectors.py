"""`Vec3` and `Mat3`: three and nine components with the operators of mathematics.

Each component is a scalar or an array of any one batch shape, so a formula written
for one body is also the formula for a batch, and XLA fuses it into one kernel: no
small array is ever assembled inside a step.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.algebra.reals import reals
from polhode.algebra.scalars import Scalar, sqrt
from polhode.algebra.written import components


def stack(components: list[Scalar]) -> Any:
    """Components side by side in a new last axis (numpy, or JAX if any of them is)."""
    library: Any = jnp if any(isinstance(c, jax.Array) for c in components) else np
    return library.stack(library.broadcast_arrays(*components), axis=-1)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Vec3:
    """A vector of three components."""

    x: Scalar
    y: Scalar
    z: Scalar

    __array_ufunc__ = None  # numpy numbers leave `2.0 * v` to us
    __repr__ = components

    @classmethod
    def of(cls, values: Any) -> Vec3:
        """From three numbers, or an array whose last axis has length three."""
        if isinstance(values, Vec3):
            return values
        if not isinstance(values, jax.Array):
            values = reals(values)
        if values.ndim == 0 or values.shape[-1] != 3:
            raise ValueError(f"a vector has 3 components in its last axis; got shape {values.shape}")
        return cls(values[..., 0], values[..., 1], values[..., 2])

    @property
    def array(self) -> Any:
        """Shape (..., 3)."""
        return stack([self.x, self.y, self.z])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.array, dtype=dtype)

    def __getitem__(self, i: int) -> Scalar:
        return (self.x, self.y, self.z)[i]

    def __iter__(self) -> Any:
        return iter((self.x, self.y, self.z))

    def __len__(self) -> int:
        return 3

    def __add__(self, other: Vec3) -> Vec3:
        return Vec3(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vec3) -> Vec3:
        return Vec3(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> Vec3:
        return Vec3(-self.x, -self.y, -self.z)

    def __mul__(self, s: Scalar) -> Vec3:
        if isinstance(s, Vec3 | Mat3):
            return NotImplemented
        return Vec3(self.x * s, self.y * s, self.z * s)

    __rmul__ = __mul__

    def __truediv__(self, s: Scalar) -> Vec3:
        if isinstance(s, Vec3 | Mat3):
            return NotImplemented
        return Vec3(self.x / s, self.y / s, self.z / s)

    def scale(self, other: Vec3) -> Vec3:
        """Component by component: a diagonal matrix applied to a vector."""
        return Vec3(self.x * other.x, self.y * other.y, self.z * other.z)

    def dot(self, other: Vec3) -> Scalar:
        """The scalar product."""
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: Vec3) -> Vec3:
        """The vector product."""
        return Vec3(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )

    def outer(self, other: Vec3) -> Mat3:
        """The matrix of all products of components."""
        return Mat3.from_rows(other * self.x, other * self.y, other * self.z)

    def norm2(self) -> Scalar:
        """The square of the length."""
        return self.dot(self)

    def norm(self) -> Scalar:
        """The length; at zero it has no derivative."""
        return sqrt(self.norm2())

    def skew(self) -> Mat3:
        """The matrix of v ×."""
        o = 0.0 * self.x
        return Mat3(o, -self.z, self.y, self.z, o, -self.x, -self.y, self.x, o)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Mat3:
    """A 3x3 matrix; `R[0, 2]` or `R.m13`, columns `R[:, 2]` and rows `R[2]` as `Vec3`."""

    m11: Scalar
    m12: Scalar
    m13: Scalar
    m21: Scalar
    m22: Scalar
    m23: Scalar
    m31: Scalar
    m32: Scalar
    m33: Scalar

    __repr__ = components

    __array_ufunc__ = None

    @classmethod
    def of(cls, values: Any) -> Mat3:
        """From rows, or an array whose last two axes are 3x3."""
        if isinstance(values, Mat3):
            return values
        if not isinstance(values, jax.Array):
            values = reals(values)
        if values.shape[-2:] != (3, 3):
            raise ValueError(f"a 3x3 matrix is needed in the last two axes; got shape {values.shape}")
        return cls(*(values[..., i, j] for i in range(3) for j in range(3)))

    @classmethod
    def identity(cls) -> Mat3:
        """1."""
        return cls(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)

    @classmethod
    def from_rows(cls, a: Vec3, b: Vec3, c: Vec3) -> Mat3:
        """With these rows."""
        return cls(*a, *b, *c)

    @classmethod
    def from_columns(cls, a: Vec3, b: Vec3, c: Vec3) -> Mat3:
        """With these columns."""
        return cls.from_rows(a, b, c).T

    @property
    def entries(self) -> tuple[Scalar, ...]:
        """All nine, row by row."""
        return tuple(getattr(self, f.name) for f in fields(self))

    @property
    def array(self) -> Any:
        """Shape (..., 3, 3)."""
        flat = stack(list(self.entries))
        return flat.reshape((*flat.shape[:-1], 3, 3))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.array, dtype=dtype)

    def row(self, i: int) -> Vec3:
        """Row i, counted from 0."""
        return Vec3(*self.entries[3 * i : 3 * i + 3])

    def column(self, j: int) -> Vec3:
        """Column j, counted from 0."""
        return Vec3(*self.entries[j::3])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple):
            i, j = index
            if i == slice(None):
                return self.column(range(3)[j])
            return self.row(i) if j == slice(None) else self.row(range(3)[i])[j]
        return self.row(range(3)[index])

    @property
    def T(self) -> Mat3:  # noqa: N802
        """The transpose."""
        e = self.entries
        return Mat3(e[0], e[3], e[6], e[1], e[4], e[7], e[2], e[5], e[8])

    def __add__(self, other: Mat3) -> Mat3:
        return Mat3(*(a + b for a, b in zip(self.entries, other.entries, strict=True)))

    def __sub__(self, other: Mat3) -> Mat3:
        return Mat3(*(a - b for a, b in zip(self.entries, other.entries, strict=True)))

    def __neg__(self) -> Mat3:
        return Mat3(*(-a for a in self.entries))

    def __mul__(self, s: Scalar) -> Mat3:
        if isinstance(s, Vec3 | Mat3):
            return NotImplemented
        return Mat3(*(a * s for a in self.entries))

    __rmul__ = __mul__

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Vec3 | Mat3) and type(other) not in (Vec3, Mat3):
            return NotImplemented  # components that behave as arrays know their own product
        if isinstance(other, Vec3):
            return Vec3(*(self.row(i).dot(other) for i in range(3)))
        if isinstance(other, Mat3):
            return Mat3.from_columns(*(self @ other.column(j) for j in range(3)))
        return self @ Vec3.of(other)

    def trace(self) -> Scalar:
        """The sum of the diagonal."""
        return self.m11 + self.m22 + self.m33

    def det(self) -> Scalar:
        """The determinant."""
        return self.column(0).dot(self.column(1).cross(self.column(2)))

    def inverse(self) -> Mat3:
        """By Cramer's rule in cross products."""
        p, q, r = self.column(0), self.column(1), self.column(2)
        qr = q.cross(r)
        s = 1.0 / p.dot(qr)
        return Mat3.from_rows(qr * s, r.cross(p) * s, p.cross(q) * s)

    def solve(self, b: Vec3) -> Vec3:
        """The x with `self @ x = b`."""
        return self.inverse() @ b
