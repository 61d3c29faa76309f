"""`System`: a body and its load, in principal axes; all that a method needs to know."""

from __future__ import annotations

from dataclasses import dataclass

import jax

from polhode.algebra import Quaternion, Scalar, Vec3
from polhode.mechanics.body import RigidBody
from polhode.mechanics.loads import Free, InPrincipalAxes, Load
from polhode.mechanics.state import State


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class System:
    """Π' = Π × Ω + T, R' = R skew(Ω), Ω = I⁻¹Π, with I diagonal. A pytree: it passes
    through jit, vmap and grad with moments and load parameters as its numbers.

    With a `twist_axis` n, a principal axis, the body does not turn about it: Ω · n = 0, and
    the torque along n that sees to it comes on top of T."""

    moments: Vec3
    load: Load
    twist_axis: Vec3 | None = None

    @classmethod
    def of(cls, body: RigidBody, load: Load | None = None) -> System:
        """In the body's principal axes; `to_principal` and `from_principal` take states there and back."""
        load = Free() if load is None else load
        if body.axes is not None and not isinstance(load, Free):
            load = InPrincipalAxes(load, body.axes)
        axis = body.twist_axis
        if axis is not None and body.axes is not None:
            axis = body.axes.unrotate(axis)
        return cls(body.moments, load, axis)

    @property
    def free(self) -> System:
        """The same body without its load."""
        return System(self.moments, Free(), self.twist_axis)

    def omega(self, Pi: Vec3) -> Vec3:
        """Ω = I⁻¹ Π. The reciprocals are constants of a loop, where divisions would not be."""
        I = self.moments
        return Vec3((1.0 / I.x) * Pi.x, (1.0 / I.y) * Pi.y, (1.0 / I.z) * Pi.z)

    def momentum(self, omega: Vec3) -> Vec3:
        """Π = I Ω."""
        return self.moments.scale(omega)

    def torque(self, t: Scalar, q: Quaternion, omega: Vec3) -> Vec3:
        """T at time t and attitude q, in body components."""
        return self.load.torque(t, q.matrix(), omega)

    def kinetic(self, Pi: Vec3) -> Scalar:
        return 0.5 * Pi.dot(self.omega(Pi))

    def potential(self, t: Scalar, q: Quaternion) -> Scalar:
        return self.load.energy(t, q.matrix())


def to_principal(body: RigidBody, state: State) -> State:
    """A state of the body's own frame, seen from its principal axes."""
    if body.axes is None:
        return state
    return State(state.attitude * body.axes, body.axes.unrotate(state.momentum))


def from_principal(body: RigidBody, state: State) -> State:
    """The inverse of `to_principal`."""
    if body.axes is None:
        return state
    return State(state.attitude * body.axes.conjugate, body.axes.rotate(state.momentum))
