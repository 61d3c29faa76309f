"""A chain of rods on ball joints, hung from the ground and released from a straight line, gravity along -z."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from polhode.algebra import exp
from polhode.drawing.shapes import Rod
from polhode.model import InputError
from polhode.model.checks import positive
from polhode.model.problem import Problem
from polhode.multibody import GROUND, Ball, Body, Gravity, System, View
from polhode.problems.base import BuiltIn, Parameter

SLENDER = 0.05  # radius of a rod, in its length


def moments(mass: float, length: float) -> tuple[float, float, float]:
    """Of a solid cylinder along z about its centre of mass (kg m²)."""
    r2 = (SLENDER * length) ** 2
    across = mass * (3 * r2 + length**2) / 12
    return across, across, mass * r2 / 2


@cache
def _chain(bodies: float, length: float, mass: float, angle: float, gravity: float) -> Problem:
    if bodies < 1 or bodies != int(bodies):
        raise InputError(f"parameter 'bodies' is a whole number of rods, 1 or more; got {bodies:g}")
    positive("parameter 'length'", length)
    positive("parameter 'mass'", mass)
    names = [f"rod {i + 1}" for i in range(int(bodies))]
    down = np.array([np.sin(angle), 0.0, -np.cos(angle)])
    top, bottom = (0.0, 0.0, length / 2), (0.0, 0.0, -length / 2)
    rods = [
        Body(
            name,
            mass,
            moments(mass, length),
            position=(i + 0.5) * length * down,
            attitude=exp((0.0, -angle, 0.0)),
            shape=Rod(top, bottom, SLENDER * length),
        )
        for i, name in enumerate(names)
    ]
    joints = [Ball(GROUND, names[0], at_a=(0.0, 0.0, 0.0), at_b=top, name="joint 1")]
    joints += [Ball(a, b, at_a=bottom, at_b=top, name=f"joint {i + 2}") for i, (a, b) in enumerate(pairwise(names))]

    def tip(view: View) -> Any:
        return view.point(names[-1], bottom)

    return Problem(
        System(
            rods,
            forces=[Gravity((0.0, 0.0, -gravity))],
            constraints=joints,
            observables={"tip_x": (lambda view: tip(view)[0], "m"), "tip_z": (lambda view: tip(view)[2], "m")},
            traces={"tip": tip},
        )
    )


CHAIN = BuiltIn(
    "chain",
    "Chain of rods on ball joints, released from a straight line; hundreds of them in linear time",
    "three-field",
    (
        Parameter("bodies", 20.0, "", "number of rods, a whole number"),
        Parameter("length", 1.0, "m", "of each rod"),
        Parameter("mass", 1.0, "kg", "of each rod"),
        Parameter("angle", 1.0, "rad", "from hanging, in the x-z plane, at the start"),
        Parameter("gravity", 9.81, "m/s²", "along -z"),
    ),
    _chain,
    0.01,
    5.0,
    "three-field-sparse",
)
