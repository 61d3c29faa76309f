"""A pinned body in a Coulomb potential with a soft wall (Krysl 5.4, after Holder et al.).

U = sign · (-1/r + 0.001 r⁻¹⁰), r = 1.1 + R33: attraction towards R33 = -1, and a wall
that repels close to it. The paper's formula as printed has the opposite sign of what its
words describe; sign = -1 gives that reading.
"""

from __future__ import annotations

from typing import Any

from polhode.algebra import Mat3
from polhode.model import InputError
from polhode.model.problem import Problem
from polhode.problems.base import BuiltIn, Parameter
from polhode.rotation import Potential, RigidBody, Rotation, State


def coulomb_with_wall(R: Mat3, sign: Any) -> Any:
    inverse = 1.0 / (1.1 + R.m33)
    return sign * (0.001 * inverse**10 - inverse)


def _make(inertia: Any, spatial_momentum: Any, sign: float) -> Problem:
    if sign not in (1.0, -1.0):
        raise InputError(f"parameter 'sign' is 1 (attraction and a wall) or -1 (as printed); got {sign!r}")
    system = Rotation(RigidBody(inertia), Potential(coulomb_with_wall, sign=sign))
    return Problem(system, State.of(spatial_momentum=spatial_momentum))


COULOMB_WALL = BuiltIn(
    "coulomb-wall",
    "Body in a Coulombic potential with a soft wall",
    "krysl",
    (
        Parameter("inertia", (2.0, 3.0, 4.5), "kg m²", "principal moments"),
        Parameter("spatial_momentum", (2.0, 2.0, 2.0), "kg m²/s", "at the start"),
        Parameter("sign", 1.0, "1", "1: attraction and a wall, as the text says; -1: the torque as printed"),
    ),
    _make,
    step=0.05,
    until=200.0,
)
