"""Functions of one number, for whatever kind of number is given.

The components of vectors and rotations may be floats, numpy arrays, JAX arrays
(traced or not) or mpmath numbers. Operators need no help; the functions here pick
numpy, jax.numpy or mpmath by the argument, so that setting up a problem compiles
nothing, a step compiles to one program, and a test can run in thirty digits.
"""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Scalar = Any  # float, numpy array, JAX array or mpmath number; one batch shape in one vector

_SERIES_BELOW = 2.0  # in x = angle squared
_TINY = 1e-300  # keeps √x away from zero, and changes nothing else
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


def rsqrt(x: Scalar) -> Scalar:
    """1/√x, for which a GPU has an instruction."""
    return lax.rsqrt(x) if isinstance(x, jax.Array) else 1.0 / sqrt(x)


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
    return np.asarray(np.where(condition, yes, no))[()]


def stumpff(k: int, x: Scalar) -> Scalar:
    """c_k(x) = 1/k! - x/(k+2)! + x²/(k+4)! - ..., with x >= 0 an angle squared.

    c_0 = cos √x, c_1 = sin √x / √x, c_2 = (1 - cos √x)/x, c_3 = (√x - sin √x)/x^(3/2).
    Entire in x, so exp, dexp and all their derivatives need no case at zero angle.
    """
    if isinstance(x, jax.Array):
        return _derivative_jax(k, 0, x)
    if is_mpmath(x):
        return _stumpff_mpmath(k, x)
    return _derivative(k, 0, x)


def _derivative(k: int, n: int, x: Scalar) -> Scalar:
    """The n-th derivative of c_k."""
    small = x < _SERIES_BELOW
    closed = _closed(_combination(k, n), where(small, _SERIES_BELOW, x))
    return where(small, _series(k, n, x), closed)


def _branched(k: int, n: int, x: Any) -> Any:
    """The same; where no angle is large, as in most steps, without a root, sine and cosine."""
    return lax.cond(jnp.all(x < _SERIES_BELOW), *_ways(k, n), x)


@cache
def _ways(k: int, n: int) -> tuple[partial[Scalar], partial[Scalar]]:
    """The same two functions whenever they are asked for: JAX traces, and outside of a program compiles, each anew."""
    return partial(_series, k, n), partial(_derivative, k, n)


_derivative_jax = jax.custom_jvp(_branched, nondiff_argnums=(0, 1))


@_derivative_jax.defjvp
def _derivative_jvp(k: int, n: int, primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return _derivative_jax(k, n, x), _derivative_jax(k, n + 1, x) * dx


def _series(k: int, n: int, x: Scalar) -> Scalar:
    terms = [(-1.0) ** j * math.perm(j, n) / math.factorial(2 * j + k) for j in range(n, n + _SERIES_TERMS)]
    total = terms.pop()
    while terms:
        total = total * x + terms.pop()
    return total


def _combination(k: int, n: int) -> list[float]:
    """The n-th derivative of c_k as coefficients of c_0, c_1, ..., by c_k' = (k c_(k+2) - c_(k+1)) / 2."""
    weights = [0.0] * k + [1.0]
    for _ in range(n):
        slopes = [0.0] * (len(weights) + 2)
        for j, w in enumerate(weights):
            slopes[j + 1] -= w / 2
            slopes[j + 2] += w * j / 2
        weights = slopes
    return weights


def _closed(weights: list[float], x: Scalar) -> Scalar:
    """Σ weights_j c_j(x) from cos and sin, upwards by c_(j+2) = (1/j! - c_j)/x."""
    root = sqrt(x)
    total = None
    for parity, value in ((0, lambda: cos(root)), (1, lambda: sin(root) / root)):
        if not any(weights[parity::2]):
            continue
        c = value()
        for j in range(parity, len(weights), 2):
            if weights[j]:
                total = weights[j] * c if total is None else total + weights[j] * c
            if any(weights[j + 2 :: 2]):
                c = (1.0 / math.factorial(j) - c) / x
    return total


def _stumpff_mpmath(k: int, x: Any) -> Any:
    context = x.context
    term = context.one / math.factorial(k)
    total, n = term, 0
    while abs(term) > abs(total) * context.eps / 1000:
        term = -term * x / ((2 * n + k + 1) * (2 * n + k + 2))
        total, n = total + term, n + 1
    return total
