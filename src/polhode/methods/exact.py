"""The free body solved exactly, as a method, and as a function of time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.algebra import Scalar, Vec3, exp
from polhode.methods.base import Method, Step, Traits
from polhode.model import InputError
from polhode.model.checks import double_precision, numbers
from polhode.rotation import RigidBody, Rotation, Start, State
from polhode.rotation.free_motion import free_motion
from polhode.rotation.members import together

PAPER = "Jacobi (1850); Vilmart, Rigid body dynamics (2013), Alg. 1; Celledoni et al. (2008)"


@dataclass(frozen=True)
class Exact(Method):
    """Jacobi's solution by elliptic functions and the integral of the third kind: no error but round-off.

    A step may be as long as you like. As the kinetic part of a splitting it leaves only
    the error of the potential; choose it there, or as the reference for anything else.
    """

    name = "exact"
    paper = PAPER
    traits = Traits(
        order=math.inf, energy="exact", spatial_momentum="exact", poisson=True, symplectic=True, loads="none"
    )

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        state = State(state.attitude, state.momentum)
        if state.shape or jnp.ndim(system.moments.x):
            return Step(_moved(system.moments, state, h))
        return Step(_moved_soon(system.moments, state, h))


def _moved(moments: Vec3, state: State, h: Scalar) -> State:
    moved = free_motion(moments, state, h)
    # The momentum by the turn it made: then round-off, step after step, is a random walk.
    turn = (state.attitude.conjugate * moved.attitude).renormalized()
    return State(moved.attitude, turn.unrotate(state.momentum))


@jax.custom_jvp
def _moved_soon(moments: Vec3, state: State, h: Scalar) -> State:
    """The same for one body: ten times sooner where it has two equal moments, and the step is no more than a turn."""
    n, I, apart = _symmetry(moments)
    angle = jnp.abs(h) * jnp.maximum(1.0 / I, jnp.abs(apart)) * state.momentum.norm()
    soon = (n.x + n.y + n.z > 0) & (angle < _A_TURN)
    arrays = jax.tree.map(jnp.asarray, (moments, state, h))
    return jax.lax.cond(soon, _moved_about_an_axis, _moved, *arrays)


@_moved_soon.defjvp
def _derivative(given: Any, along: Any) -> Any:
    """That of the motion of any body: two moments that are equal change each for itself."""
    return jax.jvp(_moved, given, along)


_A_TURN = 6.0  # rad: the angles of longer steps need more than their 16 digits


def _symmetry(I: Vec3) -> tuple[Vec3, Scalar, Scalar]:
    """Of two equal moments: the axis about which they are, 0 if there is none; their value; and how much the
    reciprocal of the third is larger than theirs."""
    z, y, x = I.x == I.y, I.x == I.z, I.y == I.z
    flags = Vec3(x & ~y & ~z, y & ~z, z)
    n = Vec3(*(jnp.where(flag, 1.0, 0.0) for flag in flags))
    about, across = jnp.where(z, I.z, jnp.where(y, I.y, I.x)), jnp.where(z | y, I.x, I.y)
    return n, across, 1.0 / about - 1.0 / across


def _moved_about_an_axis(moments: Vec3, state: State, h: Scalar) -> State:
    """The body turns about its axis, which turns about the momentum, both at constant rates."""
    n, I, apart = _symmetry(moments)
    turn = exp(state.momentum * (h / I)) * exp(n * (h * apart * n.dot(state.momentum)))
    return State(state.attitude * turn, turn.unrotate(state.momentum))


_motion = jax.jit(free_motion)
_FARTHEST = 1e15  # rad: the period is rounded, to 1e-16 of a radian for every radian, and beyond no digit is right


def exact(body: RigidBody, start: Start | State, t: Any) -> State:
    """The state of a free body at time t (s), a number or an array of any shape, without stepping.

    The components of the state have the shape of t, then the batch shape of start and inertia. A `NonTwistingBody`
    turns about a fixed axis, Π1 and Π2 constant, (74) of Gebhardt & Romero. Within jit, vmap and grad, t,
    the inertia of the body and the numbers of a `State` may be traced.
    """
    double_precision()
    if not isinstance(body, RigidBody):
        raise InputError(f"body must be a RigidBody; got {body!r}")
    if not isinstance(start, Start | State):
        raise InputError(f"start must come from State.of(...); got {start!r}")
    times = jnp.asarray(t, dtype=float) if isinstance(t, jax.core.Tracer) else numbers("t", t)
    whose = Rotation(body)
    state = whose.to_principal(start.on(body) if isinstance(start, Start) else start)
    batch = together(start=jnp.shape(state.momentum.x), inertia=jnp.shape(body.moments.x))
    times = times.reshape(times.shape + (1,) * len(batch))
    system = whose.principal
    traced = any(isinstance(x, jax.core.Tracer) for x in (times, *jax.tree.leaves((whose, state))))
    unit = 1.0 if traced else _unit(system, state)
    if not traced:
        _check_reach(system, state, times)
    state = jax.tree.map(jnp.asarray, State(state.attitude, state.momentum / unit))
    times = times * unit
    if system.twist_axis is not None:
        moved = _untwisted(system, state, jnp.asarray(times), unit, traced)
    else:
        moved = _motion(body.moments, state, jnp.asarray(times))
    moved = whose.from_principal(State(moved.attitude, moved.momentum * unit))
    return moved if traced else jax.device_get(moved)


def _unit(system: Rotation, state: State) -> Any:
    """A power of 2 near |Ω|: in that unit nothing overflows, however slow the body and late the time, and no digit
    changes."""
    speed = np.asarray(system.omega(state.momentum).norm())
    return np.where(speed > 0, np.ldexp(1.0, np.frexp(np.where(speed > 0, speed, 1.0))[1]), 1.0)


def _check_reach(system: Rotation, state: State, times: Any) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        turned = np.max(np.abs(times) * np.asarray(system.omega(state.momentum).norm()), initial=0.0)
    if not turned <= _FARTHEST:
        raise InputError(
            f"t = {np.abs(times).max():.3g} s is too far: the body turns by {turned:.2g} rad until then, and beyond "
            f"{_FARTHEST:g} rad, times the 16 digits of a number, none of its angle is known"
        )


def _untwisted(system: Rotation, state: State, t: Any, unit: Any, traced: bool) -> State:
    """R = R₀ exp(t Ω), Ω constant in the body and perpendicular to its third axis."""
    n, omega = system.twist_axis, system.omega(state.momentum)
    assert n is not None
    if not traced and (abs(n.dot(omega)) > 1e-12 * omega.norm()).any():
        twist = np.abs(n.dot(omega) * unit).max()
        raise InputError(
            f"the body starts with w∥ = {twist:.3g} rad/s about d3, and a NonTwistingBody has none; give ω · d3 = 0"
        )
    shape = jnp.broadcast_shapes(jnp.shape(t), jnp.shape(omega.x))
    still = jax.tree.map(lambda x: jnp.broadcast_to(x, shape), state)
    return State(still.attitude * exp(omega * t), still.momentum)
