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
from polhode.algebra.computed_once import evaluated
from polhode.algebra.elliptic import double_product, sine_cosine, two_product, two_sum
from polhode.algebra.scalars import rsqrt
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
    lighter = 1.0 / heavy
    I, y = Vec3(I1, I2, I3) * lighter, Vec3(y1, y2, y3) * lighter
    inverse = Vec3(1.0 / I.x, 1.0 / I.y, 1.0 / I.z)
    fast = _unit(*y.scale(inverse))
    y, t = y * (1.0 / fast), t * fast
    rest = y.norm2() < _NO_MOMENTUM
    swaps, (I_sorted, inverses, y_sorted) = _sorted(I, inverse, Vec3(jnp.where(rest, 1.0, y.x), y.y, y.z))
    sign = jnp.where(swaps[0] ^ swaps[1] ^ swaps[2], -1.0, 1.0)  # an odd number of exchanges mirrors the frame
    Pi, turn = _sorted_motion(I_sorted, inverses, y_sorted * sign, t)
    Pi, axis = _unsorted(swaps, Pi * sign), _unsorted(swaps, turn.vector * sign)
    slow = y.scale(inverse) * (0.5 * t)  # gives the derivatives where the body is at rest
    turn = Quaternion(jnp.where(rest, 1.0, turn.w), *_select(rest, slow, axis))
    return State(state.attitude * turn, _select(rest, y, Pi) * fast * heavy)


def _unit(*numbers: Scalar) -> Scalar:
    """A power of 2 near the largest of them: in that unit no digit changes, and squares neither overflow nor vanish.
    It has a reciprocal."""
    most = reduce(jnp.maximum, (jnp.abs(jax.lax.stop_gradient(x)) for x in numbers))
    unit = jax.lax.reduce_precision(0.5 * most, exponent_bits=11, mantissa_bits=0)
    return jnp.where((unit > 0) & jnp.isfinite(unit), jnp.clip(unit, 2.0**-1000, 2.0**1000), 1.0)


def _sorted(*vectors: Vec3) -> tuple[tuple[Scalar, Scalar, Scalar], list[Vec3]]:
    """The first, moments, in rising order, others with them; and which of the three exchanges were made."""
    first = vectors[0].x > vectors[0].y
    now = [_exchange(first, v) for v in vectors]
    second = now[0].y > now[0].z
    now = [_rolled(_exchange(second, _rolled(v, 1)), 2) for v in now]
    third = now[0].x > now[0].y
    return (first, second, third), [_exchange(third, v) for v in now]


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


def _sorted_motion(I: Vec3, inverse: Vec3, y: Vec3, t: Scalar) -> tuple[Vec3, Quaternion]:
    """Momentum at t, and the turn from then to 0, for I1 <= I2 <= I3 and their reciprocals."""
    a, b, g = ((q - p) / (p * q) for p, q in ((I.x, I.y), (I.y, I.z), (I.x, I.z)))
    L2 = y.norm2()
    L = jnp.sqrt(L2)
    over_L = 1.0 / L
    sphere = g == 0
    over_g = 1.0 / jnp.where(sphere, 1.0, g)
    share, other = jnp.where(sphere, 0.5, b * over_g), jnp.where(sphere, 0.5, a * over_g)
    k1, k3 = y.x * y.x + share * y.y * y.y, y.z * y.z + other * y.y * y.y
    A, B, difference = b * g * k3, a * g * k1, g * _separation(I, inverse, y)
    one = k1 <= k3  # e is axis 1, f is 3
    ke, delta = jnp.where(one, k1, k3), jnp.where(one, b, a)
    on_cn = one == (difference >= 0)
    e = 0.5 * jnp.where(on_cn, g * ke * over_L, L * delta)
    p2 = jnp.where(on_cn, L2 * delta * g, g * g * ke)
    flow = evaluated(flow_at(evaluated(Rates(A, B, difference, delta * g * ke, L * g, e, p2)), t))

    sigma, c, d = flow.sigma, flow.c, flow.d
    scale = 1.0 / (c * c + b * g * (y.z * sigma) ** 2)
    z = Vec3(
        scale * (y.x * c - b * y.y * y.z * sigma * d),
        scale * (y.y * c * d + g * y.x * y.z * sigma),
        scale * (y.z * d - a * y.x * y.y * sigma * c),
    )
    z = evaluated(z)
    z = evaluated(z * (1.0 + 0.5 * (L2 - z.norm2()) * over_L * over_L))  # |y| as it was, whatever 1/L was rounded to

    zf, sign, drift = jnp.where(one, z.z, z.x), jnp.where(one, 1.0, -1.0), delta * sigma * y.y
    X, Y = z.y * z.y + zf * zf - drift * z.x * z.z, drift * z.y * L
    X, Y = X * flow.x + Y * flow.y, Y * flow.x - X * flow.y
    C, S = _half(X, Y)
    fast, rest = _fast_angle(y, L, over_L, jnp.where(one, I.z, I.x), jnp.where(one, inverse.z, inverse.x), t)
    angle, small = two_sum(fast, sign * flow.line)
    sine, cosine = sine_cosine(0.5 * angle, 0.5 * (small + rest + sign * flow.remainder))
    psi = cosine * C - sine * sign * S, sine * C + cosine * sign * S
    turn = _turn(_select(one, y, _rolled(y, 2)), _select(one, z, _rolled(z, 2)), over_L, evaluated(psi))
    return z, Quaternion(turn.w, *_select(one, turn.vector, _rolled(turn.vector, 1)))


def _turn(y: Vec3, z: Vec3, over_L: Scalar, psi: tuple[Scalar, Scalar]) -> Quaternion:
    """B0 R_z(ψ) B(t)ᵀ of momenta y at 0 and z at t, for e the first axis, from cos and sin of ψ/2.

    In Euler's angles y = |y| (cos θ, sin θ cos φ, sin θ sin φ), B is R_e(φ) R_3(θ), and the product
    has (w, e) = e^(i(φ0 - φ)/2) (cos ψ/2 cos(θ0 - θ)/2 + i sin ψ/2 cos(θ0 + θ)/2) and the two others
    e^(i(φ0 + φ)/2) (sin ψ/2 sin(θ0 + θ)/2 + i cos ψ/2 sin(θ0 - θ)/2). The shorter way round: w >= 0.
    """
    (C0, S0), (C, S) = _half(y.y, y.z), _half(z.y, z.z)
    (c0, s0), (c, s) = _half_polar(y.x * over_L), _half_polar(z.x * over_L)
    cosine, sine = psi
    w, e = cosine * (c0 * c + s0 * s), sine * (c0 * c - s0 * s)
    u, v = sine * (s0 * c + c0 * s), cosine * (s0 * c - c0 * s)
    minus, plus = (C0 * C + S0 * S, S0 * C - C0 * S), (C0 * C - S0 * S, S0 * C + C0 * S)
    w, e = w * minus[0] - e * minus[1], w * minus[1] + e * minus[0]
    u, v = u * plus[0] - v * plus[1], u * plus[1] + v * plus[0]
    sign = jnp.where(w < 0, -1.0, 1.0)
    return evaluated(Quaternion(sign * w, sign * e, sign * u, sign * v))


def _half_polar(cosine: Scalar) -> tuple[Scalar, Scalar]:
    """Of an angle between 0 and π, here never near either. Not from its sine: the same error of 1/L, step after step,
    would make the turn longer or shorter."""
    return jnp.sqrt(0.5 + 0.5 * cosine), jnp.sqrt(0.5 - 0.5 * cosine)


def _half(x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
    """Cosine and sine, up to one sign for both, of half the angle of (x, y)."""
    r = jnp.sqrt(x * x + y * y)
    far = r + jnp.abs(x)
    inverse, right = rsqrt(2.0 * r * far), x >= 0
    return evaluated((jnp.where(right, far, y) * inverse, jnp.where(right, y, far) * inverse))


def _separation(I: Vec3, inverse: Vec3, y: Vec3) -> Scalar:
    """b y3² - a y1²; the derivative is that of the plain formula."""
    plain = I.x * (I.z - I.y) * y.z * y.z - I.z * (I.y - I.x) * y.x * y.x
    p = double_product(two_product(y.z, y.z), double_product(two_sum(I.z, -I.y), (I.x, 0.0)))
    q = double_product(two_product(y.x, y.x), double_product(two_sum(I.y, -I.x), (I.z, 0.0)))
    high, low = two_sum(p[0], -q[0])
    exact = high + (low + (p[1] - q[1]))
    product = inverse.x * inverse.y * inverse.z
    return (jax.lax.stop_gradient(exact) + (plain - jax.lax.stop_gradient(plain))) * product


def _fast_angle(y: Vec3, L: Scalar, over_L: Scalar, I: Scalar, x: Scalar, t: Scalar) -> tuple[Scalar, Scalar]:
    """|y| t/I and what its rounding left out, L being |y| rounded, and x = 1/I."""
    rate, low = two_product(L, x)
    angle, lower = two_product(rate, t)
    squares = [two_product(v, v) for v in (L, *y)]
    total, rest = -squares[0][0], -squares[0][1]
    for square in squares[1:]:
        total, error = two_sum(total, square[0])
        rest = rest + (error + square[1])
    product, error = two_product(x, I)
    low = low + x * (0.5 * (total + rest) * over_L + L * ((1.0 - product) - error))
    return angle, jax.lax.stop_gradient(lower + low * t)
