"""A01 of the IFToMM library: a point mass on a massless bar, released from rest at the height of its pivot.

In the x-y plane, gravity along -y, the mass at x = -1 m. The bar is a distance to the origin; no torque reaches a
body held at its centre of mass, so that its inertia, which a point mass has none of, does not enter.

González, Dopico, Luaces, Cuadrado, Multibody System Dynamics 16 (2006) 179-199; www.iftomm-multibody.org/benchmark
"""

from __future__ import annotations

from functools import cache

from polhode.drawing.shapes import Sphere
from polhode.model.checks import positive
from polhode.model.problem import Problem
from polhode.multibody import GROUND, Body, Distance, Gravity, System
from polhode.problems.base import BuiltIn, Parameter


@cache
def _simple_pendulum(length: float, mass: float, gravity: float) -> Problem:
    positive("parameter 'length'", length)
    positive("parameter 'mass'", mass)
    moment = 0.4 * mass * (0.05 * length) ** 2  # of a ball as it is drawn
    ball = Body("mass", mass, (moment,) * 3, position=(-length, 0.0, 0.0), shape=Sphere(0.05 * length))
    return Problem(
        System(
            [ball],
            forces=[Gravity((0.0, -gravity, 0.0))],
            constraints=[Distance(GROUND, "mass", name="bar")],
            observables={
                "x": (lambda view: view.position("mass")[0], "m"),
                "y": (lambda view: view.position("mass")[1], "m"),
            },
            traces={"mass": lambda view: view.position("mass")},
            up="y",
        )
    )


SIMPLE_PENDULUM = BuiltIn(
    "simple-pendulum",
    "Point mass on a massless bar, released level (IFToMM A01)",
    "iftomm",
    (
        Parameter("length", 1.0, "m", "of the bar"),
        Parameter("mass", 1.0, "kg", ""),
        Parameter("gravity", 9.81, "m/s²", "along -y"),
    ),
    _simple_pendulum,
    0.01,
    10.0,
    "three-field",
)
