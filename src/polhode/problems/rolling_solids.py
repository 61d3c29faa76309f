"""Solids that roll on a plane: the rattleback, by constraints written out as functions, and Chaplygin's ball."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np

from polhode.algebra import exp
from polhode.drawing.shapes import Axes, Ellipsoid, Plane, Sphere
from polhode.model.problem import Problem
from polhode.multibody import Body, Gravity, Holonomic, Nonholonomic, RollingSphere, System, View
from polhode.problems.base import BuiltIn, Parameter


def _arm(view: View, squares: Any, offset: Any) -> Any:
    """From the centre of mass to the lowest point of the ellipsoid, space axes: R(h e3 - Dγ/√(γ·Dγ))."""
    R = view.rotation("stone")
    gamma = R[2]
    low = squares * gamma
    return R @ (jnp.array([0.0, 0.0, 1.0]) * offset - low / jnp.sqrt(jnp.dot(gamma, low)))


def _touching(view: View, squares: Any, offset: Any) -> Any:
    return view.position("stone")[2] + _arm(view, squares, offset)[2]


def _not_slipping(view: View, squares: Any, offset: Any) -> Any:
    return (view.velocity("stone") + jnp.cross(view.spin("stone"), _arm(view, squares, offset)))[:2]


@cache
def _rattleback(
    spin: float,
    tilt: float,
    semi_axes: tuple[float, ...],
    offset: float,
    mass: float,
    moments: tuple[float, ...],
    product: float,
    gravity: float,
) -> Problem:
    squares = np.array(semi_axes) ** 2
    J = np.diag(moments)
    J[0, 1] = J[1, 0] = product
    attitude = exp((tilt, 0.0, 0.0))
    R, omega = attitude.matrix().array, np.array([0.0, 0.0, spin])
    low = squares * R[2]
    arm = R @ (np.array([0.0, 0.0, offset]) - low / np.sqrt(R[2] @ low))
    stone = Body(
        "stone", mass, J, position=(0.0, 0.0, -arm[2]), attitude=attitude,
        velocity=-np.cross(R @ omega, arm), omega=omega,
        shape=(Ellipsoid(semi_axes, (0.0, 0.0, offset)), Axes(0.6 * max(semi_axes))),
    )  # fmt: skip
    contact = {"squares": squares, "offset": np.asarray(offset)}
    return Problem(
        System(
            [stone],
            forces=[Gravity((0.0, 0.0, -gravity))],
            constraints=[
                Holonomic(_touching, "touching", parameters=contact),
                Nonholonomic(_not_slipping, "not slipping", parameters=contact),
            ],
            observables={
                "spin": (lambda view: view.spin("stone")[2], "rad/s"),
                "pitch": (lambda view: -jnp.arcsin(view.rotation("stone")[2, 0]), "rad"),
                "roll": (lambda view: jnp.arcsin(view.rotation("stone")[2, 1]), "rad"),
            },
            traces={"contact": lambda view: view.position("stone") + _arm(view, squares, offset)},
            ground=Plane(),
        )
    )


@cache
def _ball(omega: tuple[float, ...], radius: float, mass: float, moments: tuple[float, ...]) -> Problem:
    ball = Body(
        "ball", mass, moments, position=(0.0, 0.0, radius),
        velocity=np.cross(omega, (0.0, 0.0, radius)), omega=omega, shape=(Sphere(radius), Axes(1.3 * radius)),
    )  # fmt: skip

    def momentum(view: View) -> Any:
        """About the contact, space axes; constant."""
        R, spin = view.rotation("ball"), view.spin("ball")
        arm = jnp.array([0.0, 0.0, radius])
        return R @ (jnp.asarray(moments) * (R.T @ spin)) + mass * jnp.cross(arm, jnp.cross(spin, arm))

    return Problem(
        System(
            [ball],
            constraints=[RollingSphere("ball", radius=radius)],
            observables={
                "x": (lambda view: view.position("ball")[0], "m"),
                "y": (lambda view: view.position("ball")[1], "m"),
                "momentum_x": (lambda view: momentum(view)[0], "kg m²/s"),
                "momentum_y": (lambda view: momentum(view)[1], "kg m²/s"),
                "momentum_z": (lambda view: momentum(view)[2], "kg m²/s"),
            },
            traces={"contact": lambda view: view.position("ball") - jnp.array([0.0, 0.0, radius])},
        )
    )


RATTLEBACK = BuiltIn(
    "rattleback",
    "Rattleback: spun one way it rattles, stops and turns back",
    "three-field",
    (
        Parameter("spin", -5.0, "rad/s", "about the vertical; -5 turns back, +5 goes on"),
        Parameter("tilt", 0.01, "rad", "about the long axis, at the start"),
        Parameter("semi_axes", (0.2, 0.03, 0.02), "m", "of the ellipsoid"),
        Parameter("offset", 0.01, "m", "of the ellipsoid's centre above the centre of mass"),
        Parameter("mass", 1.0, "kg", ""),
        Parameter("moments", (2e-4, 1.6e-3, 1.7e-3), "kg m²", "Jxx, Jyy, Jzz about the centre of mass"),
        Parameter("product", -2e-5, "kg m²", "Jxy, which turns the axes of inertia from those of the shape"),
        Parameter("gravity", 9.81, "m/s²", "downwards"),
    ),
    _rattleback,
    0.002,
    8.0,
    "three-field",
)
CHAPLYGIN_BALL = BuiltIn(
    "chaplygin-ball",
    "Ball of unequal moments rolling on a plane",
    "three-field",
    (
        Parameter("omega", (1.0, 2.0, 3.0), "rad/s", "at the start"),
        Parameter("radius", 0.5, "m", ""),
        Parameter("mass", 1.0, "kg", ""),
        Parameter("moments", (0.06, 0.08, 0.1), "kg m²", "about the centre, which is the centre of mass"),
    ),
    _ball,
    0.01,
    10.0,
    "three-field",
)
