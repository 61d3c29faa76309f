"""What floats: bodies that only each other hold, planets and satellites."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from zoo.mechanism import Mechanism, Pose
from zoo.scene import Scene, Seen
from zoo.turns import about, rx, ry, rz, vec


def _thrown() -> Mechanism:
    """Free, about its middle axis."""

    def pose(q: Any, t: Any) -> Pose:
        return [(q[:3], rx(q[3]) @ rz(q[4]) @ ry(q[5]))]

    bodies = {"book": (1.0, (0.1, 0.2, 0.28))}
    q, rates = (0.0, 0.0, 0.0, 0.1, 0.2, 0.0), (1.0, 0.0, 2.0, 0.1, 0.05, 6.0)
    return Mechanism("book thrown in the air", bodies, pose, q, rates, lambda s: None)


def _gyrostat() -> Mechanism:
    """A carrier with a rotor on a skew hinge, nothing else."""
    axis = (0.2, 0.3, 1.0)

    def pose(q: Any, t: Any) -> Pose:
        R = rx(q[3]) @ ry(q[4]) @ rz(q[5])
        return [(q[:3], R), (q[:3] + R @ vec(0.2, 0.1, 0), R @ about(axis, q[6]))]

    def build(s: Scene) -> None:
        s.revolute("carrier", "rotor", (0.2, 0.1, 0), axis)

    bodies = {"carrier": (2.0, (0.2, 0.3, 0.35)), "rotor": (0.5, (0.03, 0.03, 0.05))}
    q, rates = (0.0,) * 7, (0.3, 0.1, 0.0, 1.0, 0.5, 0.2, 20.0)
    return Mechanism("gyrostat", bodies, pose, q, rates, build, gravity=None, momentum=True, step=0.004)


def _folding() -> Mechanism:
    """Three bodies on ball joints, adrift."""

    def pose(q: Any, t: Any) -> Pose:
        A = rx(q[3]) @ ry(q[4]) @ rz(q[5])
        B = rx(q[6]) @ ry(q[7]) @ rz(q[8])
        p = q[:3] + A @ vec(0.5, 0, 0)
        return [(q[:3], A), (p + B @ vec(0.4, 0.1, 0), B)]

    def build(s: Scene) -> None:
        s.ball("one", "two", (0.5, 0, 0))

    bodies = {"one": (1.0, (0.05, 0.1, 0.12)), "two": (0.6, (0.04, 0.06, 0.05))}
    q, rates = (0.0,) * 9, (0.2, 0.0, 0.1, 0.5, -0.4, 1.0, -1.0, 0.8, 2.0)
    return Mechanism("two bodies on a ball joint, adrift", bodies, pose, q, rates, build, gravity=None, momentum=True)


def _pair(name: str, inertia: float) -> Mechanism:
    """A spring between centres of mass: it turns nothing."""

    def pose(q: Any, t: Any) -> Pose:
        return [(q[:3], jnp.eye(3)), (q[3:6], jnp.eye(3))]

    def potential(pose: Pose, t: Any) -> Any:
        d = pose[1][0] - pose[0][0]
        return 0.5 * 4.0 * (jnp.sqrt(d @ d) - 0.5) ** 2

    def build(s: Scene) -> None:
        s.spring("one", "two", 4.0, 0.5)

    body = (1.0, (inertia,) * 3)
    q, rates = (0.5, 0.0, 0.0, -0.5, 0.0, 0.0), (0.0, 0.3, 0.0, 0.0, -0.3, 0.1)
    more: dict[str, Any] = {"potential": potential, "gravity": None, "momentum": True, "step": 0.04}
    return Mechanism(name, {"one": body, "two": body}, pose, q, rates, build, **more)


def _planets() -> Mechanism:
    """Three that pull each other."""
    masses = (3.0, 1.0, 0.5)

    def attraction(r: list[Any]) -> Any:
        pairs = ((0, 1), (0, 2), (1, 2))
        return -sum(masses[i] * masses[j] / jnp.sqrt(jnp.sum((r[i] - r[j]) ** 2)) for i, j in pairs)

    def pose(q: Any, t: Any) -> Pose:
        return [(q[3 * i : 3 * i + 3], jnp.eye(3)) for i in range(3)]

    def potential(pose: Pose, t: Any) -> Any:
        return attraction([r for r, _ in pose])

    def pull(view: Seen) -> Any:
        return attraction([view.position(name) for name in ("sun", "near", "far")])

    def build(s: Scene) -> None:
        s.potential(pull)

    bodies = {name: (m, (0.01, 0.01, 0.01)) for name, m in zip(("sun", "near", "far"), masses, strict=True)}
    q = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.5, 0.2)
    rates = (0.0, -0.5, 0.0, 0.1, 1.6, 0.3, -1.2, 0.0, 0.0)
    more: dict[str, Any] = {"potential": potential, "gravity": None, "momentum": True, "step": 0.02}
    return Mechanism("three planets", bodies, pose, q, rates, build, **more)


def _tethered() -> Mechanism:
    """Two satellites on a tether, round a planet at the origin."""

    def height(r: Any, m: float) -> Any:
        return -10.0 * m / jnp.sqrt(r @ r)

    def pose(q: Any, t: Any) -> Pose:
        way = rz(q[3]) @ ry(q[4]) @ vec(1, 0, 0)
        return [(q[:3] - 0.2 * way, jnp.eye(3)), (q[:3] + 0.3 * way, jnp.eye(3))]

    def potential(pose: Pose, t: Any) -> Any:
        return height(pose[0][0], 1.5) + height(pose[1][0], 1.0)

    def build(s: Scene) -> None:
        s.rod("one", "two")
        s.potential(lambda view: height(view.position("one"), 1.5))
        s.potential(lambda view: height(view.position("two"), 1.0))

    bodies = {"one": (1.5, (0.02,) * 3), "two": (1.0, (0.02,) * 3)}
    q, rates = (2.0, 0.0, 0.0, 0.3, 0.2), (0.0, 2.2, 0.1, 1.0, 0.2)
    return Mechanism("satellites on a tether", bodies, pose, q, rates, build, potential=potential, gravity=None)


def _stiff() -> Mechanism:
    """On a spring of 10⁶ N/m that the step does not resolve: ten rad of its beat a step."""

    def pose(q: Any, t: Any) -> Pose:
        return [(q[:3], jnp.eye(3))]

    def potential(pose: Pose, t: Any) -> Any:
        return 0.5e6 * (jnp.sqrt(pose[0][0] @ pose[0][0]) - 1.0) ** 2

    def build(s: Scene) -> None:
        s.spring("ground", "mass", 1e6, 1.0)

    bodies = {"mass": (1.0, (0.1, 0.1, 0.1))}
    without = frozenset({"order", "accuracy", "energy", "reactions"})
    more: dict[str, Any] = {"potential": potential, "without": without}
    return Mechanism("spring of a million newtons a metre", bodies, pose, (1.0, 0.0, 0.0), (0.0,) * 3, build, **more)


FLOATING = (
    _thrown(),
    _gyrostat(),
    _folding(),
    _pair("spring between centres of mass", 1e-1),
    _pair("spring between centres of light bodies", 1e-5),
    _planets(),
    _tethered(),
    _stiff(),
)
