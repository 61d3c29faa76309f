"""A homogeneous sphere that rolls inside an upright cylinder: it does not fall, it bobs up and down.

With e1 from the axis to the sphere and e2 = e_z × e1: z' = aω2, (b - a)φ' = -aω3, ω3 constant,
ω2 = A sin(νt + E), ν = φ'√(k²/(k² + a²)); k² is the square of the radius of gyration.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np

from polhode.drawing.shapes import Sphere
from polhode.model.problem import Problem
from polhode.multibody import Body, Gravity, SphereOnCylinder, System, View
from polhode.problems.base import BuiltIn, Parameter


@cache
def _make(
    amplitude: float,
    phase: float,
    spin: float,
    height: float,
    radius: float,
    cylinder: float,
    mass: float,
    gyration: float,
    gravity: float,
) -> Problem:
    a, k2 = radius, gyration * radius**2
    turning = -a * spin / (cylinder - a)  # φ'
    nu = turning * np.sqrt(k2 / (k2 + a * a))
    omega1 = -(a * gravity + (k2 + a * a) * amplitude * nu * np.cos(phase)) / (k2 * turning)
    omega2 = amplitude * np.sin(phase)
    ball = Body(
        "sphere",
        mass,
        (mass * k2,) * 3,
        position=(cylinder - a, 0.0, height),
        velocity=(0.0, (cylinder - a) * turning, a * omega2),
        omega=(omega1, omega2, spin),
        shape=Sphere(a),
    )
    wall = SphereOnCylinder("sphere", radius=a, cylinder=cylinder)
    return Problem(
        System(
            [ball],
            forces=[Gravity((0.0, 0.0, -gravity))],
            constraints=[wall],
            observables={"z": (lambda view: view.position("sphere")[2], "m")},
            traces={"contact": lambda view: _contact(view, cylinder)},
        )
    )


def _contact(view: View, cylinder: float) -> Any:
    r = view.position("sphere")
    rho = jnp.sqrt(r[0] ** 2 + r[1] ** 2)
    return jnp.stack([r[0] * cylinder / rho, r[1] * cylinder / rho, r[2]])


ROLLING_SPHERE = BuiltIn(
    "rolling-sphere",
    "Sphere rolling inside an upright cylinder",
    "three-field",
    (
        Parameter("amplitude", 1.0, "rad/s", "A of ω2 = A sin(νt + E)"),
        Parameter("phase", 0.0, "rad", "E"),
        Parameter("spin", -5.0, "rad/s", "ω3 about the vertical; constant"),
        Parameter("height", 1.224, "m", "of the centre at the start"),
        Parameter("radius", 0.4, "m", "of the sphere"),
        Parameter("cylinder", 1.0, "m", "radius of the cylinder"),
        Parameter("mass", 1.0, "kg", "of the sphere"),
        Parameter("gyration", 0.4, "1", "k²/a², 2/5 for a homogeneous sphere"),
        Parameter("gravity", 9.81, "m/s²", "downwards"),
    ),
    _make,
    0.01,
    10.0,
    "three-field",
)
