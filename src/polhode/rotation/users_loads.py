"""`Potential` and `Torque`: loads given by functions of the user's own."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.algebra import Mat3, Scalar, Vec3
from polhode.model.checks import InputError, numbers, shown
from polhode.rotation.from_function import FromFunction
from polhode.rotation.loads import torque_of


@jax.tree_util.register_pytree_node_class
class Potential(FromFunction):
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
class Torque(FromFunction):
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
            raise InputError(f"frame must be 'body' or 'space'; got {shown(frame)}")
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
