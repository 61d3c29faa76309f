"""The free body solved exactly, as a method, and as a function of time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from polhode.algebra import Scalar
from polhode.mechanics import InputError, RigidBody, Start, State, System, from_principal, to_principal
from polhode.mechanics.checks import double_precision, numbers
from polhode.mechanics.free_motion import free_motion
from polhode.methods.base import Method, Step, Traits

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

    def step(self, system: System, state: State, t: Scalar, h: Scalar) -> Step:
        moved = free_motion(system.moments, state, h)
        # The momentum by the turn it made: then round-off, step after step, is a random walk.
        turn = (state.attitude.conjugate * moved.attitude).renormalized()
        return Step(State(moved.attitude, turn.unrotate(state.momentum)))


_motion = jax.jit(free_motion)


def exact(body: RigidBody, start: Start | State, t: Any) -> State:
    """The state of a free body at time t (s), a number or an array of any shape, without stepping.

    The components of the state have the shape of t, then the batch shape of the start.
    """
    double_precision()
    if not isinstance(body, RigidBody):
        raise InputError(f"body must be a RigidBody; got {body!r}")
    if not isinstance(start, Start | State):
        raise InputError(f"start must come from State.of(...); got {start!r}")
    times = numbers("t", t)
    state = to_principal(body, start.on(body) if isinstance(start, Start) else start)
    batch = jnp.shape(state.momentum.x)
    times = times.reshape(times.shape + (1,) * len(batch))
    moved = _motion(body.moments, jax.tree.map(jnp.asarray, state), jnp.asarray(times))
    return jax.device_get(from_principal(body, moved))
