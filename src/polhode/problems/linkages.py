"""Joints only: a physical pendulum and a four-bar linkage, in the x-y plane with gravity along -y."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np

from polhode.algebra import exp
from polhode.drawing.shapes import Rod
from polhode.model import InputError
from polhode.model.problem import Problem
from polhode.multibody import Body, Gravity, Revolute, System, View
from polhode.problems.base import BuiltIn, Parameter

_Z = (0.0, 0.0, 1.0)


@cache
def _pendulum(angle: float, rate: float, length: float, mass: float, inertia: float, gravity: float) -> Problem:
    s, c = np.sin(angle), np.cos(angle)
    bob = Body(
        "pendulum", mass, (inertia, inertia, inertia), position=(length * s, -length * c, 0.0),
        attitude=exp((0.0, 0.0, angle)), velocity=(length * rate * c, length * rate * s, 0.0), omega=(0.0, 0.0, rate),
        shape=Rod((0.0, length, 0.0), (0.0, -length, 0.0), 0.02 * length),
    )  # fmt: skip
    return Problem(
        System(
            [bob],
            forces=[Gravity((0.0, -gravity, 0.0))],
            constraints=[Revolute("ground", "pendulum", at=(0.0, 0.0, 0.0), axis=_Z, name="pivot")],
            observables={
                "angle": (_angle_of("pendulum"), "rad"),
                "rate": (lambda view: view.omega("pendulum")[2], "rad/s"),
            },
            traces={"centre": lambda view: view.position("pendulum")},
            up="y",
        )
    )


def _angle_of(body: str) -> Any:
    def angle(view: View) -> Any:
        R = view.rotation(body)
        return jnp.arctan2(R[1, 0], R[0, 0])

    return angle


def closed(lengths: tuple[float, ...], crank: float) -> tuple[float, float]:
    """Angles of coupler and rocker, open branch, for the angle of the crank."""
    a, b, c, d = lengths  # crank, coupler, rocker, ground
    tip = a * np.array([np.cos(crank), np.sin(crank)])
    way = np.array([d, 0.0]) - tip
    reach = np.hypot(*way)
    if not abs(b - c) < reach < b + c:
        raise InputError(
            f"bars of {b:g} m and {c:g} m cannot close a gap of {reach:.4g} m (crank at {crank:g} rad); choose other "
            "lengths or another angle"
        )
    cosine = (b * b + reach * reach - c * c) / (2 * b * reach)
    coupler = np.arctan2(way[1], way[0]) + np.arccos(cosine)
    joint = tip + b * np.array([np.cos(coupler), np.sin(coupler)])
    return float(coupler), float(np.arctan2(joint[1], joint[0] - d))


@cache
def _four_bar(
    angle: float, rate: float, lengths: tuple[float, ...], masses: tuple[float, ...], gravity: float
) -> Problem:
    a, b, c, d = lengths
    beta, gamma = closed(lengths, angle)
    angles = np.array([angle, beta, gamma])
    # a θ' e(θ)⊥ + b β' e(β)⊥ = c γ' e(γ)⊥
    matrix = np.array([[-b * np.sin(beta), c * np.sin(gamma)], [b * np.cos(beta), -c * np.cos(gamma)]])
    rates = np.array([rate, *np.linalg.solve(matrix, a * rate * np.array([np.sin(angle), -np.cos(angle)]))])
    starts = [np.zeros(2), a * np.array([np.cos(angle), np.sin(angle)]), np.array([d, 0.0])]
    bodies = []
    for name, length, mass, phi, speed, foot in zip(
        ("crank", "coupler", "rocker"), (a, b, c), masses, angles, rates, starts, strict=True
    ):
        along, across = np.array([np.cos(phi), np.sin(phi)]), np.array([-np.sin(phi), np.cos(phi)])
        base = a * rate * np.array([-np.sin(angle), np.cos(angle)]) if name == "coupler" else np.zeros(2)
        moment = mass * length**2 / 12
        bodies.append(
            Body(
                name,
                mass,
                (moment * 1e-3, moment, moment),
                position=(*(foot + length / 2 * along), 0.0),
                attitude=exp((0.0, 0.0, phi)),
                velocity=(*(base + length / 2 * speed * across), 0.0),
                omega=(0.0, 0.0, speed),
                shape=Rod((-length / 2, 0.0, 0.0), (length / 2, 0.0, 0.0), 0.03 * a),
            )
        )
    tip, joint = starts[1], starts[2] + c * np.array([np.cos(gamma), np.sin(gamma)])
    return Problem(
        System(
            bodies,
            forces=[Gravity((0.0, -gravity, 0.0))],
            constraints=[
                Revolute("ground", "crank", at=(0.0, 0.0, 0.0), axis=_Z, name="O"),
                Revolute("crank", "coupler", at=(*tip, 0.0), axis=_Z, name="A"),
                Revolute("coupler", "rocker", at=(*joint, 0.0), axis=_Z, name="B"),
                Revolute("ground", "rocker", at=(d, 0.0, 0.0), axis=_Z, name="C"),
            ],
            observables={name: (_angle_of(name), "rad") for name in ("crank", "coupler", "rocker")},
            traces={"B": lambda view: view.point("coupler", (b / 2, 0.0, 0.0))},
            up="y",
        )
    )


PENDULUM = BuiltIn(
    "pendulum",
    "Physical pendulum on a revolute joint",
    "three-field",
    (
        Parameter("angle", 2.0, "rad", "from hanging, at the start"),
        Parameter("rate", 0.0, "rad/s", "at the start"),
        Parameter("length", 1.0, "m", "from the pivot to the centre of mass"),
        Parameter("mass", 1.0, "kg", ""),
        Parameter("inertia", 0.1, "kg m²", "about the centre of mass"),
        Parameter("gravity", 9.81, "m/s²", "along -y"),
    ),
    _pendulum,
    0.01,
    10.0,
    "three-field",
)
FOUR_BAR = BuiltIn(
    "four-bar",
    "Four-bar linkage of uniform rods; three of its twenty rows follow from the others",
    "three-field",
    (
        Parameter("angle", 0.5, "rad", "of the crank, at the start"),
        Parameter("rate", 0.0, "rad/s", "of the crank, at the start"),
        Parameter("lengths", (1.0, 2.5, 2.0, 2.2), "m", "crank, coupler, rocker, ground"),
        Parameter("masses", (1.0, 2.0, 1.5), "kg", "crank, coupler, rocker"),
        Parameter("gravity", 9.81, "m/s²", "along -y"),
    ),
    _four_bar,
    0.01,
    10.0,
    "three-field",
)
