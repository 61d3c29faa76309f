"""What rolls, skates and is steered."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from zoo.mechanism import Mechanism, Pose
from zoo.scene import ANGLE, Scene, Seen
from zoo.turns import rx, ry, rz, vec

UP = np.array([0.0, 0.0, 1.0])
Y = (0, 1, 0)


def spin_of(R: Any, q: Any, s: Any) -> Any:
    """ω in space of the rotation R(q), by its rate along s."""
    turned, rate = jax.jvp(R, (q,), (s,))
    W = rate @ turned.T
    return vec(W[2, 1], W[0, 2], W[1, 0])


def _disk(name: str, lean: float, rates: tuple[float, float, float], step: float) -> Mechanism:
    """x, y, heading, lean, spin: the height follows."""

    def turn(q: Any) -> Any:
        return rz(q[2]) @ rx(q[3]) @ ry(q[4])

    def arm(q: Any) -> Any:
        """From the centre to the contact."""
        return -(rz(q[2]) @ rx(q[3]) @ vec(0, 0, 1))

    def pose(q: Any, t: Any) -> Pose:
        return [(vec(q[0], q[1], jnp.cos(q[3])), turn(q))]

    def rolling(q: Any, s: Any, t: Any) -> Any:
        slip = vec(s[0], s[1], 0.0) + jnp.cross(spin_of(turn, q, s), arm(q))
        return slip[:2]

    q = (0.0, 0.0, 0.2, lean, 0.0)
    start = partial(_rolled, rolling, q, rates)

    def build(s: Scene) -> None:
        s.disk("disk", 1.0)

    bodies = {"disk": (1.0, (0.25, 0.5, 0.25))}
    return Mechanism(name, bodies, pose, q, start, build, rolling=rolling, step=step)


def _rolled(rolling: Any, q: tuple[float, ...], rest: tuple[float, ...]) -> tuple[float, ...]:
    """Rates of all coordinates, the last of which are given, so that nothing slips at t = 0."""
    q_ = jnp.asarray(q)
    free = len(q) - len(rest)
    zero = jnp.zeros(len(q)).at[free:].set(jnp.asarray(rest))
    A = np.asarray(jax.jacfwd(lambda s: jnp.asarray(rolling(q_, s, 0.0)))(zero))
    first = np.linalg.solve(A[:, :free], -np.asarray(rolling(q_, zero, 0.0)))
    return (*first.tolist(), *rest)


def _ball(name: str, inertia: Any, rates: tuple[float, float, float], offset: float = 0.0, **more: Any) -> Mechanism:
    """A sphere of radius 1 whose centre of mass may be below its centre: x, y of the centre, and three angles."""

    def turn(q: Any) -> Any:
        return rz(q[2]) @ rx(q[3]) @ rz(q[4])

    def pose(q: Any, t: Any) -> Pose:
        R = turn(q)
        return [(vec(q[0], q[1], 1.0) - R @ vec(0, 0, offset), R)]

    def rolling(q: Any, s: Any, t: Any) -> Any:
        return (vec(s[0], s[1], 0.0) - jnp.cross(spin_of(turn, q, s), UP))[:2]

    q = (0.1, 0.2, 0.3, 0.5, 0.0)
    start = partial(_rolled, rolling, q, rates)

    def height(view: Seen) -> Any:
        return view.point("ball", (0, 0, offset))[2] - 1.0

    def slip(view: Seen) -> Any:
        return (view.point_velocity("ball", (0, 0, offset)) - jnp.cross(view.spin("ball"), UP))[:2]

    def build(s: Scene) -> None:
        if offset:
            s.holonomic(height, "height")
            s.nonholonomic(slip, "slip")
        else:
            s.sphere("ball", 1.0)

    return Mechanism(name, {"ball": (1.0, inertia)}, pose, q, start, build, rolling=rolling, **more)


def _turntable() -> Mechanism:
    """A ball on a table that turns: its centre goes round a circle, 2/7 as fast."""
    rate = 3.0

    def turn(q: Any) -> Any:
        return rx(q[2]) @ ry(q[3]) @ rz(q[4])

    def pose(q: Any, t: Any) -> Pose:
        return [(vec(q[0], q[1], 0.2), turn(q))]

    def rolling(q: Any, s: Any, t: Any) -> Any:
        slip = vec(s[0], s[1], 0.0) - 0.2 * jnp.cross(spin_of(turn, q, s), UP)
        return (slip - rate * jnp.cross(UP, vec(q[0], q[1], 0.0)))[:2]

    def height(view: Seen) -> Any:
        return view.position("ball")[2] - 0.2

    def slip(view: Seen) -> Any:
        v = view.velocity("ball") - 0.2 * jnp.cross(view.spin("ball"), UP)
        return (v - rate * jnp.cross(UP, view.position("ball")))[:2]

    def build(s: Scene) -> None:
        s.holonomic(height, "height")
        s.nonholonomic(slip, "slip")

    q = (1.0, 0.0, 0.0, 0.0, 0.0)
    start = partial(_rolled, rolling, q, (0.4, 0.8, 0.5))
    J = 0.4 * 0.2**2
    bodies = {"ball": (1.0, (J, J, J))}
    return Mechanism("ball on a turntable", bodies, pose, q, start, build, rolling=rolling, conserves=False)


def _in_cylinder(name: str, rate: float) -> Mechanism:
    """A ball rolls inside an upright cylinder, which turns; it does not sink, it bobs."""
    ball, inner = 0.2, 1.2
    rho = inner - ball

    def turn(q: Any) -> Any:
        return rz(q[0]) @ rx(q[2]) @ ry(q[3]) @ rz(q[4])

    def out(q: Any) -> Any:
        return vec(jnp.cos(q[0]), jnp.sin(q[0]), 0.0)

    def pose(q: Any, t: Any) -> Pose:
        return [(rho * out(q) + vec(0, 0, q[1]), turn(q))]

    def rolling(q: Any, s: Any, t: Any) -> Any:
        e = out(q)
        around = vec(-e[1], e[0], 0.0)
        v = rho * s[0] * around + vec(0, 0, s[1]) + ball * jnp.cross(spin_of(turn, q, s), e)
        return vec(v[2], v @ around - rate * inner)

    def distance(view: Seen) -> Any:
        r = view.position("ball")
        return jnp.sqrt(r[0] ** 2 + r[1] ** 2) - rho

    def slip(view: Seen) -> Any:
        r = view.position("ball")
        e = vec(r[0], r[1], 0.0) / jnp.sqrt(r[0] ** 2 + r[1] ** 2)
        around = vec(-e[1], e[0], 0.0)
        v = view.velocity("ball") + ball * jnp.cross(view.spin("ball"), e)
        return vec(v[2], v @ around - rate * inner)

    def build(s: Scene) -> None:
        if rate:
            s.holonomic(distance, "distance")
            s.nonholonomic(slip, "slip")
        else:
            s.in_cylinder("ball", ball, inner, (0, 0, 1))

    q = (0.3, 0.0, 0.0, 0.0, 0.0)
    start = partial(_rolled, rolling, q, (0.5, 0.3, -14.0))
    J = 0.4 * ball**2
    more: dict[str, Any] = {"conserves": not rate, "step": 0.005}
    return Mechanism(name, {"ball": (1.0, (J, J, J))}, pose, q, start, build, rolling=rolling, **more)


def _rattleback() -> Mechanism:
    """An ellipsoid with axes of inertia that are not its own, rolling: contact at -D²Rᵀz/|D Rᵀz| of the centre."""
    D = np.array([1.0, 0.5, 0.4])
    J = np.array([[0.06, 0.012, 0.0], [0.012, 0.25, 0.0], [0.0, 0.0, 0.28]])

    def contact(R: Any) -> Any:
        """From the centre of mass, in body axes."""
        n = R.T @ jnp.asarray(UP)
        return -(D**2) * n / jnp.sqrt(jnp.sum((D * n) ** 2))

    def turn(q: Any) -> Any:
        return rz(q[2]) @ rx(q[3]) @ ry(q[4])

    def pose(q: Any, t: Any) -> Pose:
        R = turn(q)
        return [(vec(q[0], q[1], -(R @ contact(R))[2]), R)]

    def rolling(q: Any, s: Any, t: Any) -> Any:
        v = jax.jvp(lambda q: pose(q, t)[0][0], (q,), (s,))[1]
        R = turn(q)
        return (v + jnp.cross(spin_of(turn, q, s), R @ contact(R)))[:2]

    def height(view: Seen) -> Any:
        R = view.rotation("stone")
        return view.position("stone")[2] + (R @ contact(R))[2]

    def slip(view: Seen) -> Any:
        R = view.rotation("stone")
        return (view.velocity("stone") + jnp.cross(view.spin("stone"), R @ contact(R)))[:2]

    def build(s: Scene) -> None:
        s.holonomic(height, "height")
        s.nonholonomic(slip, "slip")

    q = (0.0, 0.0, 0.1, 0.1, 0.05)
    start = partial(_rolled, rolling, q, (2.0, 0.3, -0.2))
    return Mechanism("rattleback", {"stone": (1.0, J)}, pose, q, start, build, rolling=rolling)


def _sleigh(name: str, slope: float) -> Mechanism:
    """A blade behind the centre of mass, on ice that may lean."""

    def pose(q: Any, t: Any) -> Pose:
        return [(vec(q[0], q[1], 0.0), rz(q[2]))]

    def rolling(q: Any, s: Any, t: Any) -> Any:
        c, n = jnp.cos(q[2]), jnp.sin(q[2])
        return vec(-n * s[0] + c * s[1] - 0.3 * s[2])

    def build(s: Scene) -> None:
        s.planar("ground", "sleigh", (0, 0, 0), UP)
        s.knife("sleigh", (-0.3, 0, 0))

    q = (0.0, 0.0, 0.4)
    rates = (np.cos(0.4) * 1.5 - np.sin(0.4) * 0.6, np.sin(0.4) * 1.5 + np.cos(0.4) * 0.6, 2.0)
    bodies = {"sleigh": (2.0, (0.1, 0.2, 0.3))}
    g = (0.0, -9.81 * np.sin(slope), -9.81 * np.cos(slope))
    return Mechanism(name, bodies, pose, q, rates, build, gravity=g, rolling=rolling)


def _planar_train(
    name: str,
    angles: tuple[float, ...],
    arms: tuple[tuple[float, float], ...],
    blades: tuple[tuple[int, float], ...],
    masses: tuple[float, ...],
    rates: tuple[float, ...],
    **more: Any,
) -> Mechanism:
    """Bodies in a plane, hinged one behind the other: the way to the hinge before is arms[i][0], to the one behind
    it arms[i][1], along x of the body; `blades` are (body, place along x)."""
    n = len(angles)
    letters = "abcdef"[:n]

    def pose(q: Any, t: Any) -> Pose:
        R = rz(q[2])
        out = [(vec(q[0], q[1], 0.0), R)]
        for i in range(1, n):
            hinge = out[-1][0] + out[-1][1] @ vec(arms[i - 1][1], 0, 0)
            R = rz(q[2 + i])
            out.append((hinge - R @ vec(arms[i][0], 0, 0), R))
        return out

    def rolling(q: Any, s: Any, t: Any) -> Any:
        def points(q: Any) -> Any:
            there = pose(q, t)
            return jnp.stack([there[i][0] + there[i][1] @ vec(x, 0, 0) for i, x in blades])

        v = jax.jvp(points, (q,), (s,))[1]
        return jnp.stack([v[j] @ (pose(q, t)[i][1] @ vec(0, 1, 0)) for j, (i, _) in enumerate(blades)])

    q = (0.1, 0.2, *angles)
    start = partial(_feasible, rolling, q, rates)

    def build(s: Scene) -> None:
        there = pose(jnp.asarray(q), 0.0)
        s.planar("ground", letters[0], (0, 0, 0), UP)
        for i in range(1, n):
            r, R = there[i - 1]
            s.revolute(letters[i - 1], letters[i], r + R @ vec(arms[i - 1][1], 0, 0), UP)
        for i, x in blades:
            s.knife(letters[i], (x, 0, 0))

    bodies = {letter: (m, (0.1 * m, 0.1 * m, 0.15 * m)) for letter, m in zip(letters, masses, strict=True)}
    return Mechanism(name, bodies, pose, q, start, build, rolling=rolling, **more)


def _feasible(rolling: Any, q: tuple[float, ...], rates: tuple[float, ...]) -> tuple[float, ...]:
    """The nearest rates that do not slip."""
    q_, s = jnp.asarray(q), np.asarray(rates, dtype=float)
    A = np.asarray(jax.jacfwd(lambda s: jnp.asarray(rolling(q_, s, 0.0)))(jnp.asarray(s)))
    return tuple((s - np.linalg.pinv(A) @ np.asarray(rolling(q_, jnp.asarray(s), 0.0))).tolist())


def _snakeboard() -> Mechanism:
    """A board, two steered axles with a blade each, and a rotor that a torque sways."""

    def pose(q: Any, t: Any) -> Pose:
        r, R = vec(q[0], q[1], 0.0), rz(q[2])
        return [
            (r, R),
            (r + R @ vec(0.5, 0, 0), rz(q[2] + q[3])),
            (r - R @ vec(0.5, 0, 0), rz(q[2] + q[4])),
            (r, rz(q[2] + q[5])),
        ]

    def push(t: Any) -> Any:
        return 2.0 * jnp.cos(5.0 * t)

    def loads(there: Pose, twist: Any, t: Any) -> Any:
        zero = jnp.zeros(3)
        T = vec(0, 0, push(t))
        return [(zero, -T), (zero, zero), (zero, zero), (zero, T)]

    def rolling(q: Any, s: Any, t: Any) -> Any:
        def points(q: Any) -> Any:
            there = pose(q, t)
            return there[1][0], there[2][0]

        front, back = jax.jvp(points, (q,), (s,))[1]
        return vec(front @ (rz(q[2] + q[3]) @ vec(*Y)), back @ (rz(q[2] + q[4]) @ vec(*Y)))

    q = (0.0, 0.0, 0.3, 0.3, -0.4, 0.0)
    start = partial(_feasible, rolling, q, (1.0, 0.2, 0.1, 0.5, -0.5, 0.0))

    def build(s: Scene) -> None:
        R = rz(0.3)
        s.planar("ground", "board", (0, 0, 0), UP)
        s.revolute("board", "front", R @ vec(0.5, 0, 0), UP)
        s.revolute("board", "back", R @ vec(-0.5, 0, 0), UP)
        s.revolute("board", "rotor", (0, 0, 0), UP)
        s.knife("front", (0, 0, 0))
        s.knife("back", (0, 0, 0))
        s.torque("board", lambda view: -vec(0, 0, push(view.t)) + 0 * view.omega("board"))
        s.torque("rotor", lambda view: vec(0, 0, push(view.t)) + 0 * view.omega("rotor"))

    axle = (0.3, (0.02, 0.02, 0.03))
    bodies = {"board": (2.0, (0.1, 0.2, 0.25)), "front": axle, "back": axle, "rotor": (0.7, (0.1, 0.1, 0.2))}
    more: dict[str, Any] = {"rolling": rolling, "loads": loads, "conserves": False}
    return Mechanism("snakeboard", bodies, pose, q, start, build, **more)


def _two_wheels() -> Mechanism:
    """Wheels on one axle that yaws by 90° while it rolls: x, y and the wheels' angles follow from one speed."""
    R, half = 0.5, 0.4

    def yaw(t: Any) -> Any:
        x = jnp.clip(2.5 * t, 0.0, 1.0)
        return 0.5 * np.pi * x**3 * (10 - 15 * x + 6 * x * x)

    def pose(q: Any, t: Any) -> Pose:
        A = rz(yaw(t))
        centre = vec(q[0], q[1], R)
        return [
            (centre + A @ vec(0, half, 0), A @ ry(q[2])),
            (centre - A @ vec(0, half, 0), A @ ry(q[3])),
        ]

    def rolling(q: Any, s: Any, t: Any) -> Any:
        angle, rate = jax.jvp(yaw, (t,), (jnp.ones_like(t),))
        ahead, left = rz(angle) @ vec(1, 0, 0), rz(angle) @ vec(0, 1, 0)
        v = vec(s[0], s[1], 0.0)
        return vec(v @ left, v @ ahead - half * rate - R * s[2], v @ ahead + half * rate - R * s[3])

    def steered(view: Seen) -> Any:
        axle = view.direction("left", (0, 1, 0))
        return jnp.cos(yaw(view.t)) * axle[0] + jnp.sin(yaw(view.t)) * axle[1]

    def build(s: Scene) -> None:
        s.revolute("left", "right", (0, 0, R), Y)
        s.disk("left", R)
        s.disk("right", R)
        s.holonomic(steered, "yaw", ANGLE)

    wheel = (1.0, (0.07, 0.125, 0.07))
    bodies = {"left": wheel, "right": wheel}
    more: dict[str, Any] = {"rolling": rolling, "conserves": False, "count": 60}
    return Mechanism("two wheels on an axle that yaws", bodies, pose, (0.0,) * 4, (1.0, 0.0, 2.0, 2.0), build, **more)


def _cart() -> Mechanism:
    """Four wheels, none steered, down a slope: one freedom, many rows too many."""
    places = {"fl": (0.6, 0.4), "fr": (0.6, -0.4), "bl": (-0.6, 0.4), "br": (-0.6, -0.4)}

    def pose(q: Any, t: Any) -> Pose:
        wheels = [(vec(q[0] + x, y, 0.3), ry(q[0] / 0.3)) for x, y in places.values()]
        return [(vec(q[0], 0, 0.5), jnp.eye(3)), *wheels]

    def build(s: Scene) -> None:
        for name, (x, y) in places.items():
            s.revolute("cart", name, (x, y, 0.3), Y)
            s.disk(name, 0.3)

    wheel = (0.5, (0.012, 0.0225, 0.012))
    bodies = {"cart": (3.0, (0.2, 0.5, 0.6)), **dict.fromkeys(places, wheel)}
    g = (9.81 * np.sin(0.3), 0.0, -9.81 * np.cos(0.3))
    return Mechanism("cart on four wheels", bodies, pose, (0.0,), (0.5,), build, gravity=g)


ROLLING = (
    _disk("rolling disk", 0.3, (0.4, 0.2, 3.0), 0.01),
    _disk("Euler's disk", 1.35, (13.4, 0.1, -13.1), 0.003),
    _ball("Chaplygin's ball", (0.3, 0.45, 0.4), (1.0, 0.5, 3.0)),
    _ball("tippe top", (0.35, 0.35, 0.4), (12.0, 0.3, 2.0), offset=0.2, step=0.005),
    _turntable(),
    _in_cylinder("ball in a cylinder", 0.0),
    _in_cylinder("ball in a cylinder that turns", 1.5),
    _rattleback(),
    _sleigh("Chaplygin's sleigh", 0.0),
    _sleigh("skate on a slope", 0.3),
    _planar_train(
        "tractor and two trailers",
        (0.3, 0.1, -0.2),
        ((0.0, -0.5), (1.0, -0.3), (0.8, 0.0)),
        ((0, -0.3), (1, -0.2), (2, -0.2)),
        (2.0, 1.0, 0.7),
        (2.0, 0.5, 1.0, 0.0, 0.0),
    ),
    _planar_train(
        "roller racer",
        (0.2, 1.0),
        ((0.0, 0.5), (-0.2, 0.0)),
        ((0, -0.4), (1, 0.1)),
        (2.0, 0.5),
        (0.5, 0.2, 0.3, 3.0),
    ),
    _snakeboard(),
    _two_wheels(),
    _cart(),
)
