"""`ArrayVec3` and `ArrayMat3`: the components of one vector and one matrix, behaving as arrays (3,) and (3, 3).

Users' functions get these: entries, sums and products stay components, which cost nothing in a step, and whatever
else one does with an array (`jnp.cross`, `jnp.linalg.norm`, `R[:2, 1:]`) assembles one. Unlike in `Vec3` there is
no batch in the components, so that a factor of shape (3,) can only mean component by component.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.algebra.scalars import Scalar
from polhode.algebra.vectors import Mat3, Vec3, stack

_INDEX_3, _INDEX_9 = np.arange(3), np.arange(9).reshape(3, 3)


def as_array(value: Vec3 | Mat3) -> ArrayVec3 | ArrayMat3:
    """The same components, seen as an array."""
    return ArrayVec3(*value) if isinstance(value, Vec3) else ArrayMat3(*value.entries)


def _known(value: Any) -> Any:
    """Vectors, matrices and single numbers in components; any other operand as a JAX array."""
    if isinstance(value, _ArrayLike):
        return type(value)(*value.entries)
    if isinstance(value, Vec3 | Mat3):
        return as_array(value)
    if np.isscalar(value):
        return value
    array = value if isinstance(value, jax.Array | np.ndarray) else jnp.asarray(value)
    if array.shape == ():
        return array
    return as_array(Vec3.of(array)) if array.shape == (3,) else jnp.asarray(array)


def _elementwise(op: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """An operator and its reflection."""

    def apply(a: Any, b: Any) -> Any:
        a, b = _known(a), _known(b)
        kinds = {type(x) for x in (a, b) if isinstance(x, _ArrayLike)}
        if len(kinds) > 1 or any(np.ndim(x) for x in (a, b) if not isinstance(x, _ArrayLike)):
            return op(_assembled(a), _assembled(b))
        (kind,) = kinds
        pairs = zip(*(x.entries if isinstance(x, kind) else [x] * kind.size for x in (a, b)), strict=True)
        return kind(*(op(x, y) for x, y in pairs))

    return lambda self, other: apply(self, other), lambda self, other: apply(other, self)


def _compared(op: Callable[[Any, Any], Any]) -> Any:
    return lambda self, other: op(self.__jax_array__(), _assembled(_known(other)))


def _assembled(value: Any) -> Any:
    return value.__jax_array__() if isinstance(value, _ArrayLike) else value


def _numbers(*entries: Any) -> tuple[Any, ...]:
    """One each. A derivative by a vector as a whole has vectors in its place, of which rows and columns are unclear."""
    if any(np.ndim(x) for x in entries):
        raise TypeError(
            "a derivative by R or omega is not an array; take it by jax.numpy.asarray(R) or jax.numpy.asarray(omega)"
        )
    return entries


class _ArrayLike:
    entries: Any
    array: Any
    size: Any
    _index: Any

    __array_ufunc__ = None  # numpy numbers and arrays leave `2.0 * v` to us
    __array_priority__ = 100.0
    __hash__ = None  # type: ignore[assignment]

    def __jax_array__(self) -> jax.Array:
        return jnp.asarray(self.array)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.__jax_array__(), name)

    def __getitem__(self, index: Any) -> Any:
        if any(isinstance(i, jax.Array) for i in (index if isinstance(index, tuple) else (index,))):
            return self.__jax_array__()[index]
        which = self._index[index]
        if which.ndim == 0:
            return self.entries[which]
        picked = [self.entries[i] for i in which.ravel()]
        if which.shape == (3,):
            return ArrayVec3(*picked)
        if which.shape == (3, 3):
            return ArrayMat3(*picked)
        return (jnp.stack([jnp.asarray(x) for x in picked]) if picked else jnp.zeros(0)).reshape(which.shape)

    def __bool__(self) -> bool:
        raise ValueError("the truth of several numbers is ambiguous; use jax.numpy.where, jax.numpy.all or any")

    def __pos__(self) -> Any:
        return self

    def __neg__(self) -> Any:
        return type(self)(*(-x for x in self.entries))

    def __abs__(self) -> Any:
        return type(self)(*(abs(x) for x in self.entries))

    __add__, __radd__ = _elementwise(operator.add)
    __sub__, __rsub__ = _elementwise(operator.sub)
    __mul__, __rmul__ = _elementwise(operator.mul)
    __truediv__, __rtruediv__ = _elementwise(operator.truediv)
    __floordiv__, __rfloordiv__ = _elementwise(operator.floordiv)
    __mod__, __rmod__ = _elementwise(operator.mod)
    __pow__, __rpow__ = _elementwise(operator.pow)
    __eq__ = _compared(operator.eq)
    __ne__ = _compared(operator.ne)
    __lt__ = _compared(operator.lt)
    __le__ = _compared(operator.le)
    __gt__ = _compared(operator.gt)
    __ge__ = _compared(operator.ge)

    def __matmul__(self, other: Any) -> Any:
        return _product(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _product(other, self)

    def dot(self, other: Any) -> Any:
        return _product(self, other)


def _product(a: Any, b: Any) -> Any:
    """a @ b, in components where both are vectors or 3x3 matrices."""
    a, b = (
        as_array(Mat3.of(x)) if np.shape(x) == (3, 3) and not isinstance(x, Mat3) else x for x in map(_known, (a, b))
    )
    if not (isinstance(a, _ArrayLike) and isinstance(b, _ArrayLike)):
        return jnp.matmul(_assembled(a), _assembled(b))
    if isinstance(a, Vec3):
        return Vec3.dot(a, b) if isinstance(b, Vec3) else ArrayVec3(*(Vec3.dot(a, b.column(j)) for j in range(3)))
    if isinstance(b, Vec3):
        return ArrayVec3(*(Vec3.dot(a.row(i), b) for i in range(3)))
    return ArrayMat3(*(Vec3.dot(a.row(i), b.column(j)) for i in range(3) for j in range(3)))


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class ArrayVec3(_ArrayLike, Vec3):
    """A vector that behaves as an array of shape (3,)."""

    size = 3
    shape = (3,)
    ndim = 1
    _index = _INDEX_3

    @property
    def entries(self) -> tuple[Scalar, ...]:
        return _numbers(self.x, self.y, self.z)

    def __iter__(self) -> Any:
        return iter(self.entries)

    @property
    def array(self) -> Any:
        return stack(list(self.entries))

    def scale(self, other: Any) -> Any:
        return self * other

    def cross(self, other: Any) -> Any:
        return as_array(Vec3(*self).cross(Vec3(*_vector(other))))

    def outer(self, other: Any) -> Any:
        return as_array(Vec3(*self).outer(Vec3(*_vector(other))))

    def skew(self) -> Any:
        return as_array(super().skew())


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class ArrayMat3(_ArrayLike, Mat3):
    """A 3x3 matrix that behaves as an array of shape (3, 3)."""

    size = 9
    shape = (3, 3)
    ndim = 2
    _index = _INDEX_9

    @property
    def entries(self) -> tuple[Scalar, ...]:
        return _numbers(*Mat3.entries.fget(self))  # type: ignore[attr-defined]

    def __iter__(self) -> Any:
        return iter(self.row(i) for i in range(3))

    def __len__(self) -> int:
        return 3

    def row(self, i: int) -> Any:
        return as_array(super().row(i))

    def column(self, j: int) -> Any:
        return as_array(super().column(j))

    @property
    def T(self) -> Any:  # noqa: N802
        return as_array(super().T)

    def inverse(self) -> Any:
        return as_array(Mat3(*self.entries).inverse())

    def solve(self, b: Any) -> Any:
        return self.inverse() @ b


def _vector(value: Any) -> Any:
    known = _known(value)
    if not isinstance(known, ArrayVec3):
        raise ValueError(f"a vector of three components is needed; got {value!r}")
    return known
