"""Platforms on several legs, and shafts joined by couplings."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.spatial.transform import Rotation

from zoo.linkages import _assembled, _rates, rod
from zoo.mechanism import Mechanism, Pose
from zoo.scene import RATE, Scene, Seen
from zoo.turns import about, rx, ry, rz, vec

Y, Z = (0, 1, 0), (0, 0, 1)


def _corners(radius: float, height: float, turn: float) -> list[np.ndarray]:
    """Six points in three pairs."""
    angles = [2 * np.pi * i / 3 + sign * turn for i in range(3) for sign in (-1, 1)]
    return [np.array([radius * np.cos(a), radius * np.sin(a), height]) for a in angles]


def _stewart() -> Mechanism:
    """A platform on six legs whose lengths are driven: no freedom, and the forces in the legs are what is asked."""
    feet, heads = _corners(1.0, 0.0, 0.9), _corners(0.6, 0.0, 0.3)

    def driven(t: Any) -> tuple[Any, Any]:
        r = vec(0.2 * jnp.sin(2 * t), 0.1 * jnp.sin(3 * t), 1.0 + 0.15 * jnp.sin(4 * t))
        return r, rx(0.2 * jnp.sin(3 * t)) @ ry(0.3 * jnp.sin(2 * t)) @ rz(0.1 * jnp.sin(5 * t))

    def lengths(r: Any, R: Any, t: Any) -> Any:
        """Of the legs, less what they shall be."""
        there, turned = driven(t)
        out = []
        for foot, head in zip(feet, heads, strict=True):
            d, e = r + R @ jnp.asarray(head) - foot, there + turned @ jnp.asarray(head) - foot
            out.append(jnp.sqrt(d @ d) - jnp.sqrt(e @ e))
        return jnp.stack(out)

    def pose(q: Any, t: Any) -> Pose:
        r, R = driven(t)
        return [(r + q[:3], R @ rx(q[3]) @ ry(q[4]) @ rz(q[5]))]

    def closure(q: Any, t: Any) -> Any:
        return lengths(*pose(q, t)[0], t)

    def legs(view: Seen) -> Any:
        return lengths(view.position("platform"), view.rotation("platform"), view.t)

    def build(s: Scene) -> None:
        s.holonomic(legs, "legs")

    bodies = {"platform": (2.0, (0.3, 0.4, 0.5))}
    zero = (0.0,) * 6
    more: dict[str, Any] = {"closure": closure, "conserves": False}
    return Mechanism("Stewart's platform, driven", bodies, pose, zero, zero, build, **more)


def _five_legs() -> Mechanism:
    """The platform with one leg taken away: one freedom."""
    feet, heads = _corners(1.0, 0.0, 0.9)[:5], _corners(0.6, 0.0, 0.3)[:5]

    def pose(q: Any, t: Any) -> Pose:
        return [(vec(0, 0, 1) + q[:3], rx(q[3]) @ ry(q[4]) @ rz(q[5]))]

    def closure(q: Any, t: Any) -> Any:
        r, R = pose(q, t)[0]
        ends = [r + R @ jnp.asarray(head) - foot for foot, head in zip(feet, heads, strict=True)]
        return jnp.stack([0.5 * (d @ d) for d in ends])

    def build(s: Scene) -> None:
        for foot, head in zip(feet, heads, strict=True):
            s.rod("ground", "platform", at_a=foot, at_b=head)

    bodies = {"platform": (2.0, (0.3, 0.4, 0.5))}
    zero = (0.0,) * 6
    return Mechanism("platform on five legs", bodies, pose, zero, zero, build, closure=closure)


def _trifilar() -> Mechanism:
    """A plate on three ropes that stay taut: it swings and twists."""
    points = [np.array([np.cos(a), np.sin(a), 0]) * 0.5 for a in (0.0, 2.1, 4.2)]

    def pose(q: Any, t: Any) -> Pose:
        return [(q[:3] - vec(0, 0, 1.5), rx(q[3]) @ ry(q[4]) @ rz(q[5]))]

    def closure(q: Any, t: Any) -> Any:
        r, R = pose(q, t)[0]
        ends = [r + R @ jnp.asarray(p) - p for p in points]
        return jnp.stack([0.5 * (d @ d) for d in ends])

    def build(s: Scene) -> None:
        for p in points:
            s.rod("ground", "plate", at_a=p, at_b=p)

    bodies = {"plate": (1.0, (0.1, 0.12, 0.2))}
    zero = (0.0,) * 6
    rates = (0.5, 0.3, 0.0, 0.0, 0.0, 1.0)
    return Mechanism("plate on three ropes", bodies, pose, zero, rates, build, closure=closure)


def _cranks() -> Mechanism:
    """A plate on three parallel cranks, not in line: it goes round without turning; seven rows too many."""
    feet = [np.array(p, dtype=float) for p in ((0, 0, 0), (1.5, 0, 0.2), (0.6, 0, 0.9))]

    def pose(q: Any, t: Any) -> Pose:
        R = ry(-q[0])
        out = [(jnp.asarray(p) + R @ vec(0.2, 0, 0), R) for p in feet]
        return [*out, (vec(0.7, 0, 0.3) + R @ vec(0.4, 0, 0), jnp.eye(3))]

    def build(s: Scene) -> None:
        end = np.array([0.4 * np.cos(0.5), 0, 0.4 * np.sin(0.5)])
        for name, p in zip("abc", feet, strict=True):
            s.revolute("ground", name, p, Y)
            s.revolute(name, "plate", p + end, Y)

    bodies: dict[str, Any] = {name: rod(0.3, 0.4) for name in "abc"} | {"plate": (1.0, (0.2, 0.3, 0.2))}
    return Mechanism("plate on three cranks", bodies, pose, (0.5,), (6.0,), build)


def _cardan(name: str, middle: bool) -> Mechanism:
    """A shaft, a cross, and a second shaft at an angle of 0.6; or a third one between them."""
    bend = 0.6
    angles = (0.3, 0.3) if middle else (bend,)
    # shafts lie along x, each bent about z against the one before
    ways = [Rotation.from_rotvec([0, 0, sum(angles[:i])]).as_matrix() for i in range(len(angles) + 1)]
    points = np.cumsum([np.zeros(3), *(W[:, 0] for W in ways)], axis=0)

    def pose(q: Any, t: Any) -> Pose:
        """Turn about x of the first; then each cross: about an axis of the shaft before, and one of the shaft after."""
        R = rx(q[0])
        p = vec(0, 0, 0)
        out = [(p + R @ vec(0.5, 0, 0), R)]
        for i in range(len(angles)):
            p = p + R @ vec(1, 0, 0)
            R = R @ ry(q[1 + 2 * i]) @ rz(q[2 + 2 * i])
            out.append((p + R @ vec(0.5, 0, 0), R))
        return out

    def closure(q: Any, t: Any) -> Any:
        """The last shaft keeps its direction; with a third between them, where it is as well."""
        r, R = pose(q, t)[-1]
        last = ways[-1].T @ R @ vec(1, 0, 0)
        rows = [last[1:]]
        if middle:
            rows.append(r - (points[-1] + points[-2]) / 2)
        return jnp.concatenate(rows)

    @cache
    def q() -> tuple[float, ...]:
        return _assembled(closure, (0.0, *(0.0, 0.3 if middle else bend) * len(angles)))

    def rates() -> tuple[float, ...]:
        return _rates(closure, q(), 8.0)

    def build(s: Scene) -> None:
        there = pose(np.asarray(q()), 0.0)
        names = ["one", "two", "three"] if middle else ["one", "two"]
        s.revolute("ground", "one", (0, 0, 0), (1, 0, 0))
        for i in range(len(angles)):
            s.universal(names[i], names[i + 1], points[i + 1], there[i][1] @ vec(*Y), there[i + 1][1] @ vec(*Z))
        s.revolute("ground", names[-1], points[-1], ways[-1][:, 0])

    bodies = dict.fromkeys(("one", "two", "three")[: len(angles) + 1], (1.0, (0.05, 0.09, 0.09)))
    return Mechanism(name, bodies, pose, q, rates, build, closure=closure, step=0.005)


def _oldham() -> Mechanism:
    """Two shafts side by side, a disk that slides on both: its centre goes round twice as fast."""
    offset = 0.3

    def pose(q: Any, t: Any) -> Pose:
        R = rz(q[0])
        # the disk is on the line of slot x of the first shaft and of slot y of the second
        d = vec(offset, 0, 0)
        x = R @ vec(1, 0, 0)
        centre = x * (d @ x)
        return [(vec(0, 0, -0.5), R), (centre, R), (d + vec(0, 0, 0.5), R)]

    def build(s: Scene) -> None:
        R = rz(0.4)
        x, y = R @ vec(1, 0, 0), R @ vec(0, 1, 0)
        centre = x * (vec(offset, 0, 0) @ x)
        s.revolute("ground", "in", (0, 0, -0.5), Z)
        s.prismatic("in", "disk", centre, x)
        s.prismatic("disk", "out", centre, y)
        s.revolute("ground", "out", (offset, 0, 0.5), Z)

    bodies = {"in": (1.0, (0.1, 0.1, 0.1)), "disk": (2.0, (0.1, 0.1, 0.2)), "out": (1.0, (0.1, 0.1, 0.1))}
    return Mechanism("Oldham's coupling", bodies, pose, (0.4,), (4.0,), build, gravity=(0, -9.81, 0))


def _gears() -> Mechanism:
    """Two wheels on skew axles, geared 1 to -2.5; one carries a weight."""
    axle = (0.0, 1.0, 0.5)

    def pose(q: Any, t: Any) -> Pose:
        A, B = about(Y, q[0]), about(axle, q[1])
        return [(A @ vec(0.3, 0, 0), A), (vec(2, 0, 0), B)]

    def rolling(q: Any, s: Any, t: Any) -> Any:
        return vec(2.5 * s[0] + s[1])

    def ratio(view: Seen) -> Any:
        n = jnp.asarray(axle) / jnp.sqrt(1.25)
        return 2.5 * view.spin("heavy")[1] + view.spin("light") @ n

    def build(s: Scene) -> None:
        s.revolute("ground", "heavy", (0, 0, 0), Y)
        s.revolute("ground", "light", (2, 0, 0), axle)
        s.nonholonomic(ratio, "gears", RATE)

    bodies = {"heavy": (1.0, (0.2, 0.3, 0.2)), "light": (0.5, (0.05, 0.06, 0.05))}
    return Mechanism("gears on skew axles", bodies, pose, (0.3, 0.0), (2.0, -5.0), build, rolling=rolling)


def _gimbals(name: str, spin: float, step: float, **more: Any) -> Mechanism:
    """Two rings and a rotor."""

    def pose(q: Any, t: Any) -> Pose:
        A = rz(q[0])
        B = A @ rx(q[1])
        return [(jnp.zeros(3), A), (jnp.zeros(3), B), (B @ vec(0, 0.1, 0), B @ ry(q[2]))]

    def build(s: Scene) -> None:
        B = rz(0.2) @ rx(0.4)
        s.revolute("ground", "outer", (0, 0, 0), Z)
        s.revolute("outer", "inner", (0, 0, 0), rz(0.2) @ vec(1, 0, 0))
        s.revolute("inner", "rotor", B @ vec(0, 0.1, 0), B @ vec(0, 1, 0))

    rings = {"outer": (1.0, (0.02, 0.02, 0.03)), "inner": (0.5, (0.01, 0.012, 0.01))}
    bodies = {**rings, "rotor": (0.8, (0.04, 0.06, 0.04))}
    return Mechanism(name, bodies, pose, (0.2, 0.4, 0.0), (0.3, -0.2, spin), build, step=step, **more)


PARALLEL = (
    _stewart(),
    _five_legs(),
    _trifilar(),
    _cranks(),
    _cardan("cardan joint", middle=False),
    _cardan("shaft with two cardan joints", middle=True),
    _oldham(),
    _gears(),
    _gimbals("gyroscope in gimbals", 40.0, 0.002),
    # two radians a step: nothing of second order can be asked at that rate
    _gimbals("gyroscope at 10000 rad/s", 1e4, 2e-4, without=frozenset({"order", "accuracy", "energy", "reactions"})),
)
