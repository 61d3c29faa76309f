"""A thin disk that rolls on a horizontal plane: wobbling, cyclic, straight.

R = Rz(ψ)Rx(θ)Ry(φ), n = R e2 the axis of the disk, e_ξ horizontal along the path, e_η up the disk
from the contact: ω = -p e_ξ + q e_η + r n, centre at contact + a e_η.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np

from polhode.algebra import exp
from polhode.drawing.shapes import Disk
from polhode.model.problem import Problem
from polhode.multibody import Body, Gravity, RollingDisk, System, View
from polhode.problems.base import BuiltIn, Parameter


def _frame(view: View) -> tuple[Any, Any, Any]:
    """e_ξ, e_η, n in space."""
    n = view.direction("disk", (0.0, 1.0, 0.0))
    level = jnp.sqrt(n[0] ** 2 + n[1] ** 2)
    xi = jnp.stack([n[1] / level, -n[0] / level, 0.0 * level])
    return xi, jnp.cross(xi, n), n


def _contact(view: View, radius: float) -> Any:
    return view.position("disk") - radius * _frame(view)[1]


@cache
def _seen(radius: float) -> dict[str, Any]:
    """Observables and traces; the same functions for the same radius, so that its runs share one program."""
    return {
        "observables": {
            "theta": (lambda view: jnp.arcsin(_frame(view)[2][2]), "rad"),
            "p": (lambda view: -jnp.dot(view.spin("disk"), _frame(view)[0]), "rad/s"),
            "q": (lambda view: jnp.dot(view.spin("disk"), _frame(view)[1]), "rad/s"),
            "r": (lambda view: jnp.dot(view.spin("disk"), _frame(view)[2]), "rad/s"),
            "x": (lambda view: _contact(view, radius)[0], "m"),
            "y": (lambda view: _contact(view, radius)[1], "m"),
        },
        "traces": {"contact": lambda view: _contact(view, radius)},
    }


@cache
def _make(
    inclination: float,
    p0: float,
    q0: float,
    r0: float,
    radius: float,
    mass: float,
    moments: tuple[float, ...],
    gravity: float,
) -> Problem:
    across, along = moments
    c, s = np.cos(inclination), np.sin(inclination)
    up, n = np.array([0.0, -s, c]), np.array([0.0, c, s])  # e_η and n for ψ = 0
    omega = -p0 * np.array([1.0, 0.0, 0.0]) + q0 * up + r0 * n
    attitude = exp((inclination, 0.0, 0.0))
    R = attitude.matrix().array
    disk = Body(
        "disk",
        mass,
        (across, along, across),
        position=radius * up,
        attitude=attitude,
        velocity=radius * (r0 * np.array([1.0, 0.0, 0.0]) + p0 * n),
        omega=R.T @ omega,
        shape=Disk(radius, (0.0, 1.0, 0.0)),
    )
    return Problem(
        System(
            [disk],
            forces=[Gravity((0.0, 0.0, -gravity))],
            constraints=[RollingDisk("disk", radius=radius, axis=(0.0, 1.0, 0.0))],
            **_seen(radius),
        )
    )


ROLLING_DISK = BuiltIn(
    "rolling-disk",
    "Thin disk rolling on a plane",
    "three-field",
    (
        Parameter("inclination", float(np.deg2rad(1.0)), "rad", "θ at the start; 0 is upright"),
        Parameter("p0", 0.0, "rad/s", "-θ' at the start"),
        Parameter("q0", 0.0, "rad/s", "ω along e_η, up the disk, at the start"),
        Parameter("r0", -2.25, "rad/s", "ω along the axis of the disk, at the start"),
        Parameter("radius", 1.0, "m", "a"),
        Parameter("mass", 1.0, "kg", "m"),
        Parameter("moments", (0.25, 0.5), "kg m²", "A about a diameter, C about the axis"),
        Parameter("gravity", 9.81, "m/s²", "downwards"),
    ),
    _make,
    0.01,
    10.0,
    "three-field",
)
