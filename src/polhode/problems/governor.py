"""A05 of the IFToMM library: a stiff flyball governor, its couplers replaced by springs with dampers.

Gravity along -z. A shaft of 1 m stands on the origin and turns freely; two rods of 1 m with a ball at the end hang
on hinges at its top, 0.05 m to either side, 30° below the horizontal; a slider, a cube of 0.1 m, is at half height
and turns with the shaft. Springs, without force at the start, lead from the middle of each rod to the side of the
slider. A rod and its ball, a point, are one body. All turns at one revolution a second at the start.

Data: www.iftomm-multibody.org/benchmark, "Stiff flyball governor"; González, Dopico, Luaces, Cuadrado, Multibody
System Dynamics 16 (2006) 179-199.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from polhode.algebra import exp
from polhode.drawing.shapes import Box, Rod, Sphere
from polhode.model.problem import Problem
from polhode.multibody import GROUND, Body, Damper, Gravity, Prismatic, Revolute, Spring, System
from polhode.problems.base import BuiltIn, Parameter

_Z = (0.0, 0.0, 1.0)
LENGTH, WIDTH, CUBE, DENSITY = 1.0, 0.01, 0.1, 3000.0  # of shaft and rods; their section; the slider, m; kg/m³


@cache
def _governor(
    stiffness: float, damping: float, rest: float, ball: float, angle: float, height: float, spin: float, gravity: float
) -> Problem:
    L, a = LENGTH, CUBE / 2
    rod, slider = DENSITY * L * WIDTH**2, DENSITY * CUBE**3
    along, across = rod * WIDTH**2 / 6, rod * (L**2 + WIDTH**2) / 12
    centre = (rod * L / 2 + ball * L) / (rod + ball)  # of rod and ball, from the hinge
    bent = across + rod * (centre - L / 2) ** 2 + ball * (L - centre) ** 2
    turn = np.array([0.0, 0.0, spin])
    bodies = [
        Body("shaft", rod, (across, across, along), position=(0.0, 0.0, L / 2), omega=turn,
             shape=Box((WIDTH, WIDTH, L))),
        Body("slider", slider, (slider * CUBE**2 / 6,) * 3, position=(0.0, 0.0, height), omega=turn,
             shape=Box((CUBE, CUBE, CUBE))),
    ]  # fmt: skip
    joints = [
        Revolute(GROUND, "shaft", at=(0.0, 0.0, 0.0), axis=_Z, name="bearing"),
        Prismatic("shaft", "slider", at=(0.0, 0.0, height), axis=_Z, name="guide"),
    ]
    forces: list[Gravity | Spring | Damper] = [Gravity((0.0, 0.0, -gravity))]
    for name, side in (("right", 1.0), ("left", -1.0)):
        # x of the body leads from hinge to ball: the left rod is the right one turned by half a turn about z
        R = np.array([[side, 0, 0], [0, side, 0], [0, 0, 1]]) @ np.asarray(exp((0.0, angle, 0.0)).matrix().array)
        hinge = np.array([side * a, 0.0, L])
        position = hinge + centre * R[:, 0]
        bodies.append(Body(
            name, rod + ball, (along, bent, bent), position=position, attitude=R, omega=R.T @ turn,
            velocity=np.cross(turn, position),
            shape=(Rod((-centre, 0.0, 0.0), (L - centre, 0.0, 0.0), WIDTH / 2), Sphere(0.05, (L - centre, 0.0, 0.0))),
        ))  # fmt: skip
        joints.append(Revolute("shaft", name, at=hinge, axis=(0.0, 1.0, 0.0), name=f"hinge {name}"))
        ends = {"at_a": (side * a, 0.0, 0.0), "at_b": (L / 2 - centre, 0.0, 0.0)}
        forces += [Spring("slider", name, stiffness, rest, **ends), Damper("slider", name, damping, **ends)]
    return Problem(
        System(
            bodies,
            forces=forces,
            constraints=joints,
            observables={
                "height": (lambda view: view.position("slider")[2], "m"),
                "spin": (lambda view: view.omega("shaft")[2], "rad/s"),
            },
            traces={"right ball": lambda view: view.point("right", (L - centre, 0.0, 0.0))},
        )
    )


GOVERNOR = BuiltIn(
    "governor",
    "Stiff flyball governor with springs and dampers (IFToMM A05)",
    "iftomm",
    (
        Parameter("stiffness", 8e5, "N/m", "of each spring"),
        Parameter("damping", 4e4, "N s/m", "of each damper"),
        Parameter("rest", 0.5, "m", "length of a spring without force"),
        Parameter("ball", 5.0, "kg", "mass of each ball"),
        Parameter("angle", float(np.pi / 6), "rad", "of the rods below the horizontal, at the start"),
        Parameter("height", 0.5, "m", "of the slider, at the start"),
        Parameter("spin", float(2 * np.pi), "rad/s", "of all about the shaft, at the start"),
        Parameter("gravity", 9.81, "m/s²", "along -z"),
    ),
    _governor,
    0.01,
    10.0,
    "three-field",
)
