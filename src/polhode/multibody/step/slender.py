"""What torques leave of the spin of a slender body about itself.

In the axes half-way, with a = h w/2, C and S the even and odd parts of exp(a) and d, s the difference and the sum of
the angular velocities of both ends, a step balances C Jd + S Js by the impulse T of torques. A torque with no
component along an axis e must leave the momentum along e alone. That it does if T = C τ with τ·e = 0; as a mean along
the path, T turns a spin w·e that is there into more or less of it, by a part h²/6 of the work of the torques over the
moment about e: nothing for a round body, everything for a rod. So the balance along e is taken with cos|a| (Jd - τ)
in place of C Jd - T, where τ is the same mean, taken in the axes of the body; both do the same work. Rows are then
means of the ends, where joints are closed: half-way they gape, and those of a hinge along e pull about e by as much.

All that is of an axis about which nothing holds the body. Where rows do, of a hinge across e or aslant, its spin is
geared to other motions, its own moment does not matter, and the work that rows do there does.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from polhode.algebra.arrays import dot, product, turn
from polhode.algebra.scalars import stumpff
from polhode.multibody.describe.bodies import ROUND

_THIN = 0.91  # a twentieth
_LOOSE = 0.01
_NONE = 1e-12  # where a body is not slender its moment is any


def _smooth(x: Any) -> Any:
    return x * x * (3.0 - 2.0 * x)


def slenderness(J: Any) -> Any:
    """(N, 3, 3): 1 along the axis of a slender body and 0 across it, nothing for a round or a flat one. 1 - 2J/(trace
    of J) has eigenvalues of sum 1, those of a line of mass are 1 and 0; the sum of their squares tells which is
    slender."""
    X = jnp.eye(3) - 2.0 * J / jnp.trace(J, axis1=-2, axis2=-1)[:, None, None]
    size = jnp.sum(X * X, axis=(-1, -2))
    for _ in range(4):  # to 0 and 1, by what leaves both alone
        square = product(X, X)
        X = 3.0 * square - 2.0 * product(square, X)
    return _smooth(jnp.clip((size - ROUND) / (_THIN - ROUND), 0.0, 1.0))[:, None, None] * X


def along(slender: Any, x: Any) -> Any:
    """The part of x, (..., N, 3), along slender axes; None where no body is slender."""
    return jnp.zeros_like(x) if slender is None else turn(slender, x)


def thickened(slender: Any, J: Any) -> Any:
    """J with a moment about slender axes as large as those across them: the measure of guesses and of what rows hold,
    however thin a body is."""
    return J if slender is None else J + 0.5 * jnp.trace(J, axis1=-2, axis2=-1)[:, None, None] * slender


def loose(slender: Any, J: Any, held: Any) -> Any:
    """Slender axes of bodies that nothing holds about them: where rows gear less than a hundredth of a body's own
    moment to its spin, `held` (N,), and not where they pass through a position in which they hold it no more."""
    size = jnp.trace(slender, axis1=-2, axis2=-1)
    own = (jnp.sum(slender * J, axis=(-1, -2)) + _NONE * jnp.trace(J, axis1=-2, axis2=-1)) / (size + _NONE)
    return slender * (_LOOSE * own / (_LOOSE * own + held))[:, None, None]


def half_way(slender: Any, Q: Any, X: Any, Y: Any) -> Any:
    """X, whose last six are a wrench in the axes of the end, in those half-way, (..., N, 6); along slender axes Y."""
    moved, turned = X[..., :3], turn(Q, X[..., 3:])
    return jnp.concatenate([moved, turned + along(slender, Y[..., 3:] - turned)], axis=-1)


def spin_kept(slender: Any, a: Any, Jd: Any, T: Any, tau: Any) -> Any:
    """What the impulse T is off along slender axes, (N, 3), all in the axes half-way."""
    q = dot(a, a)
    return along(slender, T - stumpff(0, q)[:, None] * tau - (stumpff(2, q) * dot(a, Jd))[:, None] * a)
