"""What methods whose step solves equations share."""

from __future__ import annotations

from dataclasses import dataclass, field

from polhode.algebra import Scalar, Vec3
from polhode.algebra.scalars import rsqrt
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
        """For the rotation vector of the step, an angle."""
        return self.solver.in_units(residual, guess, rsqrt(guess.norm2() + ANGLE_FLOOR**2))

    def solve_momentum(self, system: Rotation, residual: Residual, guess: Vec3, h: Scalar) -> tuple[Vec3, Report]:
        """For a body momentum; a momentum of |I|/h turns the body by an angle of 1 in a step."""
        floor = ANGLE_FLOOR * system.moments.norm() / abs(h)
        return self.solver.in_units(residual, guess, rsqrt(guess.norm2() + floor * floor))
