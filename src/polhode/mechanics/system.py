"""`System`: a body and its load; all that a method needs to know."""

from __future__ import annotations

from dataclasses import dataclass, replace

import jax

from polhode.algebra import Quaternion, Scalar, Vec3
from polhode.mechanics.body import RigidBody
from polhode.mechanics.loads import Free, InPrincipalAxes, Load
from polhode.mechanics.state import State


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class System:
    """Π' = Π × Ω + T, R' = R skew(Ω), Ω = I⁻¹Π. A pytree: it passes through jit, vmap and grad
    with moments and load parameters as its numbers.

    All of it, and the states of it, are in the user's own body axes. `axes` leads there from the principal
    ones; without, they are the same and I is diagonal. The step of a method sees `principal` alone.

    With a `twist_axis` n, a principal axis, the body does not turn about it: Ω · n = 0, and
    the torque along n that sees to it comes on top of T."""

    moments: Vec3
    load: Load
    twist_axis: Vec3 | None = None
    axes: Quaternion | None = None

    @classmethod
    def of(cls, body: RigidBody, load: Load | None = None) -> System:
        """A body and its load, in the axes in which the body was given."""
        return cls(body.moments, Free() if load is None else load, body.twist_axis, body.axes)

    @property
    def principal(self) -> System:
        """The same in principal axes, where I is diagonal; `to_principal` and `from_principal` take states
        there and back."""
        if self.axes is None:
            return self
        load = self.load if isinstance(self.load, Free) else InPrincipalAxes(self.load, self.axes)
        axis = None if self.twist_axis is None else self.axes.unrotate(self.twist_axis)
        return System(self.moments, load, axis)

    @property
    def free(self) -> System:
        """The same body without its load."""
        return System(self.moments, Free(), self.twist_axis, self.axes)

    def omega(self, Pi: Vec3) -> Vec3:
        """Ω = I⁻¹ Π. The reciprocals are constants of a loop, where divisions would not be."""
        I = self.moments
        if self.axes is not None:
            return self.axes.rotate(self.principal.omega(self.axes.unrotate(Pi)))
        return Vec3((1.0 / I.x) * Pi.x, (1.0 / I.y) * Pi.y, (1.0 / I.z) * Pi.z)

    def momentum(self, omega: Vec3) -> Vec3:
        """Π = I Ω."""
        if self.axes is not None:
            return self.axes.rotate(self.moments.scale(self.axes.unrotate(omega)))
        return self.moments.scale(omega)

    def torque(self, t: Scalar, q: Quaternion, omega: Vec3) -> Vec3:
        """T at time t and attitude q, in body components."""
        return self.load.torque(t, q.matrix(), omega)

    def kinetic(self, Pi: Vec3) -> Scalar:
        return 0.5 * Pi.dot(self.omega(Pi))

    def potential(self, t: Scalar, q: Quaternion) -> Scalar:
        return self.load.energy(t, q.matrix())


def to_principal(whose: RigidBody | System, state: State) -> State:
    """A state in the user's axes, seen from the principal axes of its body. What a method keeps of its own
    in a state is there already."""
    axes = whose.axes
    if axes is None:
        return state
    return replace(state, attitude=state.attitude * axes, momentum=axes.unrotate(state.momentum))


def from_principal(whose: RigidBody | System, state: State) -> State:
    """The inverse of `to_principal`."""
    axes = whose.axes
    if axes is None:
        return state
    return replace(state, attitude=state.attitude * axes.conjugate, momentum=axes.rotate(state.momentum))
