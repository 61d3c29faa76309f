"""`flow_at`: the functions of time that the motion of a free body is made of.

They are σ, c and d, with σ' = c d, c² = 1 - A σ², d² = 1 - B σ², and the integral G J with
(G J)' = |y| g N σ²/(1 + N σ²); `free_motion` says what A, B, N, g and y are. There are three
ways to compute them: a series in t near the start, hyperbolic functions near the separatrix, and
elliptic functions everywhere else.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax

from polhode.algebra import Scalar
from polhode.algebra.elliptic import LEAST_M1, Ladder, ascend, sine_cosine, third_kind, two_product

# In (λt)². Above this a derivative by A loses no more than four digits to 1 - cn; below it three terms are enough.
_SERIES_BELOW = 1e-4
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


class Flow(NamedTuple):
    """σ, c, d and G J at time t. G J is line + remainder - atan(tangent), the remainder being what rounding took."""

    sigma: Scalar
    c: Scalar
    d: Scalar
    line: Scalar
    remainder: Scalar
    tangent: Scalar


def flow_at(rates: Rates, t: Scalar) -> Flow:
    """The three functions and G J, each by the way that is accurate, with accurate derivatives, there."""
    swapped = rates.difference < 0  # then 1 and 3, c and d, exchange their parts
    A, B = jnp.where(swapped, rates.B, rates.A), jnp.where(swapped, rates.A, rates.B)
    rates = rates._replace(A=A, B=B, difference=jnp.where(swapped, -rates.difference, rates.difference))
    early = A * t * t < _SERIES_BELOW
    A = jnp.where(early, 1.0, A)
    close = ~early & (rates.difference <= A * _HYPERBOLIC_BELOW * jnp.exp(-2.0 * jnp.sqrt(A) * jnp.abs(t)))
    flow = _periodic(_where(early | close, _ORDINARY, rates), t)

    def with_others(rates: Rates, flow: Flow) -> Flow:
        flow = _where(close, _hyperbolic(_where(close, rates, _ORDINARY), t), flow)
        return _where(early, _series(_where(early, rates, _ORDINARY), t), flow)

    flow = lax.cond(jnp.any(early | close), with_others, lambda rates, flow: flow, rates, flow)
    return flow._replace(c=jnp.where(swapped, flow.d, flow.c), d=jnp.where(swapped, flow.c, flow.d))


def _where(flag: Scalar, u: Any, v: Any) -> Any:
    return type(u)(*(jnp.where(flag, p, q) for p, q in zip(u, v, strict=True)))


def _periodic(rates: Rates, t: Scalar) -> Flow:
    least = jnp.maximum(rates.difference, LEAST_M1 * rates.A)
    rungs = Ladder.of(jnp.sqrt(rates.A), jnp.sqrt(least), rates.B)
    z, rest = two_product(rungs.a[-1], t)
    s, c, d = ascend(rungs, *sine_cosine(0.5 * z, 0.5 * rest))
    rate, tangent = third_kind(rungs, rates.e, jnp.sqrt(rates.p2), s, c, d)
    line, rest = two_product(rate, t)
    return Flow(s * rungs.inverse[0], c, d, line, rest, tangent)


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
    return Flow(sign * s / root, c, d, sign * line, jnp.zeros_like(t), jnp.zeros_like(t))


def _series(rates: Rates, t: Scalar) -> Flow:
    """Taylor's, in t."""
    A, B, N = rates.A, rates.B, rates.N
    x, P, Q = t * t, A + B, A * B
    sigma = t * (1.0 - x * (P / 6 - x * ((P * P + 12 * Q) / 120 - x * P * (P * P + 132 * Q) / 5040)))
    c, d = (
        1.0 - p * x * (1 / 2 - x * ((p + 4 * q) / 24 - x * (p * p + 44 * Q + 16 * q * q) / 720))
        for p, q in ((A, B), (B, A))
    )
    cubic, quintic = P / 3 + N, (2 * P * P + 9 * Q) / 45 + 2 * N * P / 3 + N * N
    line = rates.G * N * x * t * (1 / 3 - x * (cubic / 5 - x * quintic / 7))
    return Flow(sigma, c, d, line, 0.0 * t, 0.0 * t)
