"""The benchmark bicycle of Meijaard, Papadopoulos, Ruina and Schwab (2007): four bodies, three
revolute joints, two thin wheels that roll on z = 0. x forward, y right, z down; 21 rows on 24 velocities.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np

from polhode.drawing.shapes import Disk, Rod, Sphere
from polhode.model.problem import Problem
from polhode.multibody import Body, Gravity, Revolute, RollingDisk, System, View
from polhode.problems.base import BuiltIn, Parameter

_SIDE, _UP = (0.0, 1.0, 0.0), (0.0, 0.0, -1.0)


def _tensor(xx: float, yy: float, zz: float, xz: float = 0.0) -> list[list[float]]:
    return [[xx, 0.0, xz], [0.0, yy, 0.0], [xz, 0.0, zz]]


@cache
def _make(
    speed: float,
    roll_rate: float,
    wheelbase: float,
    trail: float,
    tilt: float,
    gravity: float,
    rear_radius: float,
    rear_mass: float,
    rear_inertia: tuple[float, ...],
    frame_position: tuple[float, ...],
    frame_mass: float,
    frame_inertia: tuple[float, ...],
    fork_position: tuple[float, ...],
    fork_mass: float,
    fork_inertia: tuple[float, ...],
    front_radius: float,
    front_mass: float,
    front_inertia: tuple[float, ...],
) -> Problem:
    s = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    head = np.array([wheelbase + trail, 0.0, 0.0])
    rear, front = np.array([0.0, 0.0, -rear_radius]), np.array([wheelbase, 0.0, -front_radius])
    frame, fork = (np.array([x, 0.0, z]) for x, z in (frame_position, fork_position))

    def body(name: str, mass: float, inertia: Any, at: np.ndarray, spin: float, shape: Any) -> Body:
        """Rolling forward and, as one with the others, about the line of the contacts."""
        return Body(
            name, mass, inertia, position=at, velocity=(speed, -roll_rate * at[2], 0.0), omega=(roll_rate, spin, 0.0),
            shape=shape,
        )  # fmt: skip

    def wheel(moments: tuple[float, ...]) -> Any:
        return _tensor(moments[0], moments[1], moments[0])

    axle = head - s * (head[2] - front[2]) / s[2]  # the steer axis at the height of the front hub
    saddle = frame + np.array([-0.2, 0.0, -0.1])
    bodies = [
        body("rear wheel", rear_mass, wheel(rear_inertia), rear, -speed / rear_radius,
             Disk(rear_radius, _SIDE, spokes=18)),
        body("rear frame", frame_mass, _tensor(*frame_inertia), frame, 0.0,
             (Rod(rear - frame, saddle - frame, 0.02), Rod(saddle - frame, axle - s * 0.45 - frame, 0.02),
              Rod(rear - frame, axle - s * 0.3 - frame, 0.02), Sphere(0.12, (0.0, 0.0, 0.0)))),
        body("front frame", fork_mass, _tensor(*fork_inertia), fork, 0.0,
             (Rod(front - fork, axle - fork, 0.02), Rod(axle - fork, axle - s * 0.55 - fork, 0.02),
              Rod(axle - s * 0.55 + [0, -0.25, 0] - fork, axle - s * 0.55 + [0, 0.25, 0] - fork, 0.015))),
        body("front wheel", front_mass, wheel(front_inertia), front, -speed / front_radius,
             Disk(front_radius, _SIDE, spokes=18)),
    ]  # fmt: skip
    return Problem(
        System(
            bodies,
            forces=[Gravity((0.0, 0.0, gravity))],
            constraints=[
                Revolute("rear frame", "rear wheel", at=rear, axis=_SIDE, name="rear hub"),
                Revolute("rear frame", "front frame", at=axle, axis=s, name="steering"),
                Revolute("front frame", "front wheel", at=front, axis=_SIDE, name="front hub"),
                RollingDisk("rear wheel", radius=rear_radius, axis=_SIDE, normal=_UP, name="rear contact"),
                RollingDisk("front wheel", radius=front_radius, axis=_SIDE, normal=_UP, name="front contact"),
            ],
            **_seen(tilt, rear_radius, front_radius),
            up="-z",
        )
    )


@cache
def _seen(tilt: float, rear_radius: float, front_radius: float) -> dict[str, Any]:
    """Observables and traces; the same functions for the same bicycle, so that its runs share one program."""
    s = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    return {
        "observables": {
            "roll": (lambda view: jnp.arcsin(view.rotation("rear frame")[2, 1]), "rad"),
            "steer": (lambda view: _steer(view, s), "rad"),
            "forward_speed": (lambda view: _forward_speed(view, rear_radius), "m/s"),
            "yaw": (_yaw, "rad"),
        },
        "traces": {
            "rear contact": lambda view: _contact(view, "rear wheel", rear_radius),
            "front contact": lambda view: _contact(view, "front wheel", front_radius),
        },
    }


def _yaw(view: View) -> Any:
    R = view.rotation("rear frame")
    return jnp.arctan2(-R[0, 1], R[1, 1])


def _steer(view: View, s: np.ndarray) -> Any:
    """The angle of the front frame about the steer axis against the rear frame, right positive."""
    R = view.rotation("rear frame").T @ view.rotation("front frame")
    axial = jnp.stack([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return jnp.arctan2(jnp.dot(axial, s) / 2, (jnp.trace(R) - 1) / 2)


def _forward_speed(view: View, radius: float) -> Any:
    """Of the rear wheel's rim against the frame."""
    axis = view.direction("rear frame", _SIDE)
    return -radius * jnp.dot(view.spin("rear wheel") - view.spin("rear frame"), axis)


def _contact(view: View, wheel: str, radius: float) -> Any:
    n, up = view.direction(wheel, _SIDE), jnp.asarray(_UP)
    u = up - n * jnp.dot(n, up)
    return view.position(wheel) - radius * u / jnp.sqrt(jnp.dot(u, u))


BICYCLE = BuiltIn(
    "bicycle",
    "Meijaard's benchmark bicycle, upright and straight at the start",
    "three-field",
    (
        Parameter("speed", 4.6, "m/s", "forward"),
        Parameter("roll_rate", 0.5, "rad/s", "about the line of the contacts, at the start"),
        Parameter("wheelbase", 1.02, "m", "w"),
        Parameter("trail", 0.08, "m", "c"),
        Parameter("tilt", float(np.pi / 10), "rad", "λ, of the steer axis from the vertical"),
        Parameter("gravity", 9.81, "m/s²", "downwards, along +z"),
        Parameter("rear_radius", 0.3, "m", "of the rear wheel"),
        Parameter("rear_mass", 2.0, "kg", "of the rear wheel"),
        Parameter("rear_inertia", (0.0603, 0.12), "kg m²", "Ixx = Izz and Iyy of the rear wheel"),
        Parameter("frame_position", (0.3, -0.9), "m", "x, z of the centre of mass of rear frame and rider"),
        Parameter("frame_mass", 85.0, "kg", "of rear frame and rider"),
        Parameter("frame_inertia", (9.2, 11.0, 2.8, 2.4), "kg m²", "Ixx, Iyy, Izz, Ixz of rear frame and rider"),
        Parameter("fork_position", (0.9, -0.7), "m", "x, z of the centre of mass of fork and handlebar"),
        Parameter("fork_mass", 4.0, "kg", "of fork and handlebar"),
        Parameter(
            "fork_inertia", (0.05892, 0.06, 0.00708, -0.00756), "kg m²", "Ixx, Iyy, Izz, Ixz of fork and handlebar"
        ),
        Parameter("front_radius", 0.35, "m", "of the front wheel"),
        Parameter("front_mass", 3.0, "kg", "of the front wheel"),
        Parameter("front_inertia", (0.1405, 0.28), "kg m²", "Ixx = Izz and Iyy of the front wheel"),
    ),
    _make,
    0.01,
    20.0,
    "three-field",
)
