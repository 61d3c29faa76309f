"""`flow_at`: the functions of time that the motion of a free body is made of.

They are σ, c and d, with σ' = c d, c² = 1 - A σ², d² = 1 - B σ², and the integral G J with
(G J)' = |y| g N σ²/(1 + N σ²); `free_motion` says what A, B, N, g and y are. There are three
ways to compute them: a series in t near the start, hyperbolic functions near the separatrix, and
elliptic functions everywhere else. A program of one member takes one of them alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax

from polhode.algebra import Scalar
from polhode.algebra.elliptic import LEAST_M1, Ladder, ascend, sine_cosine, third_kind, two_product

# In (λt)². Above this a derivative by A loses no more than three digits to 1 - cn; below it six terms are enough.
_SERIES_BELOW = 4e-3
# Of sn, as polynomials in P² and Q: of t³, t⁵ and so on, P in front of every other one, over 3!, 5! and so on.
_SINE = ((1,), (1, 12), (1, 132), (1, 1224, 3024), (1, 11064, 132624), (1, 99636, 4095792, 4390848))
_HYPERBOLIC_BELOW = 1e-8  # in m1 exp(2λ|t|), the square of which is left out


class Rates(NamedTuple):
    """What the three functions and G J depend on."""

    A: Scalar
    B: Scalar
    difference: Scalar  # A - B
    N: Scalar
    G: Scalar  # |y| g, which is G λ
    e: Scalar  # of `third_kind`, and its p²
    p2: Scalar


_ORDINARY = Rates(1.0, 0.5, 0.5, 0.5, 1.0, 0.1, 2.0)  # for the branches not taken: all finite
_ORDINARY_TIME = 0.05


class Flow(NamedTuple):
    """σ, c, d and G J at time t. G J is line + remainder - the angle of (x, y), the remainder being what rounding
    took."""

    sigma: Scalar
    c: Scalar
    d: Scalar
    line: Scalar
    remainder: Scalar
    x: Scalar
    y: Scalar


def flow_at(rates: Rates, t: Scalar) -> Flow:
    """The three functions and G J, each by the way that is accurate, with accurate derivatives, there."""
    swapped = rates.difference < 0  # then 1 and 3, c and d, exchange their parts
    A, B = jnp.where(swapped, rates.B, rates.A), jnp.where(swapped, rates.A, rates.B)
    rates = rates._replace(A=A, B=B, difference=jnp.where(swapped, -rates.difference, rates.difference))
    early = A * t * t < _SERIES_BELOW
    A = jnp.where(early, 1.0, A)
    close = ~early & (rates.difference <= A * _HYPERBOLIC_BELOW * jnp.exp(-2.0 * jnp.sqrt(A) * jnp.abs(t)))
    flow = Flow(*[jnp.zeros_like(A * t)] * len(Flow._fields))
    # Each in one place alone: what a member is does not depend on others. Where nobody is it is left out.
    for mine, way in ((~(early | close), _periodic), (close, _hyperbolic), (early, _series)):
        flow = lax.cond(jnp.any(mine), partial(_by, way), lambda mine, rates, t, flow: flow, mine, rates, t, flow)
    return flow._replace(c=jnp.where(swapped, flow.d, flow.c), d=jnp.where(swapped, flow.c, flow.d))


def _by(way: Callable[[Rates, Scalar], Flow], mine: Scalar, rates: Rates, t: Scalar, flow: Flow) -> Flow:
    return _where(mine, way(_where(mine, rates, _ORDINARY), jnp.where(mine, t, _ORDINARY_TIME)), flow)


def _where(flag: Scalar, u: Any, v: Any) -> Any:
    return type(u)(*(jnp.where(flag, p, q) for p, q in zip(u, v, strict=True)))


def _periodic(rates: Rates, t: Scalar) -> Flow:
    least = jnp.maximum(rates.difference, LEAST_M1 * rates.A)
    rungs = Ladder.of(jnp.sqrt(rates.A), jnp.sqrt(least))
    s, c, d = ascend(rungs, *sine_cosine(*two_product(rungs.a[-1], t)))
    rate, angle = third_kind(rungs, rates.e, rates.p2, s, c, d)
    return Flow(s * rungs.inverse[0], c, d, *two_product(rate, t), *angle)


def _hyperbolic(rates: Rates, t: Scalar) -> Flow:
    """On and near the separatrix: to first order in m1 (A&S 16.15), so that derivatives are right there too."""
    m1, n, root = rates.difference / rates.A, rates.N / rates.A, jnp.sqrt(rates.A)
    v = root * jnp.abs(t)
    w = jnp.minimum(v, 300.0)  # sech 300 = 1e-130 is as good as zero, and its reciprocal finite
    E, F = jnp.exp(-w), -jnp.expm1(-2.0 * w)
    T, h = F / (1.0 + E * E), 2.0 * E / (1.0 + E * E)
    sinh, small = 0.5 * F / E, 0.25 * m1
    s, c, d = T + small * (T - w * h * h), h - small * T * (sinh - w * h), h + small * T * (sinh + w * h)
    arc, one, hat = jnp.sqrt(n) * jnp.arctan(jnp.sqrt(n) * T), 1.0 / (1.0 + n), 1.0 / (1.0 + n * T * T)
    P = (v + arc) * one  # ∫ dv/(1 + n tanh² v)
    slope = v * hat - P + one * (2.0 * n * P - arc - n * T * hat)
    line = rates.G / root * (one * (n * v - arc) + small * slope)
    sign = jnp.where(t < 0, -1.0, 1.0)
    none = jnp.zeros_like(s)
    return Flow(sign * s / root, c, d, sign * line, none, none + 1.0, none)


def _series(rates: Rates, t: Scalar) -> Flow:
    """Taylor's, in t: of σ by its polynomials, of σ² and σ²/(1 + N σ²) by products of series."""
    x, P, Q = t * t, rates.A + rates.B, rates.A * rates.B
    P, Q, N = P * x, Q * x * x, rates.N * x
    P2 = P * P
    sine: list[Scalar] = [jnp.ones_like(P)]
    for k, numbers in enumerate(_SINE, 1):
        total: Scalar = 0.0
        power = -P if k % 2 else jnp.ones_like(P)
        for j, number in reversed(list(enumerate(numbers))):  # the last has the lowest power of P
            total, power = total + number / math.factorial(2 * k + 1) * (power * Q**j), power * P2
        sine.append(total)
    squares = [sum(sine[i] * sine[k - i] for i in range(k + 1)) for k in range(len(sine))]
    inside: list[Scalar] = []
    for k, square in enumerate(squares):
        inside.append(square - N * sum((squares[i] * inside[k - 1 - i] for i in range(k)), 0.0))
    sigma = t * sum(reversed(sine))
    line = rates.G * N * t * sum((1 / (2 * k + 3)) * inside[k] for k in reversed(range(len(inside))))
    sigma2, none = sigma * sigma, jnp.zeros_like(P)
    c, d = jnp.sqrt(1.0 - rates.A * sigma2), jnp.sqrt(1.0 - rates.B * sigma2)
    return Flow(sigma, c, d, line, none, none + 1.0, none)
