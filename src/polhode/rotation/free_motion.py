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

Near the separatrix the motion depends on the small difference A - B = g (b y3² - a y1²), which
is formed in twice the working precision. So is the fast part |y| t/If of the angle.

Vilmart (2013), Alg. 1; Celledoni, Fassò, Säfström, Zanna, The exact computation of the free
rigid body motion and its use in splitting methods, SIAM J. Sci. Comput. 30 (2008).
"""

from __future__ import annotations

from functools import reduce

import jax
import jax.numpy as jnp

from polhode.algebra import Quaternion, Scalar, Vec3
from polhode.algebra.elliptic import double_product, once, over, sine_cosine, two_product, two_sum
from polhode.rotation.free_flow import Rates, flow_at
from polhode.rotation.state import State

_NO_MOMENTUM = 1e-290  # of |Π|²: its square root still has all its digits


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
    heavy = _unit(I1, I2, I3)
    fast = _unit(*((y / heavy) / (i / heavy) for y, i in ((y1, I1), (y2, I2), (y3, I3))))
    I, y, t = Vec3(I1, I2, I3) / heavy, Vec3(y1, y2, y3) / heavy / fast, t * fast
    rest = y.norm2() < _NO_MOMENTUM
    swaps, (I1, I2, I3), (y1, y2, y3) = _sorted(I, Vec3(jnp.where(rest, 1.0, y.x), y.y, y.z))
    sign = jnp.where(swaps[0] ^ swaps[1] ^ swaps[2], -1.0, 1.0)  # an odd number of exchanges mirrors the frame
    Pi, turn = _sorted_motion(Vec3(I1, I2, I3), Vec3(y1, y2, y3) * sign, t)
    Pi, axis = _unsorted(swaps, Pi * sign), _unsorted(swaps, turn.vector * sign)
    slow = Vec3(y.x / I.x, y.y / I.y, y.z / I.z) * (0.5 * t)  # gives the derivatives where the body is at rest
    turn = Quaternion(jnp.where(rest, 1.0, turn.w), *_select(rest, slow, axis))
    return State(state.attitude * turn, _select(rest, y, Pi) * fast * heavy)


def _unit(*numbers: Scalar) -> Scalar:
    """A power of 2 near the largest of them: in that unit no digit changes, and squares neither overflow nor vanish."""
    most = reduce(jnp.maximum, (jnp.abs(jax.lax.stop_gradient(x)) for x in numbers))
    unit = jax.lax.reduce_precision(0.5 * most, exponent_bits=11, mantissa_bits=0)
    return jnp.where((unit > 0) & jnp.isfinite(unit), unit, 1.0)


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
    flow = flow_at(Rates(*map(once, (A, B, difference, delta * g * ke, L * g, e, p2))), t)

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
