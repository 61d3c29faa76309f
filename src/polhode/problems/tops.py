"""Heavy tops on a fixed point: Solfec's, and Krysl's slow (5.2) and fast (5.3) tops.

U = weight · R33 (weight = M g l), so the spatial torque is -weight R e₃ × e₃.
"""

from __future__ import annotations

from typing import Any

from polhode.algebra import Mat3, exp
from polhode.model.problem import Problem
from polhode.problems.base import BuiltIn, Parameter
from polhode.rotation import Potential, RigidBody, Rotation, State


def uniform_gravity(R: Mat3, weight: Any) -> Any:
    return weight * R.m33


def _make(inertia: Any, weight: float, tilt: float, spin: float) -> Problem:
    return Problem(
        Rotation(RigidBody(inertia), Potential(uniform_gravity, weight=weight)),
        State.of(attitude=exp((tilt, 0.0, 0.0)), omega=(0.0, 0.0, spin)),
    )


def _parameters(tilt: float, spin: float) -> tuple[Parameter, ...]:
    return (
        Parameter("inertia", (5.0, 5.0, 1.0), "kg m²", "principal moments about the fixed point"),
        Parameter("weight", 20.0, "N m", "M g l: mass, gravity, distance of the centre of mass along body axis 3"),
        Parameter("tilt", tilt, "rad", "of body axis 3 from the vertical, at the start"),
        Parameter("spin", spin, "rad/s", "about body axis 3, at the start"),
    )


HEAVY_TOP = BuiltIn(
    "heavy-top",
    "Heavy symmetrical top, nearly upright and fast",
    "solfec-top",
    _parameters(0.05, 50.0),
    _make,
    0.001,
    10.0,
)
SLOW_TOP = BuiltIn("slow-top", "Slow Lagrangian top", "krysl", _parameters(0.05, 5.0), _make, 0.01, 20.0)
FAST_TOP = BuiltIn("fast-top", "Fast Lagrangian top", "krysl", _parameters(0.3, 50.0), _make, 0.002, 20.0)
