"""Open chains: pendulums, arms and cranes."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from zoo.mechanism import Mechanism, Pose
from zoo.scene import Scene
from zoo.turns import about, rx, ry, rz, vec

ROD = (0.02, 1 / 12, 1 / 12)  # of a body along its first axis


def _hanging() -> Mechanism:
    """A box on a hinge that is tilted."""
    axis, arm = (0.3, 1.0, 0.2), vec(0.7, 0.2, -0.1)

    def pose(q: Any, t: Any) -> Pose:
        R = about(axis, q[0])
        return [(R @ arm, R)]

    def build(s: Scene) -> None:
        s.revolute("ground", "box", (0, 0, 0), axis)

    return Mechanism("pendulum on a tilted hinge", {"box": (1.3, (0.1, 0.2, 0.15))}, pose, (0.2,), (0.5,), build)


def _top(name: str, spin: float, lean: float) -> Mechanism:
    """A body on a ball joint; angles: precession, lean, spin."""

    def pose(q: Any, t: Any) -> Pose:
        R = rz(q[0]) @ rx(q[1]) @ rz(q[2])
        return [(R @ vec(0, 0, 0.6), R)]

    def build(s: Scene) -> None:
        s.ball("ground", "top", (0, 0, 0))

    bodies = {"top": (1.0, (0.12, 0.2, 0.15))}
    return Mechanism(name, bodies, pose, (0.1, lean, 0.3), (0.4, 0.3, spin), build, step=0.08 / max(spin, 8.0))


def _double() -> Mechanism:
    """Two hinges that are not parallel."""

    def pose(q: Any, t: Any) -> Pose:
        A = rx(q[0])
        B = A @ about((0.5, 1, 0), q[1])
        elbow = A @ vec(0, 0.3, -1)
        return [(A @ vec(0, 0.1, -0.5), A), (elbow + B @ vec(0.4, 0, -0.3), B)]

    def build(s: Scene) -> None:
        A = rx(0.6)
        s.revolute("ground", "upper", (0, 0, 0), (1, 0, 0))
        s.revolute("upper", "lower", A @ vec(0, 0.3, -1), A @ vec(0.5, 1, 0))

    bodies = {"upper": (1.0, (0.1, 0.08, 0.03)), "lower": (0.7, (0.05, 0.06, 0.04))}
    return Mechanism("double pendulum on skew hinges", bodies, pose, (0.6, 0.4), (1.0, -2.0), build)


def _universals() -> Mechanism:
    """Three rods on crosses: angles about an axis of the rod before, then about one of the rod itself."""

    def pose(q: Any, t: Any) -> Pose:
        R, end, out = jnp.eye(3), jnp.zeros(3), []
        for i in range(3):
            R = R @ ry(q[2 * i]) @ rz(q[2 * i + 1])
            out.append((end + R @ vec(0.5, 0, 0), R))
            end = end + R @ vec(1, 0, 0)
        return out

    q = (0.3, 0.2, -0.4, 0.3, 0.5, -0.2)

    def build(s: Scene) -> None:
        R, end, before = jnp.eye(3), jnp.zeros(3), "ground"
        for i, name in enumerate("abc"):
            first = R @ vec(0, 1, 0)
            R = R @ ry(q[2 * i]) @ rz(q[2 * i + 1])
            s.universal(before, name, end, first, R @ vec(0, 0, 1))
            end, before = end + R @ vec(1, 0, 0), name

    bodies = dict.fromkeys("abc", (1.0, ROD))
    rates = (0.5, -0.3, 0.2, 0.4, -0.6, 0.1)
    return Mechanism("three rods on crosses", bodies, pose, q, rates, build)


def _flat_chain(name: str, masses: tuple[float, ...], step: float, **more: Any) -> Mechanism:
    """Rods of 1 m on ball joints, from level, in a plane: nothing takes them out of it."""
    letters = "abcdefgh"[: len(masses)]

    def pose(q: Any, t: Any) -> Pose:
        end, out = jnp.zeros(3), []
        for i in range(len(masses)):
            R = ry(q[i])
            out.append((end + R @ vec(0.5, 0, 0), R))
            end = end + R @ vec(1, 0, 0)
        return out

    def build(s: Scene) -> None:
        for i, letter in enumerate(letters):
            s.ball("ground" if i == 0 else letters[i - 1], letter, (i, 0, 0))

    bodies = {letter: (m, (0.01 * m, 0.1 * m, 0.1 * m)) for letter, m in zip(letters, masses, strict=True)}
    zero = (0.0,) * len(masses)
    return Mechanism(name, bodies, pose, zero, zero, build, step=step, **more)


def _crane() -> Mechanism:
    """Five links of 1 kg and a load of 100 kg, hinged, from a slant."""
    letters = "abcdef"
    q = (1.2, 1.3, 1.4, 1.45, 1.5, 1.5)

    def ends(q: Any) -> list[Any]:
        points = [jnp.zeros(3)]
        for i in range(5):
            points.append(points[-1] + ry(q[i]) @ vec(0.2, 0, 0))
        return points

    def pose(q: Any, t: Any) -> Pose:
        points = ends(q)
        lengths = [0.1] * 5 + [0.3]
        return [(points[i] + ry(q[i]) @ vec(lengths[i], 0, 0), ry(q[i])) for i in range(6)]

    def build(s: Scene) -> None:
        points = ends(jnp.asarray(q))
        for i, letter in enumerate(letters):
            s.revolute("ground" if i == 0 else letters[i - 1], letter, points[i], (0, 1, 0))

    link, load = (1.0, (0.001, 0.0034, 0.0034)), (100.0, (3.0, 4.0, 5.0))
    bodies = {letter: (load if letter == "f" else link) for letter in letters}
    rates = (0.3, 0.3, 0.3, 0.3, 0.3, 0.3)
    # Links under 1000 N swing at 2√(1000 N / 1 kg / 0.2 m) = 140 rad/s, faster than anything in `rate`: 0.35 a step.
    return Mechanism("crane of five links and 100 kg", bodies, pose, q, rates, build, step=0.0025)


def _furuta() -> Mechanism:
    def pose(q: Any, t: Any) -> Pose:
        A = rz(q[0])
        B = A @ rx(q[1])
        return [(A @ vec(0.2, 0, 0), A), (A @ vec(0.5, 0, 0) + B @ vec(0.05, 0, 0.4), B)]

    def build(s: Scene) -> None:
        s.revolute("ground", "arm", (0, 0, 0), (0, 0, 1))
        s.revolute("arm", "pole", (0.5, 0, 0), (1, 0, 0))

    bodies = {"arm": (1.0, (0.01, 0.05, 0.05)), "pole": (0.4, (0.03, 0.03, 0.002))}
    return Mechanism("Furuta's pendulum", bodies, pose, (0.0, 0.0), (3.0, 0.5), build)


def _cart_pole() -> Mechanism:
    """A cart between a spring and a damper, with a pole."""

    def pose(q: Any, t: Any) -> Pose:
        R = ry(q[1])
        return [(vec(q[0], 0, 0), jnp.eye(3)), (vec(q[0], 0, 0.1) + R @ vec(0, 0, 0.5), R)]

    def potential(pose: Pose, t: Any) -> Any:
        return 0.5 * 20.0 * (jnp.sqrt(jnp.sum((pose[0][0] - vec(-1, 0, 0)) ** 2)) - 0.8) ** 2

    def loads(pose: Pose, twist: Any, t: Any) -> Any:
        zero = jnp.zeros(3)
        return [(-0.7 * twist[0][0] * vec(1, 0, 0), zero), (zero, zero)]

    def build(s: Scene) -> None:
        s.prismatic("ground", "cart", (0, 0, 0), (1, 0, 0))
        s.revolute("cart", "pole", (0.1, 0, 0.1), (0, 1, 0))
        s.spring("ground", "cart", 20.0, 0.8, at_a=(-1, 0, 0))
        s.damper("ground", "cart", 0.7, at_a=(-3, 0, 0))

    bodies = {"cart": (2.0, (0.1, 0.2, 0.3)), "pole": (0.5, (0.05, 0.05, 0.001))}
    more: dict[str, Any] = {"potential": potential, "loads": loads, "conserves": False}
    return Mechanism("cart and pole, sprung and damped", bodies, pose, (0.1, 0.3), (0.4, 1.0), build, **more)


def _disk_pendulum() -> Mechanism:
    """Kane's: a rod on a hinge, and a disk that spins at its end about an axis across the rod."""
    axis = (0.5, 1, 0)

    def pose(q: Any, t: Any) -> Pose:
        A = rx(q[0])
        return [(A @ vec(0, 0, -0.5), A), (A @ vec(0, 0, -1), A @ about(axis, q[1]))]

    def build(s: Scene) -> None:
        A = rx(1.0)
        s.revolute("ground", "rod", (0, 0, 0), (1, 0, 0))
        s.revolute("rod", "disk", A @ vec(0, 0, -1), A @ vec(*axis))

    bodies = {"rod": (0.3, (0.03, 0.03, 0.001)), "disk": (1.0, (0.05, 0.07, 0.1))}
    return Mechanism("disk that spins on a pendulum", bodies, pose, (1.0, 0.0), (0.0, 15.0), build, step=0.005)


def _spherical() -> Mechanism:
    """A bob on a rod without mass, and a spring to the side."""

    def pose(q: Any, t: Any) -> Pose:
        R = rz(q[0]) @ ry(q[1])
        return [(R @ vec(0, 0, -1), jnp.eye(3))]

    def potential(pose: Pose, t: Any) -> Any:
        return 0.5 * 3.0 * (jnp.sqrt(jnp.sum((pose[0][0] - vec(1, 1, -1)) ** 2)) - 0.5) ** 2

    def build(s: Scene) -> None:
        s.rod("ground", "bob")
        s.spring("ground", "bob", 3.0, 0.5, at_a=(1, 1, -1))

    bodies = {"bob": (1.0, (0.1, 0.1, 0.1))}
    return Mechanism("spherical pendulum", bodies, pose, (0.2, 0.9), (1.5, 0.0), build, potential=potential)


def _slender() -> Mechanism:
    """Lines of mass on ball joints; nothing turns them about themselves, and the reference does not know how."""

    q = (0.4, 0.3, 1.3, -0.2, -0.8, 0.5)

    def pose(q: Any, t: Any) -> Pose:
        end, out = jnp.zeros(3), []
        for i in range(3):
            R = rz(q[2 * i]) @ ry(q[2 * i + 1])
            out.append((end + R @ vec(0.5, 0, 0), R))
            end = end + R @ vec(1, 0, 0)
        return out

    def build(s: Scene) -> None:
        end, before = jnp.zeros(3), "ground"
        for i, name in enumerate("abc"):
            s.ball(before, name, end)
            end, before = end + rz(q[2 * i]) @ ry(q[2 * i + 1]) @ vec(1, 0, 0), name

    bodies = dict.fromkeys("abc", (1.0, (1e-09, 1 / 12, 1 / 12)))
    axial = dict.fromkeys("abc", 0)
    return Mechanism("slender rods on ball joints", bodies, pose, q, (0.0,) * 6, build, axial=axial)


CHAINS = (
    _hanging(),
    _top("top", 20.0, 0.5),
    _top("sleeping top", 60.0, 0.1),
    _double(),
    _universals(),
    _flat_chain("three rods from level", (1.0, 1.0, 1.0), 0.01),
    _flat_chain("rods of 1, 1, 100 kg", (1.0, 1.0, 100.0), 0.01),
    _flat_chain("a light link between two", (1.0, 0.01, 1.0), 0.01),
    _crane(),
    _furuta(),
    _cart_pole(),
    _disk_pendulum(),
    _spherical(),
    _slender(),
)
