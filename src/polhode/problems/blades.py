"""Bodies on a blade in a plane: Chaplygin's sleigh and the knife edge on a slope."""

from __future__ import annotations

from functools import cache

import jax.numpy as jnp
import numpy as np

from polhode.algebra import exp
from polhode.drawing.shapes import Axes, Box, Plane
from polhode.model.problem import Problem
from polhode.multibody import Body, Gravity, KnifeEdge, Planar, System, View
from polhode.problems.base import BuiltIn, Parameter

_THIN = 0.6  # of the moment in the plane, for moments across it, which do not matter there


def _heading(view: View) -> object:
    R = view.rotation("blade")
    return jnp.arctan2(R[1, 0], R[0, 0])


def _along(view: View, offset: float) -> object:
    return jnp.dot(view.point_velocity("blade", (-offset, 0.0, 0.0)), view.direction("blade", (1.0, 0.0, 0.0)))


def _sliding(
    mass: float,
    inertia: float,
    offset: float,
    gravity: tuple[float, float, float],
    speed: float,
    spin: float,
    heading: float,
) -> Problem:
    """Body x along the blade, centre of mass `offset` ahead of it, at the origin of the plane z = 0."""
    e1, e2 = np.array([np.cos(heading), np.sin(heading), 0.0]), np.array([-np.sin(heading), np.cos(heading), 0.0])
    body = Body(
        "blade",
        mass,
        (_THIN * inertia, _THIN * inertia, inertia),
        position=offset * e1,
        attitude=exp((0.0, 0.0, heading)),
        velocity=speed * e1 + spin * offset * e2,
        omega=(0.0, 0.0, spin),
        shape=(Box((0.6, 0.25, 0.1)), Axes(0.4)),
    )
    return Problem(
        System(
            [body],
            forces=[Gravity(gravity)],
            constraints=[
                Planar("ground", "blade", at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)),
                KnifeEdge("blade", at=(-offset, 0.0, 0.0), normal=(0.0, 1.0, 0.0)),
            ],
            observables={
                "speed": (lambda view: _along(view, offset), "m/s"),
                "omega": (lambda view: view.omega("blade")[2], "rad/s"),
                "heading": (_heading, "rad"),
                "x": (lambda view: view.point("blade", (-offset, 0.0, 0.0))[0], "m"),
                "y": (lambda view: view.point("blade", (-offset, 0.0, 0.0))[1], "m"),
            },
            traces={"blade": lambda view: view.point("blade", (-offset, 0.0, 0.0))},
            ground=Plane(),
        )
    )


@cache
def _sleigh(speed: float, spin: float, offset: float, mass: float, inertia: float) -> Problem:
    return _sliding(mass, inertia, offset, (0.0, 0.0, 0.0), speed, spin, 0.0)


@cache
def _knife(
    speed: float, spin: float, heading: float, slope: float, mass: float, inertia: float, gravity: float
) -> Problem:
    pull = (gravity * float(np.sin(slope)), 0.0, -gravity * float(np.cos(slope)))
    return _sliding(mass, inertia, 0.0, pull, speed, spin, heading)


CHAPLYGIN_SLEIGH = BuiltIn(
    "chaplygin-sleigh",
    "Sleigh on a blade: turns until it runs straight, centre of mass ahead",
    "three-field",
    (
        Parameter("speed", 1.0, "m/s", "of the blade, forward"),
        Parameter("spin", 1.0, "rad/s", "at the start"),
        Parameter("offset", 0.2, "m", "of the centre of mass, ahead of the blade"),
        Parameter("mass", 1.0, "kg", ""),
        Parameter("inertia", 0.1, "kg m²", "about the vertical through the centre of mass"),
    ),
    _sleigh,
    0.01,
    10.0,
    "three-field",
)
KNIFE_EDGE = BuiltIn(
    "knife-edge",
    "Blade on a slope: it goes sideways on the average, not down",
    "three-field",
    (
        Parameter("speed", 0.0, "m/s", "along the blade, at the start"),
        Parameter("spin", 1.0, "rad/s", "constant"),
        Parameter("heading", 0.0, "rad", "at the start; 0 points down the slope"),
        Parameter("slope", 0.3, "rad", "of the plane"),
        Parameter("mass", 1.0, "kg", ""),
        Parameter("inertia", 0.1, "kg m²", "about the normal of the plane"),
        Parameter("gravity", 9.81, "m/s²", ""),
    ),
    _knife,
    0.01,
    10.0,
    "three-field",
)
