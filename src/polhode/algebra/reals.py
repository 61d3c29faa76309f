"""Numbers as users give them, as float64: refused where they would be changed without a word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.algebra.library import on_gpu

_DEEPEST = 64  # axes of a numpy array


def reals(values: Any) -> np.ndarray:
    """A float64 array of its own, numpy's, but of what is on a GPU one there. A ValueError or TypeError, which ends a
    sentence, for what is no real number (booleans, text, complex numbers, masked entries) or does not fit into 64
    bits."""
    if type(values) in (float, np.float64) or (type(values) is np.ndarray and values.dtype == np.float64):
        return np.array(values)
    if type(values) is int and -(2**53) <= values <= 2**53:
        return np.array(float(values))
    if on_gpu(values) and values.dtype in (np.float64, np.float32):
        return values.astype(float)  # there: what JAX has is changed by nobody
    for part in _parts(values, 0):
        if isinstance(part, jax.core.Tracer):
            raise ValueError(
                "inside of jit, vmap or grad it has no value yet. There, make a State(attitude, momentum) and a "
                "System, whose numbers need none, or give numbers"
            )
        if isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part):
            raise ValueError("masked entries have no value; fill them, as in a.filled(0.0)")
        if isinstance(part, bool | np.bool_):
            raise ValueError(f"{part!r} is true or false, not a number")
    try:
        array = np.asarray(values)
    except ValueError as error:
        ragged = "inhomogeneous" in str(error)
        raise ValueError("rows of different lengths do not make an array" if ragged else str(error)) from error
    if array.dtype.kind == "O":
        return np.array([_real(v) for v in array.ravel()], dtype=float).reshape(array.shape)
    if array.dtype.kind == "c":
        raise ValueError("complex numbers would be cut to their real parts; give real ones")
    if not (jnp.issubdtype(array.dtype, jnp.floating) or jnp.issubdtype(array.dtype, jnp.integer)):
        raise ValueError(f"values of type {array.dtype.name} are not numbers")
    with np.errstate(over="ignore", under="ignore"):  # what overflows is infinite, and not finite
        floats = np.array(array, dtype=float)
    if array.dtype.itemsize > 8 and ((floats == 0) & (array != 0)).any():
        raise ValueError("some are too small for 64 bits and would become 0")
    return floats


def _parts(values: Any, depth: int) -> Iterator[Any]:
    """What lists and tuples hold, at any depth."""
    if not isinstance(values, list | tuple):
        yield values
        return
    if depth == _DEEPEST:
        raise ValueError(f"lists are nested more than {_DEEPEST} deep")
    for value in values:
        yield from _parts(value, depth + 1)


def _real(value: Any) -> float:
    kind = getattr(getattr(value, "dtype", None), "kind", "f")
    if kind not in "iuf" or not hasattr(value, "__float__") or np.ndim(value):
        raise ValueError(f"a {type(value).__name__} is not a number")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError("a whole number is too large; the largest is 1.8e308") from None
    if number == 0 and value != 0:
        raise ValueError("some are too small for 64 bits and would become 0")
    return number
