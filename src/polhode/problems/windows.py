"""A02 of the IFToMM library: N four-bar windows side by side, 2N + 1 equal uniform rods.

In the x-y plane, gravity along -y. N + 1 uprights stand on the ground at x = 0, L, ..., N L, couplers join their
upper ends B0 ... BN; B0 starts with a speed along x, and the whole falls over and turns for ever. When all rods lie on
one line the freedoms rise from 1 to N + 1: the motion goes on with the velocity it has. On hinges in space
(5 rows each, 15 N + 5 in all for 12 N + 6 velocities) 3 N rows follow from the others everywhere.

The library has N = 40 and 20 s; the paper and most of its solutions 10 s. Only the moment about z enters.

González, Dopico, Luaces, Cuadrado, Multibody System Dynamics 16 (2006) 179-199; www.iftomm-multibody.org/benchmark;
for N = 2 Bayo, Avello, Nonlinear Dynamics 5 (1994) 209-231.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from polhode.algebra import exp
from polhode.drawing.shapes import Rod
from polhode.model import InputError
from polhode.model.checks import positive
from polhode.model.problem import Problem
from polhode.multibody import GROUND, Body, Gravity, Revolute, System, View
from polhode.problems.base import BuiltIn, Parameter

_Z = (0.0, 0.0, 1.0)
SLENDER = 0.01  # side of the square section of a rod, in its length


@cache
def _windows(windows: float, length: float, mass: float, speed: float, gravity: float) -> Problem:
    if windows < 1 or windows != int(windows):
        raise InputError(f"parameter 'windows' is a whole number of windows, 1 or more; got {windows:g}")
    positive("parameter 'length'", length)
    positive("parameter 'mass'", mass)
    N, L = int(windows), length
    thin = (SLENDER * L) ** 2
    inertia = (mass * thin / 6, mass * (L**2 + thin) / 12, mass * L**2 / 12)
    shape = Rod((-L / 2, 0.0, 0.0), (L / 2, 0.0, 0.0), 0.03 * L)
    rods, joints = [], []
    for i in range(N + 1):
        rods.append(Body(
            f"upright {i}", mass, inertia, position=(i * L, L / 2, 0.0), attitude=exp((0.0, 0.0, 1.5707963267948966)),
            velocity=(speed / 2, 0.0, 0.0), omega=(0.0, 0.0, -speed / L), shape=shape,
        ))  # fmt: skip
        joints.append(Revolute(GROUND, f"upright {i}", at=(i * L, 0.0, 0.0), axis=_Z, name=f"A{i}"))
    for i in range(1, N + 1):
        coupler = f"coupler {i}"
        rods.append(
            Body(coupler, mass, inertia, position=((i - 0.5) * L, L, 0.0), velocity=(speed, 0.0, 0.0), shape=shape)
        )
        for j in (i - 1, i):
            joints.append(Revolute(f"upright {j}", coupler, at=(j * L, L, 0.0), axis=_Z, name=f"B{j} {coupler}"))

    def corner(view: View) -> Any:
        return view.point("upright 0", (L / 2, 0.0, 0.0))

    return Problem(
        System(
            rods,
            forces=[Gravity((0.0, -gravity, 0.0))],
            constraints=joints,
            observables={"x": (lambda view: corner(view)[0], "m"), "y": (lambda view: corner(view)[1], "m")},
            traces={"B0": corner},
            up="y",
        )
    )


WINDOWS = BuiltIn(
    "windows",
    "N four-bar windows that pass through singular positions (IFToMM A02)",
    "iftomm",
    (
        Parameter("windows", 2.0, "", "N, a whole number"),
        Parameter("length", 1.0, "m", "of each rod"),
        Parameter("mass", 1.0, "kg", "of each rod"),
        Parameter("speed", 1.0, "m/s", "of B0 along x, at the start"),
        Parameter("gravity", 9.81, "m/s²", "along -y"),
    ),
    _windows,
    0.01,
    10.0,
    "three-field",
)
