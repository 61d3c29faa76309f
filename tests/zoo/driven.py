"""Mechanisms that something drives, wires and ropes, as users write them with functions of their own."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np

from zoo.lagrange import Lagrange
from zoo.mechanism import Mechanism, Pose
from zoo.scene import ANGLE, LENGTH, SPEED, Scene, Seen
from zoo.turns import rx, ry, rz, vec

Y, Z = (0, 1, 0), (0, 0, 1)


def _kapitza() -> Mechanism:
    """A pendulum on its head, its pivot shaken fast enough to hold it."""
    high, fast = 0.05, 60.0

    def pivot(t: Any) -> Any:
        return vec(0.0, 0.0, high * jnp.sin(fast * t))

    def pose(q: Any, t: Any) -> Pose:
        R = ry(q[0])
        return [(pivot(t) + R @ vec(0, 0, 0.5), R)]

    def held(view: Seen) -> Any:
        d = view.point("rod", (0, 0, -0.5)) - pivot(view.t)
        return jnp.concatenate([d, view.direction("rod", (0, 1, 0))[jnp.array([0, 2])]])

    def build(s: Scene) -> None:
        s.holonomic(held, "pivot")

    bodies = {"rod": (1.0, (1 / 12, 1 / 12, 0.01))}
    return Mechanism("Kapitza's pendulum", bodies, pose, (0.1,), (0.0,), build, conserves=False, step=0.002)


def _driven_hinge() -> Mechanism:
    """An arm that turns as told, and a bar that hangs from it on a skew hinge."""

    def angle(t: Any) -> Any:
        return 0.8 * jnp.sin(3.0 * t) + t

    def pose(q: Any, t: Any) -> Pose:
        A = rz(angle(t))
        B = A @ rx(q[0])
        return [(A @ vec(0.25, 0, 0), A), (A @ vec(0.5, 0, 0) + B @ vec(0, 0.1, -0.4), B)]

    def build(s: Scene) -> None:
        s.revolute("ground", "arm", (0, 0, 0), Z, angle=angle)
        s.revolute("arm", "bar", (0.5, 0, 0), (1, 0, 0))

    bodies = {"arm": (1.0, (0.01, 0.05, 0.05)), "bar": (0.6, (0.04, 0.04, 0.005))}
    return Mechanism("bar on a driven arm", bodies, pose, (0.4,), (0.0,), build, conserves=False)


def _foucault() -> Mechanism:
    """A bob on a rod from a crane that turns with the ground: what turns is the ground."""
    rate = 0.7

    def hook(t: Any) -> Any:
        return rz(rate * t) @ vec(0.5, 0, 1)

    def pose(q: Any, t: Any) -> Pose:
        return [(hook(t) + rz(q[0]) @ ry(q[1]) @ vec(0, 0, -1), jnp.eye(3))]

    def rod(view: Seen) -> Any:
        d = view.position("bob") - hook(view.t)
        return (d @ d - 1.0) / 2.0

    def build(s: Scene) -> None:
        s.holonomic(rod, "rod")

    bodies = {"bob": (1.0, (0.1, 0.1, 0.1))}
    return Mechanism(
        "Foucault's pendulum on a turning ground",
        bodies,
        pose,
        (0.2, 0.5),
        (0.9, 0.0),
        build,
        conserves=False,
    )


def _bead() -> Mechanism:
    """On a helix whose pitch grows."""

    def wire(x: Any) -> Any:
        return vec(jnp.cos(x), jnp.sin(x), -0.3 * x - 0.1 * x**2)

    def pose(q: Any, t: Any) -> Pose:
        return [(wire(q[0]), jnp.eye(3))]

    def on_wire(view: Seen) -> Any:
        r = view.position("bead")
        x = jnp.arctan2(r[1], r[0])
        return vec(jnp.sqrt(r[0] ** 2 + r[1] ** 2) - 1.0, r[2] + 0.3 * x + 0.1 * x**2)

    def build(s: Scene) -> None:
        s.holonomic(on_wire, "wire")

    bodies = {"bead": (1.0, (0.1, 0.1, 0.1))}
    return Mechanism("bead on a wire", bodies, pose, (0.1,), (1.0,), build)


def _cone() -> Mechanism:
    """A point that slides in a cone."""

    def pose(q: Any, t: Any) -> Pose:
        return [(q[1] * vec(jnp.cos(q[0]), jnp.sin(q[0]), 1.5), jnp.eye(3))]

    def in_cone(view: Seen) -> Any:
        r = view.position("ball")
        return r[2] - 1.5 * jnp.sqrt(r[0] ** 2 + r[1] ** 2)

    def build(s: Scene) -> None:
        s.holonomic(in_cone, "cone")

    return Mechanism("ball in a cone", {"ball": (1.0, (0.1, 0.1, 0.1))}, pose, (0.0, 0.7), (2.0, 0.3), build)


def _rope() -> Mechanism:
    """Swinging Atwood's machine: a weight that moves up and down, one that swings, and a pulley without size."""
    whole = 2.0

    def pose(q: Any, t: Any) -> Pose:
        swing = q[0] * vec(jnp.sin(q[1]), 0, -jnp.cos(q[1]))
        return [(vec(-0.5, 0, q[0] - whole), jnp.eye(3)), (vec(0.5, 0, 0) + swing, jnp.eye(3))]

    def rope(view: Seen) -> Any:
        d = view.position("swinging") - vec(0.5, 0, 0)
        return jnp.sqrt(d @ d) - view.position("heavy")[2] - whole

    def build(s: Scene) -> None:
        s.prismatic("ground", "heavy", (-0.5, 0, 0), Z)
        s.holonomic(rope, "rope")

    bodies = {"heavy": (1.5, (0.1, 0.1, 0.1)), "swinging": (1.0, (0.1, 0.1, 0.1))}
    return Mechanism("rope over a pulley, one end swings", bodies, pose, (0.9, 0.7), (0.0, 1.0), build)


def _pulley() -> Mechanism:
    """Atwood's machine with a pulley that the rope turns without slipping."""
    radius = 0.3

    def pose(q: Any, t: Any) -> Pose:
        eye = jnp.eye(3)
        return [(jnp.zeros(3), ry(q[0] / radius)), (vec(radius, 0, -1 - q[0]), eye), (vec(-radius, 0, -1 + q[0]), eye)]

    def left(view: Seen) -> Any:
        return view.velocity("left")[2] - radius * view.spin("pulley")[1]

    def right(view: Seen) -> Any:
        return view.velocity("right")[2] + radius * view.spin("pulley")[1]

    def build(s: Scene) -> None:
        s.revolute("ground", "pulley", (0, 0, 0), Y)
        s.prismatic("ground", "right", (radius, 0, 0), Z)
        s.prismatic("ground", "left", (-radius, 0, 0), Z)
        s.nonholonomic(left, "rope left", SPEED)
        s.nonholonomic(right, "rope right", SPEED)

    bodies = {"pulley": (1.0, (0.03, 0.045, 0.03)), "right": (2.0, (0.1,) * 3), "left": (1.0, (0.1,) * 3)}
    return Mechanism("rope that turns a pulley", bodies, pose, (0.0,), (0.5,), build)


def _falling_cat() -> Mechanism:
    """Two halves whose joint bends round without twisting, as told: no angular momentum, yet the cat turns."""

    def bend(t: Any) -> Any:
        """Of the back half against the front one: tilted by a growing amount, about an axis that goes round."""
        tilt, way = 1.2 * jnp.sin(2.0 * t), 6.0 * t
        return rx(way) @ ry(tilt) @ rx(-way)

    def pose(q: Any, t: Any) -> Pose:
        R = rx(q[3]) @ ry(q[4]) @ rz(q[5])
        waist, back = q[:3], R @ bend(t)
        return [(waist + R @ vec(0.5, 0, 0), R), (waist + back @ vec(-0.5, 0, 0), back)]

    def bent(view: Seen) -> Any:
        A, B = view.rotation("front"), view.rotation("back")
        E = (A @ bend(view.t)).T @ B
        return vec(E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1]) / 2

    def build(s: Scene) -> None:
        s.ball("front", "back", (0, 0, 0))
        s.holonomic(bent, "muscles", ANGLE)

    half = (1.0, (0.05, 0.12, 0.12))
    bodies = {"front": half, "back": half}
    q = (0.0,) * 6
    # at rest as a whole: what the bending turns, the halves share
    rates = partial(_at_rest, bodies, pose, q)
    more: dict[str, Any] = {"conserves": False, "momentum": True, "gravity": None}
    return Mechanism("falling cat", bodies, pose, q, rates, build, **more)


def _at_rest(bodies: Any, pose: Any, q: tuple[float, ...]) -> tuple[float, ...]:
    """The rates with which a driven body has no momentum at t = 0."""
    plain = Lagrange(Mechanism("at rest", bodies, pose, q, (0.0,) * len(q), lambda s: None, gravity=None))
    s = np.zeros(len(q))
    now = plain.terms(np.asarray(q), s, 0.0)
    # ∂L/∂q' = H q' + what the drive adds; the coordinates are of the whole body, so this is its momentum
    u = np.concatenate([now.v, now.Omega], -1)
    M = np.zeros((len(u), 6, 6))
    M[:, :3, :3] = plain.masses[:, None, None] * np.eye(3)
    M[:, 3:, 3:] = plain.inertias
    drive = np.einsum("nij,nik,nk->j", now.J, M, u)
    return tuple(np.linalg.solve(now.H, -drive).tolist())


def _slide() -> Mechanism:
    """A box that slides and turns about an axle, which a screw ties together."""
    pitch = 0.4

    def pose(q: Any, t: Any) -> Pose:
        R = rz(q[0])
        return [(R @ vec(0.3, 0, 0) + vec(0, 0, pitch * q[0]), R)]

    def thread(view: Seen) -> Any:
        R = view.rotation("nut")
        return view.position("nut")[2] - pitch * jnp.arctan2(R[1, 0], R[0, 0])

    def build(s: Scene) -> None:
        s.cylindrical("ground", "nut", (0, 0, 0), Z)
        s.holonomic(thread, "thread", LENGTH)

    bodies = {"nut": (1.0, (0.1, 0.12, 0.15))}
    return Mechanism("nut on a screw", bodies, pose, (0.2,), (3.0,), build, gravity=(3.0, 1.0, -9.0))


DRIVEN = (
    _kapitza(),
    _driven_hinge(),
    _foucault(),
    _bead(),
    _cone(),
    _rope(),
    _pulley(),
    _falling_cat(),
    _slide(),
)
