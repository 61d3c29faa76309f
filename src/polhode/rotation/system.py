"""`Rotation`: one rotating body and its load; all that a method needs to know."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from polhode.algebra import Quaternion, Scalar, Vec3
from polhode.model.checks import InputError
from polhode.model.pytree import replaced, tree
from polhode.rotation.body import RigidBody
from polhode.rotation.loads import Free, InPrincipalAxes, Load
from polhode.rotation.state import State


@tree
class Rotation:
    """One rotating body with its load: Π' = Π × Ω + T, R' = R skew(Ω), Ω = I⁻¹Π. A pytree: it passes through jit,
    vmap and grad with moments and load parameters as its numbers.

    All of it, and the states of it, are in the user's own body axes. `axes` leads there from the principal
    ones; without, they are the same and I is diagonal. The step of a method sees `principal` alone.

    With a `twist_axis` n, a principal axis, the body does not turn about it: Ω · n = 0, and
    the torque along n that sees to it comes on top of T."""

    moments: Vec3
    load: Load
    twist_axis: Vec3 | None
    axes: Quaternion | None

    def __init__(self, body: RigidBody, load: Load | None = None) -> None:
        """A body and its load (none: it is free), in the axes in which the body was given."""
        if not isinstance(body, RigidBody):
            raise InputError(f"a Rotation is of a RigidBody; got {body!r}. Example: RigidBody(inertia=(5, 5, 1))")
        if not (load is None or isinstance(load, Load)):
            raise InputError(f"load must be a Potential, a Torque, a sum of them, or None; got {load!r}")
        parts = body.moments, Free() if load is None else load, body.twist_axis, body.axes
        for name, value in zip(self.__dataclass_fields__, parts, strict=True):
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, moments: Vec3, load: Load | None = None) -> Rotation:
        """From principal moments, along the body axes, that no `RigidBody` checked."""
        return replaced(object.__new__(cls), moments=moments, load=load or Free(), twist_axis=None, axes=None)

    def replaced(self, **changes: Any) -> Rotation:
        """With other values of these fields, unchecked: for derivatives, `system.replaced(moments=moments)`."""
        for name in changes:
            if name not in self.__dataclass_fields__:
                raise InputError(f"a Rotation has no field {name!r}; it has {', '.join(self.__dataclass_fields__)}")
        return replaced(self, **changes)

    @property
    def principal(self) -> Rotation:
        """The same in principal axes, where I is diagonal; `to_principal` and `from_principal` take states
        there and back."""
        if self.axes is None:
            return self
        load = self.load if isinstance(self.load, Free) else InPrincipalAxes(self.load, self.axes)
        axis = None if self.twist_axis is None else self.axes.unrotate(self.twist_axis)
        return self.replaced(load=load, twist_axis=axis, axes=None)

    @property
    def free(self) -> Rotation:
        """The same body without its load."""
        return self.replaced(load=Free())

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


def to_principal(whose: RigidBody | Rotation, state: State) -> State:
    """A state in the user's axes, seen from the principal axes of its body. What a method keeps of its own
    in a state is there already."""
    axes = whose.axes
    if axes is None:
        return state
    return replace(state, attitude=state.attitude * axes, momentum=axes.unrotate(state.momentum))


def from_principal(whose: RigidBody | Rotation, state: State) -> State:
    """The inverse of `to_principal`."""
    axes = whose.axes
    if axes is None:
        return state
    return replace(state, attitude=state.attitude * axes.conjugate, momentum=axes.rotate(state.momentum))
