"""The exponential map of SO(3) and its relatives, on unit quaternions.

Rotation vectors are `Vec3`, or anything `Vec3.of` takes. With R = exp(ψ) and R' = R skew(Ω)
(Ω in the body), Ω = dexp_right(ψ, ψ') and, in space, RΩ = dexp_left(ψ, ψ'). In the
notation of Krysl (9), dexp_left(ψ, ·) is dexp_ψ and dexp_right(ψ, ·) is dexp_(-ψ).
"""

from __future__ import annotations

from typing import Any

from polhode.algebra.quaternions import Quaternion
from polhode.algebra.scalars import Scalar, atan2, rsqrt, sqrt, stumpff, where
from polhode.algebra.vectors import Vec3


def exp(psi: Any) -> Quaternion:
    """The rotation about ψ by |ψ| (rad)."""
    u = Vec3.of(psi) * 0.5
    x = u.norm2()
    return Quaternion(stumpff(0, x), *(stumpff(1, x) * u))


def log(q: Quaternion) -> Vec3:
    """The shortest rotation vector of q, |ψ| <= π; q and -q are the same rotation."""
    sign = where(q.w < 0, -1.0, 1.0)
    w, u = sign * q.w, sign * q.vector
    s2 = u.norm2()
    small = s2 < 1e-3 * w * w
    s = sqrt(where(small, 1.0 + 0.0 * s2, s2))  # the unused branch stays differentiable
    w_safe = where(small, w, 1.0 + 0.0 * w)
    r2 = where(small, s2, 0.0 * s2) / (w_safe * w_safe)
    return u * where(small, 2.0 * _atan_over(r2) / w_safe, 2.0 * atan2(s, w) / s)


def _atan_over(r2: Scalar) -> Scalar:
    """atan(r)/r for r² < 1e-3."""
    total = 0.0
    for n in range(6, -1, -1):
        total = total * r2 + (-1.0) ** n / (2 * n + 1)
    return total


def cayley(psi: Any) -> Quaternion:
    """(1 - skew ψ/2)⁻¹(1 + skew ψ/2): the rotation about ψ by 2 atan(|ψ|/2) (rad)."""
    u = Vec3.of(psi) * 0.5
    s = rsqrt(1.0 + u.norm2())
    return Quaternion(s, *(u * s))


def cayley_inverse(q: Quaternion) -> Vec3:
    """The ψ with cayley(ψ) = q; grows without bound as the angle nears π."""
    return q.vector * (2.0 / q.w)


def dexp_left(psi: Vec3, v: Vec3) -> Vec3:
    """dexp_ψ v, Krysl (9), ψ a rotation vector (rad)."""
    x = psi.norm2()
    t = psi.cross(v)
    return v + (stumpff(2, x) * t + stumpff(3, x) * psi.cross(t))


def dexp_right(psi: Vec3, v: Vec3) -> Vec3:
    """dexp_(-ψ) v, ψ a rotation vector (rad): the transpose of dexp_left."""
    return dexp_left(-psi, v)


def dexp_left_inverse(psi: Vec3, v: Vec3) -> Vec3:
    """dexp_ψ⁻¹ v = v - ½ ψ × v + e ψ × (ψ × v), ψ a rotation vector (rad); singular at |ψ| = 2π.

    e = (1 - (θ/2) cot(θ/2))/θ², written without cancellation by c_2, c_3 at (θ/2)².
    """
    y = (psi * 0.5).norm2()
    e = (stumpff(2, y) - stumpff(3, y)) / (4.0 * stumpff(1, y))
    t = psi.cross(v)
    return v + (e * psi.cross(t) - 0.5 * t)


def dexp_right_inverse(psi: Vec3, v: Vec3) -> Vec3:
    """dexp_(-ψ)⁻¹ v, ψ a rotation vector (rad); singular at |ψ| = 2π."""
    return dexp_left_inverse(-psi, v)
