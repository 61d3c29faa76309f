"""`State`: where the bodies of a system are and how they move, and the multipliers of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from polhode.algebra.arrays import matrices
from polhode.algebra.written import by_name
from polhode.model.pytree import tree
from polhode.multibody.describe.bodies import Body


@tree
class State:
    """Of N bodies and k constraint rows: `positions` of the centres of mass (m) and `velocities` (m/s) in space axes,
    `quaternions` w, x, y, z, body to space, `omegas` (rad/s) in body axes, `multipliers` (N, N m)."""

    positions: Any  # (N, 3) of the centres of mass, space axes (m)
    quaternions: Any  # (N, 4) w, x, y, z, body to space
    velocities: Any  # (N, 3) space axes (m/s)
    omegas: Any  # (N, 3) body axes (rad/s)
    multipliers: Any  # (k,) the classical multipliers, half a step back: constraint forces (N, N m)

    __repr__ = by_name

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the batch: there is none."""
        return ()

    def tidied(self) -> Self:
        """Itself: a step keeps attitudes at unit length."""
        return self  # a step keeps attitudes at unit length

    @property
    def rotations(self) -> Any:
        """R, body to space, (N, 3, 3)."""
        return matrices(self.quaternions)

    @staticmethod
    def of(bodies: Sequence[Body], rows: int) -> State:
        """The start as the bodies give it, with no multipliers."""
        return State(
            np.array([body.position for body in bodies]),
            np.array([body.quaternion for body in bodies]),
            np.array([body.velocity for body in bodies]),
            np.array([body.omega for body in bodies]),
            np.zeros(rows),
        )
