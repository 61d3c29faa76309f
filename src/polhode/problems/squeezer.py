"""A03 of the IFToMM library: Andrews' squeezing mechanism, seven bodies and one freedom within 0.05 s.

In the x-y plane, without weight. K1 is the crank OF, K2 FE, K3 the triangle BDE, K4 GE, K5 AG, K6 HE, K7 AH; K2, K3,
K4 and K6 share the joint E. O, A and B are fixed, a spring pulls D to the fixed point C, a constant torque turns the
crank. It starts at rest at the angles of Hairer and Wanner. Of the 50 rows of its ten hinges nine follow from the
others. Only moments about z are given, and only they enter: those about x and y are half as large here.

Data: Schiehlen (ed.), Multibody Systems Handbook (1990); Hairer, Wanner, Solving ODEs II, VII.7;
www.iftomm-multibody.org/benchmark
"""

from __future__ import annotations

from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np

from polhode.algebra import exp
from polhode.drawing.shapes import Rod
from polhode.model.problem import Problem
from polhode.multibody import GROUND, Body, Revolute, Spring, System, Torque, View
from polhode.problems.base import BuiltIn, Parameter

_Z = (0.0, 0.0, 1.0)
_O, _A, _B, _C = (np.array(p) for p in ((0.0, 0.0), (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)))  # m
# β, γ, φ, δ, Ω, ε at the start, rad; Θ = 0
_BETA, _GAMMA, _PHI, _DELTA, _OMEGA, _EPSILON = (
    -0.0617138900142764496358948458001, 0.455279819163070380255912382449, 0.222668390165885884674473185609,
    0.487364979543842550225598953530, -0.222668390165885884674473185609, 1.23054744454982119249735015568,
)  # fmt: skip


def _point(foot: np.ndarray, angle: float, x: float, y: float = 0.0) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return foot + np.array([c * x - s * y, s * x + c * y])


@cache
def _squeezer(torque: float, stiffness: float, rest: float) -> Problem:
    F = _point(_O, _BETA, 0.007)
    G, H = _point(_A, _DELTA, 0.04), _point(_A, _EPSILON, 0.0, -0.04)
    E = _point(_B, _GAMMA, 0.0, -0.035)
    # name, mass, moment about z, foot, angle, centre of mass and tip on the axes of the body
    parts: list[tuple[str, float, float, np.ndarray, float, tuple[float, float], tuple[float, float]]] = [
        ("K1", 0.04325, 2.194e-6, _O, _BETA, (0.00092, 0.0), (0.007, 0.0)),
        ("K2", 0.00365, 4.410e-7, F, _BETA, (-0.0115, 0.0), (-0.028, 0.0)),
        ("K3", 0.02373, 5.255e-6, _B, _GAMMA, (0.01043, -0.01874), (0.0, -0.035)),
        ("K4", 0.00706, 5.667e-7, G, _PHI + _DELTA, (0.0, 0.01421 - 0.02), (0.0, -0.02)),
        ("K5", 0.07050, 1.169e-5, _A, _DELTA, (0.02308, 0.00916), (0.04, 0.0)),
        ("K6", 0.00706, 5.667e-7, H, _OMEGA + _EPSILON, (0.02 - 0.01421, 0.0), (0.02, 0.0)),
        ("K7", 0.05498, 1.912e-5, _A, _EPSILON, (-0.00449, -0.01228), (0.0, -0.04)),
    ]
    bodies = []
    for name, mass, moment, foot, angle, centre, tip in parts:
        ends = [(-centre[0], -centre[1], 0.0), (tip[0] - centre[0], tip[1] - centre[1], 0.0)]
        bodies.append(Body(
            name, mass, (moment / 2, moment / 2, moment), position=(*_point(foot, angle, *centre), 0.0),
            attitude=exp((0.0, 0.0, angle)), shape=Rod(ends[0], ends[1], 0.001),
        ))  # fmt: skip
    joints = [
        *((GROUND, "K1", _O, "O"), ("K1", "K2", F, "F"), (GROUND, "K3", _B, "B")),
        *(("K2", "K3", E, "E K3"), ("K2", "K4", E, "E K4"), ("K2", "K6", E, "E K6")),
        *(("K4", "K5", G, "G"), ("K6", "K7", H, "H"), (GROUND, "K5", _A, "A K5"), (GROUND, "K7", _A, "A K7")),
    ]

    def crank(view: View) -> Any:
        R = view.rotation("K1")
        return jnp.arctan2(R[1, 0], R[0, 0])

    def joint(view: View) -> Any:
        return view.point("K1", (0.007 - 0.00092, 0.0, 0.0))

    return Problem(
        System(
            bodies,
            forces=[
                Spring(GROUND, "K3", stiffness, rest, (*_C, 0.0), (0.02 - 0.01043, 0.01874 - 0.018, 0.0)),
                Torque("K1", (0.0, 0.0, torque), frame="space"),
            ],
            constraints=[Revolute(a, b, at=(*at, 0.0), axis=_Z, name=name) for a, b, at, name in joints],
            observables={
                "beta": (crank, "rad"),
                "x": (lambda view: joint(view)[0], "m"),
                "y": (lambda view: joint(view)[1], "m"),
            },
            traces={"F": joint, "E": lambda view: view.point("K2", (0.0115 - 0.028, 0.0, 0.0))},
            up="y",
        )
    )


SQUEEZER = BuiltIn(
    "squeezer",
    "Andrews' squeezing mechanism, seven bodies in the plane (IFToMM A03)",
    "iftomm",
    (
        Parameter("torque", 0.033, "N m", "on the crank"),
        Parameter("stiffness", 4530.0, "N/m", "of the spring"),
        Parameter("rest", 0.07785, "m", "length of the spring without force"),
    ),
    _squeezer,
    2e-5,
    0.05,
    "three-field",
)
