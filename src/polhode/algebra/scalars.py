"""Functions of one number, for whatever kind of number is given.

The components of vectors and rotations may be floats, numpy arrays, JAX arrays
(traced or not) or mpmath numbers. Operators need no help; the functions here pick
numpy, jax.numpy or mpmath by the argument, so that setting up a problem compiles
nothing, a step compiles to one program, and a test can run in thirty digits.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Scalar = Any  # float, numpy array, JAX array or mpmath number; one batch shape in one vector

_SERIES_BELOW = 2.0  # in x = angle squared
_SERIES_TERMS = 12  # the first one left out is below 2**12 / 24! = 7e-21


def is_mpmath(x: Scalar) -> bool:
    return hasattr(x, "_mpf_")


def _call(name: str, x: Scalar) -> Scalar:
    if isinstance(x, jax.Array):
        return getattr(jnp, name)(x)
    if is_mpmath(x):
        return getattr(x.context, name)(x)
    return getattr(np, name)(x)


sqrt = partial(_call, "sqrt")
sin = partial(_call, "sin")
cos = partial(_call, "cos")


def atan2(y: Scalar, x: Scalar) -> Scalar:
    if isinstance(x, jax.Array) or isinstance(y, jax.Array):
        return jnp.arctan2(y, x)
    if is_mpmath(x):
        return x.context.atan2(y, x)
    return np.arctan2(y, x)


def where(condition: Any, yes: Scalar, no: Scalar) -> Scalar:
    if any(isinstance(a, jax.Array) for a in (condition, yes, no)):
        return jnp.where(condition, yes, no)
    if is_mpmath(yes) or is_mpmath(no):
        return yes if condition else no
    return np.where(condition, yes, no)[()]


def stumpff(k: int, x: Scalar) -> Scalar:
    """c_k(x) = 1/k! - x/(k+2)! + x²/(k+4)! - ..., with x an angle squared.

    c_0 = cos √x, c_1 = sin √x / √x, c_2 = (1 - cos √x)/x, c_3 = (√x - sin √x)/x^(3/2).
    Entire in x, so exp, dexp and their derivatives need no case at zero angle:
    c_k' = (k c_(k+2) - c_(k+1)) / 2.
    """
    if isinstance(x, jax.Array):
        return _stumpff_jax(k, x)
    if is_mpmath(x):
        return _stumpff_mpmath(k, x)
    return _stumpff_closed(k, x)


def _horner(k: int, x: Scalar) -> Scalar:
    total = (-1.0) ** (_SERIES_TERMS - 1) / math.factorial(2 * (_SERIES_TERMS - 1) + k)
    for n in range(_SERIES_TERMS - 2, -1, -1):
        total = total * x + (-1.0) ** n / math.factorial(2 * n + k)
    return total


def _stumpff_closed(k: int, x: Scalar) -> Scalar:
    small = x < _SERIES_BELOW
    large = where(small, _SERIES_BELOW, x)  # keeps the unused branch finite
    root = sqrt(large)
    if k % 2 == 0:
        value = cos(root)
    else:
        value = sin(root) / root
    for j in range(k % 2, k, 2):
        value = (1.0 / math.factorial(j) - value) / large
    return where(small, _horner(k, x), value)


_stumpff_jax = jax.custom_jvp(_stumpff_closed, nondiff_argnums=(0,))


@_stumpff_jax.defjvp
def _stumpff_jvp(k: int, primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    slope = 0.5 * (k * _stumpff_jax(k + 2, x) - _stumpff_jax(k + 1, x)) if k else -0.5 * _stumpff_jax(1, x)
    return _stumpff_jax(k, x), slope * dx


def _stumpff_mpmath(k: int, x: Any) -> Any:
    context = x.context
    term = context.one / math.factorial(k)
    total, n = term, 0
    while abs(term) > abs(total) * context.eps / 1000:
        term = -term * x / ((2 * n + k + 1) * (2 * n + k + 2))
        total, n = total + term, n + 1
    return total
