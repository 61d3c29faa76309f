"""A04 of the IFToMM library: Bricard's linkage, five rods of square section on six hinges, released from rest.

The rods start on the edges of a cube, gravity along -y: P1 (0, 0, 0), P2 (L, 0, 0), P3 (L, -L, 0), P4 (L, -L, L),
P5 (0, -L, L), P6 (0, 0, L), P1 and P6 on the ground, the axes along y, z, x, y, z, x. Grübler counts no freedom, 30
rows for 30 velocities; one row follows from the others everywhere, and there is one freedom.

González, Dopico, Luaces, Cuadrado, Multibody System Dynamics 16 (2006) 179-199; www.iftomm-multibody.org/benchmark
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from polhode.drawing.shapes import Box
from polhode.model.checks import positive
from polhode.model.problem import Problem
from polhode.multibody import GROUND, Body, Gravity, Revolute, System, View
from polhode.problems.base import BuiltIn, Parameter

_CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
_AXES = (1, 2, 0, 1, 2, 0)


@cache
def _bricard(length: float, mass: float, width: float, gravity: float) -> Problem:
    for name, value in (("length", length), ("mass", mass), ("width", width)):
        positive(f"parameter {name!r}", value)
    rods = []
    for i, (a, b) in enumerate(pairwise(_CORNERS)):
        size = np.where(np.abs(b - a) > 0, length, width)
        inertia = mass * (np.sum(size**2) - size**2) / 12
        rods.append(Body(f"rod {i + 1}", mass, inertia, position=length * (a + b) / 2, shape=Box(tuple(size))))
    names = [GROUND, *(rod.name for rod in rods), GROUND]
    joints = []
    for i, (a, b) in enumerate(pairwise(names)):
        first, second = (b, a) if b == GROUND else (a, b)
        joints.append(Revolute(first, second, at=length * _CORNERS[i], axis=np.eye(3)[_AXES[i]], name=f"P{i + 1}"))

    def joint(view: View) -> Any:
        return view.point("rod 2", (0.0, -length / 2, 0.0))

    return Problem(
        System(
            rods,
            forces=[Gravity((0.0, -gravity, 0.0))],
            constraints=joints,
            observables={
                "x": (lambda view: joint(view)[0], "m"),
                "y": (lambda view: joint(view)[1], "m"),
                "z": (lambda view: joint(view)[2], "m"),
            },
            traces={"P3": joint},
            up="y",
        )
    )


BRICARD = BuiltIn(
    "bricard",
    "Bricard's linkage, five rods on six hinges and one freedom (IFToMM A04)",
    "iftomm",
    (
        Parameter("length", 1.0, "m", "of each rod"),
        Parameter("mass", 1.0, "kg", "of each rod"),
        Parameter("width", 0.1, "m", "of the square section"),
        Parameter("gravity", 9.81, "m/s²", "along -y"),
    ),
    _bricard,
    0.01,
    10.0,
    "three-field",
)
