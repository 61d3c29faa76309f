"""Elliptic functions and integrals, elementwise, for any batch shape.

Jacobi's functions and the integral of the third kind share one ladder of arithmetic and
geometric means. Both the parameter m and its complement m1 = 1 - m are asked for, so that
nothing is lost near m = 1, and only terms of one sign are added: sn, cn and dn are right to
a few units in their own last place, however small, up to the rounding of the argument.
At the end, what else keeps those units: sums and products with what their rounding leaves.

References: Abramowitz and Stegun (1964), 16.12; DLMF 19.8, 19.36; Carlson, Numerical
computation of real or complex elliptic integrals, Numer. Algorithms 10 (1995).
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from polhode.algebra.computed_once import evaluated
from polhode.algebra.scalars import Scalar

LEVELS = 9  # of the ladder, which has then converged for any m1 >= LEAST_M1; five would do for m1 > 0.1
LEAST_M1 = 1e-56
_TOGETHER = 3  # levels that are evaluated together
DUPLICATIONS = 12  # of Carlson's integrals: enough for arguments up to 1e7 apart


@dataclass(frozen=True)
class Ladder:
    """The means a_k and b_k, k = 0 ... LEVELS, their 1/a_k, and κ_(k+1) = (a_k - b_k)/(a_k + b_k), one fewer."""

    a: list[Scalar]
    b: list[Scalar]
    inverse: list[Scalar]
    kappa: list[Scalar]

    @classmethod
    def of(cls, a: Scalar, b: Scalar) -> Ladder:
        """For a >= b > 0."""
        rungs = cls([a], [b], [1.0 / a], [])
        for _ in range(LEVELS):
            mean, inverse = 0.5 * (a + b), 2.0 / (a + b)
            rungs.kappa.append(0.5 * (a - b) * inverse)
            a, b = mean, jnp.sqrt(a * b)
            rungs.a.append(a)
            rungs.b.append(b)
            rungs.inverse.append(inverse)
        return rungs


def ascend(rungs: Ladder, s: Scalar, c: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """sn, cn, dn of a_0 t at m = 1 - b_0²/a_0², from the sine and cosine of a_N t (A&S 16.12).

    As s/w, c/w and d/w, so that there is one division; w < 2^(2^LEVELS) is finite.
    """
    d, w = jnp.ones_like(s), jnp.ones_like(s)
    for k in range(LEVELS - 1, -1, -1):
        kappa, s2, c2 = rungs.kappa[k], s * s, c * c
        below = c2 + s2 + kappa * s2  # not 1 + κs²: s² + c² - 1 would double at every level
        rest = rungs.b[k] * rungs.inverse[k + 1]  # 1 - κ
        s, c, d, w = (1.0 + kappa) * (s * w), c * d, c2 + rest * s2, below
        if k % _TOGETHER == 0 and k:
            s, c, d, w = evaluated((s, c, d, w))
    w = 1.0 / w
    return evaluated((s * w, c * w, d * w))


def third_kind(
    rungs: Ladder, e: Scalar, p2: Scalar, s: Scalar, c: Scalar, d: Scalar
) -> tuple[Scalar, tuple[Scalar, Scalar]]:
    """The integral of the third kind at u = a_0 t as (rate, (x, y)): it is rate t - the angle of (x, y), x > 0.

    It is G J, J = ∫ n sn²/(1 + n sn²) du and G = √((1 + n)(n + m)/n), for n >= 0, given by
    p² = a_0² (1 + n) and e = a_0 √(n (n + m)/(1 + n))/2 because these exist where n does not;
    s, c, d are sn, cn, dn of u. Landen's transformation doubles the argument and squares n,
    more or less: with e_1 = e, n_k = (p_k/a_k)² - 1 and e_k = a_k √n_k,

        G J = Σ_(k>=1) [e_k t - 2^-k atan(√n_k sn(2^k a_k t | m_k))].

    The rate, G J(K)/K, is that of DLMF 19.8.6; the arcs are the arguments of dn(u + i v).
    They are halved and added as directions, of whatever length, from the last one back.
    """
    rate, tangents = jnp.zeros_like(e), []
    for k in range(LEVELS):
        s2, c2, ab = s * s, c * c, rungs.a[k] * rungs.b[k]
        ratio, over_d = rungs.b[k] * rungs.inverse[k], 1.0 / d
        s, c = evaluated(((1.0 + ratio) * s * c * over_d, (c2 - ratio * s2) * over_d))
        d = (c2 + ratio * s2) * over_d
        rate = rate + e
        tangents.append(e * rungs.inverse[k + 1] * s)
        # p_(k+1) = (p + a b/p)/2, and e_(k+1) = e √(p_(k+1)² - b_(k+1)²)/(2 p_(k+1)).
        total = p2 + ab
        both = 1.0 / (p2 * total)
        e, p2 = evaluated((0.5 * e * (p2 - ab) * (p2 * both), 0.25 * total * total * (total * both)))
    x, y = jnp.ones_like(s), jnp.zeros_like(s)
    for tangent in reversed(tangents):
        x, y = x - tangent * y, y + tangent * x
        x, y = evaluated((x + jnp.sqrt(x * x + y * y), y))
    return rate + e, (x, y)  # of the next arc only the rate can be felt


def jacobi(u: Scalar, m: Scalar, m1: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """sn, cn and dn of u, 0 <= m <= 1 and m1 = 1 - m >= LEAST_M1."""
    rungs = Ladder.of(jnp.ones_like(u * m), jnp.sqrt(jnp.maximum(m1, LEAST_M1)))
    z = rungs.a[-1] * u
    return ascend(rungs, jnp.sin(z), jnp.cos(z))


def complete_k(m: Scalar, m1: Scalar) -> Scalar:
    """K(m) = π/(2 agm(1, √m1)), which grows like log(16/m1)/2 as m1 -> 0."""
    return 0.5 * jnp.pi / Ladder.of(jnp.ones_like(m * m1), jnp.sqrt(m1)).a[-1]


def carlson_rc(x: Scalar, y: Scalar) -> Scalar:
    """R_C(x, y) = ½ ∫_0^∞ dt/((t + y) √(t + x)), x >= 0, y > 0."""
    first, mean = (x + 2.0 * y) / 3.0, (x + 2.0 * y) / 3.0
    gap, scale = y - first, 1.0
    for _ in range(DUPLICATIONS):
        step = 2.0 * jnp.sqrt(x * y) + y
        x, y, mean, scale = 0.25 * (x + step), 0.25 * (y + step), 0.25 * (mean + step), 0.25 * scale
    s = gap * scale / mean
    s2 = s * s
    series = 1.0 + s2 * (0.3 + s / 7.0 + s2 * (0.375 + s * 9.0 / 22.0 + s2 * (159.0 / 208.0 + s * 1.125)))
    return series / jnp.sqrt(mean)


def carlson_rf(x: Scalar, y: Scalar, z: Scalar) -> Scalar:
    """R_F(x, y, z) = ½ ∫_0^∞ dt/√((t + x)(t + y)(t + z)), arguments >= 0, at most one of them 0."""
    first = mean = (x + y + z) / 3.0
    X, Y, scale = first - x, first - y, 1.0
    for _ in range(DUPLICATIONS):
        x, y, z, mean, _ = _duplicate(x, y, z, mean)
        scale = 0.25 * scale
    X, Y = X * scale / mean, Y * scale / mean
    Z = -X - Y
    E2, E3 = X * Y - Z * Z, X * Y * Z
    series = 1.0 - E2 / 10.0 + E3 / 14.0 + E2 * E2 / 24.0 - 3.0 * E2 * E3 / 44.0
    series = series - 5.0 * E2**3 / 208.0 + 3.0 * E3 * E3 / 104.0 + E2 * E2 * E3 / 16.0
    return series / jnp.sqrt(mean)


def carlson_rj(x: Scalar, y: Scalar, z: Scalar, p: Scalar) -> Scalar:
    """R_J(x, y, z, p) = 3/2 ∫_0^∞ dt/((t + p) √((t + x)(t + y)(t + z))), p > 0."""
    first = mean = (x + y + z + 2.0 * p) / 5.0
    X, Y, Z = first - x, first - y, first - z
    delta, scale, total = (p - x) * (p - y) * (p - z), 1.0, 0.0
    for _ in range(DUPLICATIONS):
        root = jnp.sqrt(p)
        d = (root + jnp.sqrt(x)) * (root + jnp.sqrt(y)) * (root + jnp.sqrt(z))
        total = total + scale / d * carlson_rc(jnp.ones_like(d), 1.0 + delta * scale**3 / (d * d))
        x, y, z, mean, step = _duplicate(x, y, z, mean)
        p, scale = 0.25 * (p + step), 0.25 * scale
    X, Y, Z = X * scale / mean, Y * scale / mean, Z * scale / mean
    P = -0.5 * (X + Y + Z)
    XYZ, P2 = X * Y * Z, P * P
    E2 = X * Y + X * Z + Y * Z - 3.0 * P2
    E3 = XYZ + 2.0 * E2 * P + 4.0 * P2 * P
    E4, E5 = (2.0 * XYZ + E2 * P + 3.0 * P2 * P) * P, XYZ * P2
    series = 1.0 - 3.0 * E2 / 14.0 + E3 / 6.0 + 9.0 * E2 * E2 / 88.0 - 3.0 * E4 / 22.0 - 9.0 * E2 * E3 / 52.0
    series = series + 3.0 * E5 / 26.0 - E2**3 / 16.0 + 3.0 * E3 * E3 / 40.0 + 3.0 * E2 * E4 / 20.0
    series = series + 45.0 * E2 * E2 * E3 / 272.0 - 9.0 * (E3 * E4 + E2 * E5) / 68.0
    return scale * series / (mean * jnp.sqrt(mean)) + 6.0 * total


def _duplicate(x: Scalar, y: Scalar, z: Scalar, mean: Scalar) -> tuple[Scalar, ...]:
    """One step of Carlson's duplication theorem, and its λ."""
    a, b, c = jnp.sqrt(x), jnp.sqrt(y), jnp.sqrt(z)
    step = a * b + b * c + c * a
    return 0.25 * (x + step), 0.25 * (y + step), 0.25 * (z + step), 0.25 * (mean + step), step


def sine_cosine(x: Scalar, rest: Scalar) -> tuple[Scalar, Scalar]:
    """Of x + rest, the rest being small, by the tangent of half the angle: their squares add up to 1 but for a rounding
    that is as often up as down, which those of sine and cosine do not."""
    T = jnp.tan(0.5 * x)
    T = T + 0.5 * rest * (1.0 + T * T)
    T2 = T * T
    return 2.0 * T / (1.0 + T2), (1.0 - T2) / (1.0 + T2)


def two_sum(a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
    """a + b rounded, and the rest."""
    s = a + b
    v = s - a
    return s, jax.lax.stop_gradient((a - (s - v)) + (b - v))


def two_product(a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
    """a b rounded, and the rest (Dekker), whose products of halves are exact, contracted with the sums or not."""
    p = evaluated(a * b)  # rounded once, whoever reads it
    (A, a), (B, b) = _halves(a), _halves(b)
    return p, jax.lax.stop_gradient(((A * B - p) + A * b + a * B) + a * b)


def _halves(a: Scalar) -> tuple[Scalar, Scalar]:
    high = jax.lax.reduce_precision(a, exponent_bits=11, mantissa_bits=25)
    return high, a - high


def double_product(x: tuple[Scalar, Scalar], y: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
    """The product of two numbers of twice the precision, each a number and its rest."""
    p, e = two_product(x[0], y[0])
    e = e + (x[0] * y[1] + x[1] * y[0])
    s = p + e
    return s, e - (s - p)
