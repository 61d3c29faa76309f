"""`free_motion`: the exact motion of a body that no torque acts on.

With moments in the order I1 <= I2 <= I3 and a = 1/I1 - 1/I2, b = 1/I2 - 1/I3, g = a + b,
Euler's equations are y1' = -b y2 y3, y2' = g y3 y1, y3' = -a y1 y2, the same for 1 and 3
exchanged. Let k1² = y1² + (b/g) y2² and k3² = y3² + (a/g) y2², so that k1² + k3² = |y|², and
A = b g k3², B = a g k1². The solution is rational in the start and in the three functions

    σ' = c d, c² = 1 - A σ², d² = 1 - B σ²   (σ = sn(λt)/λ; c, d = cn, dn, or dn, cn if B > A)

by their addition theorem: no phase of the start is needed, and no case is singular. The
attitude is R = R0 B0 R_z(ψ) B(t)ᵀ, B = [n, ŷ × n, ŷ], n ∝ e × ŷ, with e that of the axes 1
and 3 whose k is the smaller, so |e × ŷ| >= 1/√2 always. With f the other of these axes,
δ = |1/I2 - 1/If|, the addition theorem of the third kind and y2 at the start written y2°,

    ψ = |y| t/If ± (G J(t) + χ),   χ = arg(y2² + yf² - δσ y2° y1 y3 + i δσ y2° y2 |y|),
    (G J)' = |y| g N σ²/(1 + N σ²),   N = δ g ke².

Near the separatrix, A - B = g (b y3² - a y1²) is what decides; it is formed in twice the
working precision. So is the fast part |y| t/If of the angle.

Vilmart (2013), Alg. 1; Celledoni, Fassò, Säfström, Zanna, The exact computation of the free
rigid body motion and its use in splitting methods, SIAM J. Sci. Comput. 30 (2008).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from polhode.algebra import Quaternion, Scalar, Vec3
from polhode.algebra.elliptic import (
    LEAST_M1,
    Ladder,
    ascend,
    double_product,
    once,
    over,
    sine_cosine,
    third_kind,
    two_product,
    two_sum,
)
from polhode.rotation.state import State

_SERIES_BELOW = 1e-4  # in (λt)²: above, a derivative by A loses no more than four digits to 1 - cn; below, 3 terms do
_NO_MOMENTUM = 1e-290  # of |Π|²: its square root still has all its digits
_HYPERBOLIC_BELOW = 1e-8  # in m1 exp(2λ|t|), the square of which is left out


def free_motion(moments: Vec3, state: State, t: Scalar) -> State:
    """The state at time t, of either sign, of a free body that is at `state` at time 0, in principal axes.

    For any moments, in any order, and any start. Errors measured against 70 digits, of Π/|Π| and of
    the entries of R: within ten periods of Π 2e-14, near the separatrix 4e-13; after that they grow
    by 3e-16 a period (the median; 3e-15 at most), less than 1e-16 a radian, because the period itself
    is rounded. R Π and |Π| stay right to a few units in the last place whatever t is.
    """
    I1, I2, I3, y1, y2, y3, t = jnp.broadcast_arrays(
        *(jnp.asarray(v, dtype=float) for v in (*moments, *state.momentum, t))
    )
    I, y = Vec3(I1, I2, I3), Vec3(y1, y2, y3)
    rest = y.norm2() < _NO_MOMENTUM
    swaps, (I1, I2, I3), (y1, y2, y3) = _sorted(I, Vec3(jnp.where(rest, 1.0, y1), y2, y3))
    sign = jnp.where(swaps[0] ^ swaps[1] ^ swaps[2], -1.0, 1.0)  # a mirrored frame, turned inside out again
    Pi, turn = _sorted_motion(Vec3(I1, I2, I3), Vec3(y1, y2, y3) * sign, t)
    Pi, axis = _unsorted(swaps, Pi * sign), _unsorted(swaps, turn.vector * sign)
    slow = Vec3(y.x / I.x, y.y / I.y, y.z / I.z) * (0.5 * t)  # at rest, for the derivatives
    turn = Quaternion(jnp.where(rest, 1.0, turn.w), *_select(rest, slow, axis))
    return State(state.attitude * turn, _select(rest, y, Pi))


def _sorted(I: Vec3, y: Vec3) -> tuple[tuple[Scalar, Scalar, Scalar], Vec3, Vec3]:
    """Moments in rising order, the momentum with them, and which of the three exchanges were made."""
    first = I.x > I.y
    I, y = _exchange(first, I), _exchange(first, y)
    second = I.y > I.z
    I, y = _rolled(_exchange(second, _rolled(I, 1)), 2), _rolled(_exchange(second, _rolled(y, 1)), 2)
    third = I.x > I.y
    return (first, second, third), _exchange(third, I), _exchange(third, y)


def _unsorted(swaps: tuple[Scalar, Scalar, Scalar], v: Vec3) -> Vec3:
    v = _rolled(_exchange(swaps[2], v), 1)
    return _exchange(swaps[0], _rolled(_exchange(swaps[1], v), 2))


def _rolled(v: Vec3, n: int) -> Vec3:
    return Vec3(v[n % 3], v[(n + 1) % 3], v[(n + 2) % 3])


def _exchange(flag: Scalar, v: Vec3) -> Vec3:
    """The first two components exchanged where flag."""
    return Vec3(jnp.where(flag, v.y, v.x), jnp.where(flag, v.x, v.y), v.z)


def _select(flag: Scalar, u: Vec3, v: Vec3) -> Vec3:
    return Vec3(jnp.where(flag, u.x, v.x), jnp.where(flag, u.y, v.y), jnp.where(flag, u.z, v.z))


class _Rates(NamedTuple):
    """What the three functions and G J depend on."""

    A: Scalar
    B: Scalar
    difference: Scalar  # A - B
    N: Scalar
    G: Scalar  # |y| g, which is G λ
    e: Scalar  # of `third_kind`, and its p²
    p2: Scalar


_ORDINARY = _Rates(1.0, 0.5, 0.5, 0.5, 1.0, 0.1, 2.0)  # for the branches not taken: all finite


class _Flow(NamedTuple):
    """σ, c, d and G J = line (also as a remainder of its rounding) - atan(tangent) at time t."""

    sigma: Scalar
    c: Scalar
    d: Scalar
    line: Scalar
    remainder: Scalar
    tangent: Scalar


def _sorted_motion(I: Vec3, y: Vec3, t: Scalar) -> tuple[Vec3, Quaternion]:
    """Momentum at t, and the turn from then to 0, for I1 <= I2 <= I3."""
    a, b, g = ((q - p) / (p * q) for p, q in ((I.x, I.y), (I.y, I.z), (I.x, I.z)))
    L2 = y.norm2()
    L = jnp.sqrt(L2)
    sphere = g == 0
    share = jnp.where(sphere, 0.5, b / jnp.where(sphere, 1.0, g))
    other = jnp.where(sphere, 0.5, a / jnp.where(sphere, 1.0, g))
    k1, k3 = y.x * y.x + share * y.y * y.y, y.z * y.z + other * y.y * y.y
    A, B, difference = b * g * k3, a * g * k1, g * _separation(I, y)
    one = k1 <= k3  # e is axis 1, f is 3
    ke, delta = jnp.where(one, k1, k3), jnp.where(one, b, a)
    on_cn = one == (difference >= 0)
    e = 0.5 * jnp.where(on_cn, g * ke / L, L * delta)
    p2 = jnp.where(on_cn, L2 * delta * g, g * g * ke)
    flow = _flow(_Rates(*map(once, (A, B, difference, delta * g * ke, L * g, e, p2))), t)

    sigma, c, d = flow.sigma, flow.c, flow.d
    below = c * c + b * g * (y.z * sigma) ** 2
    z = Vec3(
        over(y.x * c - b * y.y * y.z * sigma * d, below),
        over(y.y * c * d + g * y.x * y.z * sigma, below),
        over(y.z * d - a * y.x * y.y * sigma * c, below),
    )
    z = z * (1.5 - 0.5 * z.norm2() / L2)  # |y| as it was

    zf, sign, drift = jnp.where(one, z.z, z.x), jnp.where(one, 1.0, -1.0), delta * sigma * y.y
    X, Y = z.y * z.y + zf * zf - drift * z.x * z.z, drift * z.y * L
    X, Y = X + Y * flow.tangent, Y - X * flow.tangent
    chi = _half(X, Y)
    fast, rest = _fast_angle(y, L, jnp.where(one, I.z, I.x), t)
    angle, small = two_sum(fast, sign * flow.line)
    sine, cosine = sine_cosine(0.25 * angle, 0.25 * (small + rest + sign * flow.remainder))
    chi = chi[0], sign * chi[1]
    psi = cosine * chi[0] - sine * chi[1], sine * chi[0] + cosine * chi[1]
    turn = _turn(_select(one, y, _rolled(y, 2)), _select(one, z, _rolled(z, 2)), L, psi)
    return z, Quaternion(turn.w, *_select(one, turn.vector, _rolled(turn.vector, 1)))


def _turn(y: Vec3, z: Vec3, L: Scalar, psi: tuple[Scalar, Scalar]) -> Quaternion:
    """B0 R_z(ψ) B(t)ᵀ of momenta y at 0 and z at t, for e the first axis, from cos and sin of ψ/2.

    In Euler's angles y = |y| (cos θ, sin θ cos φ, sin θ sin φ), B is R_e(φ) R_3(θ), and the product
    has (w, e) = e^(i(φ0 - φ)/2) (cos ψ/2 cos(θ0 - θ)/2 + i sin ψ/2 cos(θ0 + θ)/2) and the two others
    e^(i(φ0 + φ)/2) (sin ψ/2 sin(θ0 + θ)/2 + i cos ψ/2 sin(θ0 - θ)/2). The shorter way round: w >= 0.
    """
    (c0, s0), (c, s) = _half_polar(y, L), _half_polar(z, L)
    (C0, S0), (C, S) = _half(y.y, y.z), _half(z.y, z.z)
    cosine, sine = psi
    w, e = cosine * (c0 * c + s0 * s), sine * (c0 * c - s0 * s)
    u, v = sine * (s0 * c + c0 * s), cosine * (s0 * c - c0 * s)
    minus, plus = (C0 * C + S0 * S, S0 * C - C0 * S), (C0 * C - S0 * S, S0 * C + C0 * S)
    w, e = w * minus[0] - e * minus[1], w * minus[1] + e * minus[0]
    u, v = u * plus[0] - v * plus[1], u * plus[1] + v * plus[0]
    sign = jnp.where(w < 0, -1.0, 1.0)
    return Quaternion(sign * w, sign * e, sign * u, sign * v)


def _half_polar(y: Vec3, L: Scalar) -> tuple[Scalar, Scalar]:
    x = 0.5 * y.x / L  # never near ½
    return jnp.sqrt(0.5 + x), jnp.sqrt(0.5 - x)


def _half(x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
    """Cosine and sine, up to one sign for both, of half the angle of (x, y)."""
    r = jnp.sqrt(x * x + y * y)
    far = r + jnp.abs(x)
    below = jnp.sqrt(2.0 * r * far)
    right = x >= 0
    return over(jnp.where(right, far, y), below), over(jnp.where(right, y, far), below)


def _flow(rates: _Rates, t: Scalar) -> _Flow:
    """The three functions and G J, each by the way that is accurate, with accurate derivatives, there."""
    swapped = rates.difference < 0  # then 1 and 3, c and d, exchange their parts
    A, B = jnp.where(swapped, rates.B, rates.A), jnp.where(swapped, rates.A, rates.B)
    rates = rates._replace(A=A, B=B, difference=jnp.where(swapped, -rates.difference, rates.difference))
    early = A * t * t < _SERIES_BELOW
    A = jnp.where(early, 1.0, A)
    close = ~early & (rates.difference <= A * _HYPERBOLIC_BELOW * jnp.exp(-2.0 * jnp.sqrt(A) * jnp.abs(t)))
    flow = _periodic(_where(early | close, _ORDINARY, rates), t)
    flow = _where(close, _hyperbolic(_where(close, rates, _ORDINARY), t), flow)
    flow = _where(early, _series(_where(early, rates, _ORDINARY), t), flow)
    return flow._replace(c=jnp.where(swapped, flow.d, flow.c), d=jnp.where(swapped, flow.c, flow.d))


def _where(flag: Scalar, u: Any, v: Any) -> Any:
    return type(u)(*(jnp.where(flag, p, q) for p, q in zip(u, v, strict=True)))


def _periodic(rates: _Rates, t: Scalar) -> _Flow:
    least = jnp.maximum(rates.difference, LEAST_M1 * rates.A)
    rungs = Ladder.of(jnp.sqrt(rates.A), jnp.sqrt(least), rates.B)
    z, rest = two_product(rungs.a[-1], t)
    s, c, d = ascend(rungs, *sine_cosine(0.5 * z, 0.5 * rest))
    rate, tangent = third_kind(rungs, rates.e, jnp.sqrt(rates.p2), s, c, d)
    line, rest = two_product(rate, t)
    return _Flow(s * rungs.inverse[0], c, d, line, rest, tangent)


def _hyperbolic(rates: _Rates, t: Scalar) -> _Flow:
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
    return _Flow(sign * s / root, c, d, sign * line, jnp.zeros_like(t), jnp.zeros_like(t))


def _series(rates: _Rates, t: Scalar) -> _Flow:
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
    return _Flow(sigma, c, d, line, 0.0 * t, 0.0 * t)


def _separation(I: Vec3, y: Vec3) -> Scalar:
    """b y3² - a y1²; the derivative is that of the plain formula."""
    plain = I.x * (I.z - I.y) * y.z * y.z - I.z * (I.y - I.x) * y.x * y.x
    p = double_product(two_product(y.z, y.z), double_product(two_sum(I.z, -I.y), (I.x, 0.0)))
    q = double_product(two_product(y.x, y.x), double_product(two_sum(I.y, -I.x), (I.z, 0.0)))
    high, low = two_sum(p[0], -q[0])
    exact = high + (low + (p[1] - q[1]))
    return (jax.lax.stop_gradient(exact) + (plain - jax.lax.stop_gradient(plain))) / (I.x * I.y * I.z)


def _fast_angle(y: Vec3, L: Scalar, I: Scalar, t: Scalar) -> tuple[Scalar, Scalar]:
    """|y| t/I and what its rounding left out, L being |y| rounded."""
    x = 1.0 / I
    rate, low = two_product(L, x)
    angle, lower = two_product(rate, t)
    squares = [two_product(v, v) for v in (L, *y)]
    total, rest = -squares[0][0], -squares[0][1]
    for square in squares[1:]:
        total, error = two_sum(total, square[0])
        rest = rest + (error + square[1])
    product, error = two_product(x, I)
    low = low + x * (0.5 * (total + rest) / L + L * ((1.0 - product) - error))
    return angle, jax.lax.stop_gradient(lower + low * t)
