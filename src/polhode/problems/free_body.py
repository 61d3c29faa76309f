"""Torque-free motion of an asymmetric body: Krysl 5.1 (after McLachlan & Zanna), and Vilmart's book."""

from __future__ import annotations

from typing import Any

from polhode.model.problem import Problem
from polhode.problems.base import BuiltIn, Parameter
from polhode.rotation import RigidBody, Rotation, State


def _make(inertia: Any, omega: Any) -> Problem:
    return Problem(Rotation(RigidBody(inertia)), State.of(omega=omega))


def _make_book(inertia: Any, momentum: Any) -> Problem:
    return Problem(Rotation(RigidBody(inertia)), State.of(momentum=momentum))


BOOK = BuiltIn(
    "book",
    "A hardbound book, thrown: torque-free motion near the unstable axis",
    "vilmart",
    (
        Parameter("inertia", (0.376, 0.627, 1.0), "kg m²", "principal moments"),
        Parameter("momentum", (0.0, 0.6, -0.8), "kg m²/s", "body angular momentum at the start"),
    ),
    _make_book,
    step=0.01,
    until=40.0,
    method="dmv10",
)

FREE_BODY = BuiltIn(
    "free-body",
    "Torque-free asymmetric body",
    "krysl",
    (
        Parameter("inertia", (0.9144, 1.098, 1.66), "kg m²", "principal moments"),
        Parameter("omega", (0.45549, 0.82623, 0.03476), "rad/s", "body angular velocity at the start"),
    ),
    _make,
    step=0.1,
    until=100.0,
)
