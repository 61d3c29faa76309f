"""`Load`, the base of every load, sums of loads, and loads seen in principal axes.

A load answers two questions about attitude R (body to space), time t and angular velocity ω
(body): its torque in body components, and its potential energy.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from polhode.algebra import Mat3, Quaternion, Scalar, Vec3


def torque_of(energy: Callable[[Mat3], Scalar], R: Mat3, frame: Mat3 | None = None) -> Vec3:
    """T_i = -dU along F skew(e_i), in body components. F is R itself unless a frame is given;
    then it is -rot(Rᵀ ∇U) of Vilmart (8)."""
    F = R if frame is None else frame
    R, F = jax.tree.unflatten(jax.tree.structure((R, F)), jnp.broadcast_arrays(*jax.tree.leaves((R, F))))
    a, b, c = (F.column(j) for j in range(3))
    columns = tuple(R.column(j) for j in range(3))

    def along(j: int, by: Vec3, k: int, other: Vec3) -> Scalar:
        """Where columns j and k of R change so, and the third does not."""

        def moved(x: Vec3, y: Vec3) -> Scalar:
            new = {j: x, k: y}
            return jnp.asarray(energy(Mat3.from_columns(*(new.get(i, columns[i]) for i in range(3)))), dtype=float)

        return -jax.jvp(moved, (columns[j], columns[k]), (by, other))[1]

    return Vec3(along(1, c, 2, -b), along(0, -c, 2, a), along(0, b, 1, -a))  # the columns of F skew(e_i)


class Load:
    """Base of every load. Loads add: `gravity + friction`."""

    def torque(self, t: Scalar, R: Mat3, omega: Vec3) -> Vec3:
        """The torque (N m, body axes) at time t (s), attitude R (body to space) and omega (rad/s, body axes)."""
        raise NotImplementedError

    def moment(self, t: Scalar, R: Mat3, omega: Vec3) -> Vec3:
        """The part of the torque (N m, body axes) that no potential accounts for; arguments (s, 1, rad/s) as there."""
        return Vec3(0.0, 0.0, 0.0)

    def energy(self, t: Scalar, R: Mat3) -> Scalar:
        """The potential energy (J) at time t (s) and attitude R (body to space); 0 for a load that has none."""
        return 0.0

    @property
    def conservative(self) -> bool:
        """Whether all of the load is accounted for by `energy`, with no explicit time."""
        return False

    @property
    def uses_omega(self) -> bool:
        """Whether the torque depends on the angular velocity."""
        return False

    def batch(self, shape: tuple[int, ...], of: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
        """The batch of a run whose start and body make this one, `of` shapes by name, with parameters that have one
        value for each member."""
        return shape

    def traced(self, shape: tuple[int, ...]) -> Load:
        """The same with the user's functions as they are now, for a batch of this shape: see `Traced`."""
        return self

    def mark(self) -> Hashable | None:
        """Equal to that of before only if it computes the same as it did; None where that cannot be told."""
        return None

    def own_numbers(self) -> Load | None:
        """The same with True in the place of numbers of which every member of a batch has its own, False of those for
        all; None where that cannot be told: of a class of the user's with arrays."""
        return None if any(map(np.ndim, jax.tree.leaves(self))) else jax.tree.map(lambda x: False, self)

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

    def mark(self) -> Hashable:
        return ()


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

    def batch(self, shape: tuple[int, ...], of: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
        for part in self.parts:
            shape = part.batch(shape, of)
        return shape

    def traced(self, shape: tuple[int, ...]) -> Load:
        return Sum(tuple(part.traced(shape) for part in self.parts))

    def mark(self) -> Hashable | None:
        marks = tuple(part.mark() for part in self.parts)
        return None if None in marks else marks

    def own_numbers(self) -> Load | None:
        parts = [part.own_numbers() for part in self.parts]
        return None if None in parts else Sum(tuple(part for part in parts if part is not None))

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

    def batch(self, shape: tuple[int, ...], of: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
        return self.load.batch(shape, of)

    def traced(self, shape: tuple[int, ...]) -> Load:
        return InPrincipalAxes(self.load.traced(shape), self.axes)

    def own_numbers(self) -> Load | None:
        own = self.load.own_numbers()
        return None if own is None else InPrincipalAxes(own, jax.tree.map(lambda x: np.ndim(x) > 0, self.axes))
