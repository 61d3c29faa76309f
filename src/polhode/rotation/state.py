"""`State`: attitude and body momentum; and `Start`, what a user says of the first one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from polhode._programs import platform
from polhode.algebra import Mat3, Quaternion, Vec3
from polhode.algebra.library import library_of
from polhode.model.checks import InputError, numbers, rotation_matrix, shape_of, shown, unit_quaternion
from polhode.rotation.members import together

_MANY = 2**16


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class State:
    """Where a body points and how it turns: the attitude R (body to space) as a unit
    quaternion and the angular momentum Π (kg m²/s, body axes). Any batch shape."""

    attitude: Quaternion
    momentum: Vec3

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the batch."""
        return getattr(self.momentum.x, "shape", ())

    def tidied(self) -> Self:
        """Attitudes of unit length, whose round-off would add up, and not at random."""
        return replace(self, attitude=self.attitude.renormalized())

    def kinetic(self, system: Any) -> Any:
        """Kinetic energy (J), as whoever made this state means it."""
        return system.kinetic(self.momentum)

    @staticmethod
    def of(
        *,
        attitude: Any = None,
        directors: Any = None,
        omega: Any = None,
        momentum: Any = None,
        spatial_momentum: Any = None,
    ) -> Start:
        """The start of a run. Exactly one of `omega` (rad/s, body axes), `momentum` (kg m²/s, body axes) and
        `spatial_momentum` (kg m²/s, space axes). `attitude`, body to space: a Quaternion, (w, x, y, z), a 3x3
        rotation matrix or a scipy Rotation; the identity if not given. Or `directors`: d1, d2, d3,
        the body axes in space. Leading axes are a batch."""
        if directors is not None:
            if attitude is not None:
                raise InputError("give attitude or directors, not both")
            attitude = _from_directors(directors)
        given = {"omega": omega, "momentum": momentum, "spatial_momentum": spatial_momentum}
        named = [name for name, value in given.items() if value is not None]
        if len(named) != 1:
            raise InputError(
                f"give exactly one of omega, momentum, spatial_momentum; got {', '.join(named) or 'none of them'}"
            )
        turning = where_it_runs(numbers(named[0], given[named[0]], (3,)))
        return Start(attitude_of(attitude), named[0], Vec3.of(turning))


@dataclass(frozen=True)
class Start:
    """An attitude and one of omega, momentum, spatial momentum; a `State` once the body is known."""

    attitude: Quaternion
    kind: str
    turning: Vec3

    def __repr__(self) -> str:
        return f"Start(attitude={self.attitude!r}, {self.kind}={self.turning!r})"

    def on(self, body: Any) -> State:
        """The state of this body, a `RigidBody` or a `Rotation`, in its own body frame."""
        shapes = {"attitude": np.shape(self.attitude.w), self.kind: np.shape(self.turning.x)}
        if self.kind == "omega":
            shapes["inertia"] = np.shape(body.moments.x)
        q, v = _broadcast(self.attitude, self.turning, together(**shapes))
        with np.errstate(over="ignore", invalid="ignore"):  # a run looks at its energy at the start
            if self.kind == "omega":
                return State(q, body.moments.scale(v) if body.axes is None else Mat3.of(body.tensor) @ v)
            return State(q, v if self.kind == "momentum" else q.unrotate(v))


def where_it_runs(x: Any) -> Any:
    """Numbers of many bodies, on a GPU if that is where programs run: in one piece, which is quicker than in three."""
    return jnp.asarray(x) if np.size(x) >= _MANY and platform() == "gpu" else x


def attitude_of(value: Any) -> Quaternion:
    """A unit quaternion from any of the ways in which users give an attitude."""
    if value is None:
        return Quaternion.of((1.0, 0.0, 0.0, 0.0))
    if hasattr(value, "as_quat"):
        value = Quaternion.from_scipy(value)
    if isinstance(value, Quaternion):
        value = value.array
    if isinstance(value, Mat3):
        value = value.array
    needed = (
        "attitude must be a quaternion (w, x, y, z), a 3x3 rotation matrix, a scipy Rotation, or polhode.exp of a "
        "rotation vector"
    )
    shape = shape_of(needed, value)
    if shape[-1:] == (4,):
        return Quaternion.of(where_it_runs(unit_quaternion("attitude", value)))
    if shape[-2:] == (3, 3):
        return Quaternion.from_matrix(Mat3.of(rotation_matrix("attitude", value)))
    raise InputError(f"{needed}; got an array of shape {shape}: {shown(value)}")


def _from_directors(directors: Any) -> Any:
    rows = numbers("directors", directors, (3, 3))
    with np.errstate(over="ignore", invalid="ignore"):
        products = rows @ np.swapaxes(rows, -1, -2)
        defect = np.abs(products - np.eye(3))
    if not defect.max(initial=0.0) <= 1e-8:  # nor if it overflowed
        i, j = np.unravel_index(defect.argmax(), defect.shape)[-2:]
        raise InputError(
            f"the initial directors are not orthonormal: d{i + 1} · d{j + 1} is off by {defect.max():.3g} (at most "
            "1e-8 is allowed); orthonormalise them, or give an attitude as a quaternion"
        )
    return rotation_matrix("directors", np.swapaxes(rows, -1, -2))


def _broadcast(q: Quaternion, v: Vec3, shape: tuple[int, ...]) -> tuple[Quaternion, Vec3]:
    if any(np.shape(x) != shape for x in (*q, *v)):
        library = library_of(*q, *v)  # all of them where one is
        q, v = jax.tree.map(lambda x: library.broadcast_to(x, shape)[()], (q, v))
    return q, v
