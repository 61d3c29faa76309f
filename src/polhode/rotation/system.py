"""`Rotation`: one rotating body and its load; all that a method needs to know."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from polhode.algebra import Quaternion, Scalar, Vec3
from polhode.algebra.library import library_of
from polhode.model.checks import InputError, check_unit
from polhode.model.functions import as_arrays, failures_named, is_traced
from polhode.model.html import table
from polhode.model.pytree import replaced, tree
from polhode.model.quantity import Quantity
from polhode.model.system import described
from polhode.rotation.body import NonTwistingBody, RigidBody
from polhode.rotation.judgement import GIVEN, check_fit, conserved_in, look_at
from polhode.rotation.loads import Free, InPrincipalAxes, Load
from polhode.rotation.members import batch_shape, together
from polhode.rotation.quantities import quantities_of
from polhode.rotation.state import Start, State
from polhode.rotation.watching import WatchedNumber


@described
@tree
class Rotation:
    """One rotating body with its load: Π' = Π × Ω + T, R' = R skew(Ω), Ω = I⁻¹Π. A pytree: it passes through jit,
    vmap and grad with moments and load parameters as its numbers.

    All of it, and the states of it, are in the user's own body axes. `axes` leads there from the principal
    ones; without, they are the same and I is diagonal. The step of a method sees `principal` alone.

    With a `twist_axis` n, a principal axis, the body does not turn about it: Ω · n = 0, and
    the torque along n that sees to it comes on top of T."""

    kind: ClassVar[str] = "rotation"

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
        for f, value in zip(fields(self), parts, strict=True):
            object.__setattr__(self, f.name, value)

    @classmethod
    def of(cls, moments: Vec3, load: Load | None = None) -> Rotation:
        """From principal moments (kg m²), along the body axes, that no `RigidBody` checked."""
        return replaced(object.__new__(cls), moments=moments, load=load or Free(), twist_axis=None, axes=None)

    def replaced(self, **changes: Any) -> Rotation:
        """With other values of these fields, unchecked: for derivatives, `system.replaced(moments=moments)`, a `Vec3`
        or three numbers."""
        known = [f.name for f in fields(self)]
        for name in changes:
            if name not in known:
                raise InputError(f"a Rotation has no field {name!r}; it has {', '.join(known)}")
        if "moments" in changes:
            changes["moments"] = Vec3.of(changes["moments"])
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
        """Ω = I⁻¹ Π (rad/s) of Π (kg m²/s), body axes. Reciprocals are constants of a loop, divisions would not be."""
        I = self.moments
        if self.axes is not None:
            return self.axes.rotate(self.principal.omega(self.axes.unrotate(Pi)))
        return Vec3((1.0 / I.x) * Pi.x, (1.0 / I.y) * Pi.y, (1.0 / I.z) * Pi.z)

    def momentum(self, omega: Vec3) -> Vec3:
        """Π = I Ω (kg m²/s) of Ω (rad/s), body axes."""
        if self.axes is not None:
            return self.axes.rotate(self.moments.scale(self.axes.unrotate(omega)))
        return self.moments.scale(omega)

    def torque(self, t: Scalar, q: Quaternion, omega: Vec3) -> Vec3:
        """T (N m) at time t (s), attitude q (body to space) and omega (rad/s), both in body axes."""
        return self.load.torque(t, q.matrix(), omega)

    def kinetic(self, Pi: Vec3) -> Scalar:
        """½ Π · I⁻¹Π (J), Π (kg m²/s) in body axes."""
        return 0.5 * Pi.dot(self.omega(Pi))

    def potential(self, t: Scalar, q: Quaternion) -> Scalar:
        """U (J) at time t (s) and attitude q (body to space)."""
        return self.load.energy(t, q.matrix())

    def to_principal(self, state: State) -> State:
        """A state in the user's axes, seen from the principal axes. What a method keeps of its own
        in a state is there already."""
        if self.axes is None:
            return state
        return replace(state, attitude=state.attitude * self.axes, momentum=self.axes.unrotate(state.momentum))

    def from_principal(self, state: State) -> State:
        """The inverse of `to_principal`."""
        if self.axes is None:
            return state
        axes = self.axes
        return replace(state, attitude=state.attitude * axes.conjugate, momentum=axes.rotate(state.momentum))

    @property
    def body(self) -> RigidBody:
        """The body alone."""
        kind = RigidBody if self.twist_axis is None else NonTwistingBody
        return kind(self.tensor, allow_unphysical=True)

    @property
    def tensor(self) -> Any:
        """The inertia (kg m²), 3x3, in the user's body axes; of a batch of bodies (*batch, 3, 3)."""
        if is_traced((self.moments, self.axes)):
            A = jnp.eye(3) if self.axes is None else self.axes.matrix().array
            return (A * self.moments.array[..., None, :]) @ jnp.swapaxes(A, -1, -2)
        moments = np.asarray(self.moments.array)
        if self.axes is None:
            return moments[..., None] * np.eye(3)
        A = np.asarray(self.axes.matrix().array)
        made = (A * moments[..., None, :]) @ np.swapaxes(A, -1, -2)
        return made / 2 + np.swapaxes(made, -1, -2) / 2

    # What is asked of every system, see `model.system`.

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        return quantities_of(twists=self.twist_axis is None, free=isinstance(self.load, Free))

    def plain(self) -> Rotation:
        return self.replaced(load=Free())

    def started(self, start: Any) -> State:
        """The state that a user means, checked, of the batch that it makes with body and load."""
        if not isinstance(start, Start | State):
            raise InputError(f"start must come from State.of(...); got {start!r}")
        given = isinstance(start, State)
        state = start if isinstance(start, State) else start.on(self)
        shape = batch_shape(state)
        if 0 in shape:
            raise InputError(f"the start is an empty batch, of shape {shape}; give at least one member")
        unknown = [x for x in jax.tree.leaves(self.load) if isinstance(x, Load)]
        if unknown:
            raise InputError(
                f"the load is of the class {type(unknown[0]).__name__}, which JAX cannot take apart; make it a "
                "dataclass and register it with jax.tree_util.register_dataclass"
            )
        shapes = {"start": shape, "inertia": batch_shape((self.moments, self.axes))}
        shape = self.load.batch(together(**shapes), shapes)
        if given and not is_traced(state.attitude):
            check_unit("attitude of the start", state.attitude.array)
        state = as_arrays(state)
        if any(np.shape(x) != shape for x in jax.tree.leaves(state)):
            library = library_of(*jax.tree.leaves(state))
            state = jax.tree.map(lambda x: library.broadcast_to(x, shape), state)
        return state

    def begun(self, start: Any, t0: Any = 0.0) -> tuple[Rotation, State]:
        state = self.started(start)
        with failures_named("the load", GIVEN):
            now = self.replaced(load=self.load.traced(state.shape))  # what its functions read may have changed
        return as_arrays(now), state

    def own_numbers(self) -> Rotation | None:
        """The same, begun, with True in the place of numbers of which every member of a batch has its own, and False of
        those for all; None where that cannot be told."""
        load = self.load.own_numbers()
        return None if load is None else replaced(jax.tree.map(lambda x: np.ndim(x) > 0, self.free), load=load)

    def watched(self, fn: Any) -> WatchedNumber:
        if hasattr(fn, "of_system"):
            raise InputError("this event is one of a system of bodies, and this is one body; give a function")
        with failures_named("an Event", GIVEN):
            return WatchedNumber(fn).traced(())

    def acted(self, state: State, t: float) -> State:
        return as_arrays(State(state.attitude, state.momentum)).tidied()

    def differs(self, other: Any) -> str | None:
        if (self.twist_axis is None) != (other.twist_axis is None):
            return "a body that may twist and one that may not have motions of different kinds"
        return None

    def matched(self, states: State, of: Any) -> State:
        return State(states.attitude, states.momentum)

    def fits(self, method: Any) -> None:
        check_fit(self, method)

    def look(self, state: State, t0: float) -> None:
        look_at(self, state, t0)

    def fastest(self, state: State) -> Any:
        return self.omega(state.momentum).norm()

    @property
    def labels(self) -> dict[str, tuple[str, ...]]:
        return {}

    def describe(self) -> dict[str, Any]:
        """Of a batch of bodies their inertia is a variable of the dataset."""
        kind = RigidBody if self.twist_axis is None else NonTwistingBody
        about = {"body": kind.__name__, "load": repr(None if isinstance(self.load, Free) else self.load)}
        return about if np.ndim(self.moments.x) else {"inertia": self.tensor.ravel().tolist(), **about}

    def conserved(self, states: State, t: np.ndarray) -> tuple[str, ...]:
        return conserved_in(self, states, t)

    def why_failed(self, state: State, t: float, h: float) -> str | None:
        return None

    def __repr__(self) -> str:
        return f"Rotation({self.describe()['body']}, moments={self.moments!r}, load={self.load!r})"

    def _repr_html_(self) -> str:
        rows = [(name.replace("_", " "), value) for name, value in self.describe().items()]
        return table((), rows, "One rotating body")
