"""What methods whose step solves equations share."""

from __future__ import annotations

from dataclasses import dataclass, field

from polhode.algebra import Scalar, Vec3
from polhode.model.method import Method, Step
from polhode.model.traits import Traits
from polhode.rotation import Rotation
from polhode.solve import FixedPoint, Newton, PlainNewton, Report, Residual

__all__ = ["ANGLE_FLOOR", "Implicit", "Method", "Step", "Traits"]

# A body at rest has no scale of its own. This is a small angle for a
# step: errors are asked to be below 1e-16 of it.
ANGLE_FLOOR = 1e-7


@dataclass(frozen=True)
class Implicit(Method):
    """A method whose step solves equations; `solver` says how."""

    solver: Newton | FixedPoint | PlainNewton = field(default_factory=Newton)

    def solve_rotation(self, residual: Residual, guess: Vec3) -> tuple[Vec3, Report]:
        """For the rotation vector of the step (rad, body)."""
        return self.solver(residual, guess, _size(guess) + ANGLE_FLOOR)

    def solve_momentum(self, system: Rotation, residual: Residual, guess: Vec3, h: Scalar) -> tuple[Vec3, Report]:
        """For a momentum (kg m²/s, body); one of |I|/h turns the body by an angle of 1 in a step of h (s)."""
        return self.solver(residual, guess, _size(guess) + ANGLE_FLOOR * _size(system.moments) / abs(h))


def _size(v: Vec3) -> Scalar:
    """A norm of which no square can overflow or vanish, and that needs no root."""
    return abs(v.x) + abs(v.y) + abs(v.z)
