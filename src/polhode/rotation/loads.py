"""Loads: potentials, torques, and sums of them, as functions of the user's own.

A load answers two questions about attitude R (body to space), time t and angular velocity ω
(body): its torque in body components, and its potential energy. Users' functions are written
for one body: R and ω behave as arrays (3, 3) and (3,), and batches are mapped over.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._programs import Traced, traced
from polhode.algebra import Mat3, Quaternion, Scalar, Vec3
from polhode.algebra.arraylike import as_array
from polhode.model.checks import InputError, numbers
from polhode.model.functions import as_float, parameters_of
from polhode.rotation.members import batch_shape, for_each_member


def torque_of(energy: Callable[[Mat3], Scalar], R: Mat3, frame: Mat3 | None = None) -> Vec3:
    """T_i = -dU along F skew(e_i), in body components. F is R itself unless a frame is given;
    then it is -rot(Rᵀ ∇U) of Vilmart (8)."""
    F = R if frame is None else frame
    R, F = jax.tree.unflatten(jax.tree.structure((R, F)), jnp.broadcast_arrays(*jax.tree.leaves((R, F))))
    a, b, c = (F.column(j) for j in range(3))
    zero = Vec3(*(jnp.zeros_like(entry) for entry in a))
    turns = (zero, c, -b), (-c, zero, a), (b, -a, zero)  # the columns of F skew(e_i)

    def along(turn: tuple[Vec3, Vec3, Vec3]) -> Scalar:
        return -jax.jvp(lambda R: jnp.asarray(energy(R), dtype=float), (R,), (Mat3.from_columns(*turn),))[1]

    return Vec3(*(along(turn) for turn in turns))


class Load:
    """Base of every load. Loads add: `gravity + friction`."""

    def torque(self, t: Scalar, R: Mat3, omega: Vec3) -> Vec3:
        """In body components."""
        raise NotImplementedError

    def moment(self, t: Scalar, R: Mat3, omega: Vec3) -> Vec3:
        """The part of the torque that no potential accounts for, in body components."""
        return Vec3(0.0, 0.0, 0.0)

    def energy(self, t: Scalar, R: Mat3) -> Scalar:
        """The potential energy; 0 for a load that has none."""
        return 0.0

    @property
    def conservative(self) -> bool:
        """Whether all of the load is accounted for by `energy`, with no explicit time."""
        return False

    @property
    def uses_omega(self) -> bool:
        """Whether the torque depends on the angular velocity."""
        return False

    def traced(self, shape: tuple[int, ...]) -> Load:
        """The same with the user's functions as they are now, for a batch of this shape: see `Traced`."""
        return self

    def __add__(self, other: Load) -> Load:
        return Sum((self, other))


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Free(Load):
    """No load."""

    def torque(self, t: Scalar, R: Mat3, omega: Vec3) -> Vec3:
        return Vec3(0.0, 0.0, 0.0)

    @property
    def conservative(self) -> bool:
        return True


class TracedFunction(Traced):
    """The function of a load, of the first few of its arguments and of parameters by name."""

    def __call__(self, *values: Any, **parameters: Any) -> Any:
        return self.evaluate(values, parameters)


class _FromFunction(Load):
    """Holds a function and the numbers passed to it by name. The function is part of
    the compiled program; the numbers are not, so changing them compiles nothing."""

    fn: Callable[..., Any]
    parameters: dict[str, Any]

    def __init__(self, fn: Callable[..., Any], *, parameters: Any = None, **by_keyword: Any) -> None:
        self.fn = fn
        self.parameters = parameters_of(type(self).__name__, fn, parameters, by_keyword)
        self._arity = self._count_arguments()

    _allowed: tuple[str, ...] = ()

    def _count_arguments(self) -> int:
        kind = type(self).__name__
        if not callable(self.fn):
            raise InputError(f"{kind} needs a function of {', '.join(self._allowed)}; got {self.fn!r}")
        arguments = [
            p
            for p in inspect.signature(self.fn).parameters.values()
            if p.name not in self.parameters and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        least = sum(p.default is p.empty for p in arguments)
        if not arguments or least > len(self._allowed):
            raise InputError(
                f"the function of a {kind} takes ({', '.join(self._allowed)}), or the first few of them, and the "
                f"parameters given by name; this one takes ({', '.join(p.name for p in arguments)})"
            )
        if least == 0:
            return min(len(arguments), len(self._allowed))
        for argument, name in zip(arguments[least:], self._allowed[least:], strict=False):
            if argument.name != name:
                break
            least += 1  # has a default, but is what it is called
        return least

    def _call(self, *values: Any) -> Any:
        if isinstance(self.fn, TracedFunction):
            return self.fn(*values[: self._arity], **self.parameters)
        return self._mapped(values[: self._arity], self.parameters, batch_shape(values))

    def _mapped(self, values: tuple[Any, ...], parameters: dict[str, Any], shape: tuple[int, ...]) -> Any:
        def of_one(*values: Any, **parameters: Any) -> Any:
            seen = (as_array(v) if isinstance(v, Mat3 | Vec3) else v for v in values)
            return self._checked(self.fn(*seen, **parameters))

        return for_each_member(of_one, values, parameters, shape)

    def _checked(self, value: Any) -> Any:
        """What the function returned, of the one shape that is allowed."""
        raise NotImplementedError

    def traced(self, shape: tuple[int, ...]) -> Any:
        if isinstance(self.fn, TracedFunction):
            return self
        number = jax.ShapeDtypeStruct(shape, float)
        examples = {"R": Mat3(*[number] * 9), "t": jax.ShapeDtypeStruct((), float), "omega": Vec3(*[number] * 3)}
        values = tuple(examples[name] for name in self._allowed[: self._arity])
        numbers = jax.tree.map(as_float, self.parameters)

        def call(values: Any, parameters: Any) -> Any:
            return jax.tree.map(lambda x: jnp.asarray(x, dtype=float), self._mapped(values, parameters, shape))

        names = tuple(sorted(numbers))
        leaves = [TracedFunction(*traced(call, values, numbers)), *(numbers[n] for n in names)]
        return self.tree_unflatten((None, names, self._arity, self._static()), leaves)

    def tree_flatten(self) -> Any:
        names = tuple(sorted(self.parameters))
        known = isinstance(self.fn, Traced)
        leaves = [self.fn if known else None, *(self.parameters[n] for n in names)]
        return leaves, (None if known else self.fn, names, self._arity, self._static())

    def _static(self) -> tuple[Any, ...]:
        return ()

    @classmethod
    def tree_unflatten(cls, aux: Any, leaves: Any) -> Any:
        fn, names, arity, static = aux
        known, *numbers = leaves
        load = object.__new__(cls)
        load.fn = known if fn is None else fn
        load.parameters = dict(zip(names, numbers, strict=True))
        load._arity = arity
        for name, value in static:
            setattr(load, name, value)
        return load

    def __repr__(self) -> str:
        words = [getattr(self.fn, "__name__", repr(self.fn)), *(f"{k}={v!r}" for k, v in self.parameters.items())]
        return f"{type(self).__name__}({', '.join(words)})"


@jax.tree_util.register_pytree_node_class
class Potential(_FromFunction):
    """A potential energy U(R) or U(R, t) in joules; its torque follows by automatic differentiation.

    The function is written for one body: R (body to space) behaves as an array of shape (3, 3),
    and a batch is mapped over. `Potential(lambda R: 20 * R[2, 2])`, or with numbers that may
    change without compiling anew, given by name: `Potential(lambda R, weight: weight * R[2, 2],
    weight=20.0)`, or in a dictionary, `parameters={"weight": 20.0}`.
    """

    _allowed = ("R", "t")

    def energy(self, t: Scalar, R: Mat3) -> Scalar:
        return self._call(R, t)

    def torque(self, t: Scalar, R: Mat3, omega: Vec3) -> Vec3:
        return torque_of(lambda R: self._call(R, t), R)

    def _checked(self, value: Any) -> Any:
        if value is None or _shape(value) != ():
            raise InputError(
                "the potential must be one number for each body; its function, called for one body, returned "
                f"{_shape_in_words(value)}"
            )
        return value

    @property
    def conservative(self) -> bool:
        return self._arity == 1


@jax.tree_util.register_pytree_node_class
class Torque(_FromFunction):
    """A torque (N m): three numbers, or a function of (t), (t, R) or (t, R, omega) that returns three.

    They are components in the given frame, "body" (as for `multibody.Torque`) or "space". The
    function is written for one body: R (body to space) and omega (rad/s, body components) behave
    as arrays of shape (3, 3) and (3,), and a batch is mapped over. Other numbers are given by
    name: `Torque(lambda t, R, omega, c: -c * omega, c=0.1)`, or in a dictionary, `parameters=`.
    """

    _allowed = ("t", "R", "omega")
    frame: str = "body"

    def __init__(self, fn: Any, *, frame: str = "body", parameters: Any = None, **by_keyword: Any) -> None:
        if frame not in ("body", "space"):
            raise InputError(f"frame must be 'body' or 'space'; got {frame!r}")
        if not callable(fn):
            x, y, z = np.moveaxis(numbers("a Torque is a function or three numbers: it", fn, (3,)), -1, 0)
            if parameters or by_keyword:
                given = ", ".join(sorted({**(parameters or {}), **by_keyword}))
                raise InputError(f"Torque: three numbers take no parameters; got {given}")
            fn, by_keyword = _constant, {"x": x, "y": y, "z": z}
        super().__init__(fn, parameters=parameters, **by_keyword)
        self.frame = frame

    def _static(self) -> tuple[Any, ...]:
        return (("frame", self.frame),)

    def torque(self, t: Scalar, R: Mat3, omega: Vec3) -> Vec3:
        vector = self._call(t, R, omega)
        return vector if self.frame == "body" else R.T @ vector

    moment = torque

    def _checked(self, value: Any) -> Vec3:
        return Vec3(*_three(tuple(value) if isinstance(value, Vec3) else value))

    @property
    def uses_omega(self) -> bool:
        return self._arity == 3


def _constant(t: Scalar, x: Any, y: Any, z: Any) -> Any:
    return x, y, z


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Sum(Load):
    """Several loads at once."""

    parts: tuple[Load, ...]

    def torque(self, t: Scalar, R: Mat3, omega: Vec3) -> Vec3:
        total = Vec3(0.0, 0.0, 0.0)
        for part in self.parts:
            total = total + part.torque(t, R, omega)
        return total

    def moment(self, t: Scalar, R: Mat3, omega: Vec3) -> Vec3:
        total = Vec3(0.0, 0.0, 0.0)
        for part in self.parts:
            total = total + part.moment(t, R, omega)
        return total

    def energy(self, t: Scalar, R: Mat3) -> Scalar:
        return sum(part.energy(t, R) for part in self.parts)

    @property
    def conservative(self) -> bool:
        return all(part.conservative for part in self.parts)

    @property
    def uses_omega(self) -> bool:
        return any(part.uses_omega for part in self.parts)

    def traced(self, shape: tuple[int, ...]) -> Load:
        return Sum(tuple(part.traced(shape) for part in self.parts))

    def __add__(self, other: Load) -> Load:
        return Sum((*self.parts, other))


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class InPrincipalAxes(Load):
    """A load given in the user's body frame, as methods see it in principal axes."""

    load: Load
    axes: Quaternion  # principal axes to the user's body frame

    def torque(self, t: Scalar, R: Mat3, omega: Vec3) -> Vec3:
        return self.axes.unrotate(self.load.torque(t, R @ self.axes.matrix().T, self.axes.rotate(omega)))

    def moment(self, t: Scalar, R: Mat3, omega: Vec3) -> Vec3:
        return self.axes.unrotate(self.load.moment(t, R @ self.axes.matrix().T, self.axes.rotate(omega)))

    def energy(self, t: Scalar, R: Mat3) -> Scalar:
        return self.load.energy(t, R @ self.axes.matrix().T)

    @property
    def conservative(self) -> bool:
        return self.load.conservative

    @property
    def uses_omega(self) -> bool:
        return self.load.uses_omega

    def traced(self, shape: tuple[int, ...]) -> Load:
        return InPrincipalAxes(self.load.traced(shape), self.axes)


def _three(value: Any) -> Any:
    """The components of what a function of a torque returned."""
    if isinstance(value, tuple | list):
        if len(value) != 3:
            raise InputError(f"a torque has three components; its function returned {len(value)}")
        shapes = [_shape(v) for v in value]
        if any(shapes):
            raise InputError(f"a torque has three components, one number each; its function returned shapes {shapes}")
        return value
    if _shape(value) != (3,):
        raise InputError(
            f"a torque has three components; its function, called for one body, returned {_shape_in_words(value)}"
        )
    return value[0], value[1], value[2]


def _shape(value: Any) -> tuple[int, ...]:
    return np.shape(jnp.asarray(value) if isinstance(value, tuple | list) else value)


def _shape_in_words(value: Any) -> str:
    if _shape(value) == ():
        return repr(value)
    return f"an array of shape {_shape(value)}; numbers that differ from member to member of a batch are parameters"
