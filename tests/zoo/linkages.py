"""Closed linkages, most of them with more rows than their freedoms need."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from zoo.lagrange import BRIEFLY
from zoo.mechanism import Mechanism, Pose
from zoo.scene import Scene
from zoo.turns import about, rx, ry, rz, vec

Y = (0, 1, 0)


def rod(mass: float, length: float) -> tuple[float, Any]:
    J = mass * length**2 / 12
    return mass, (0.02 * J, J, J)


def along(start: Any, angle: Any, length: float) -> tuple[Any, Any]:
    """A rod in the x-z plane, from a point, at an angle above the x axis; and where it ends."""
    R = ry(-angle)
    return (start + R @ vec(length / 2, 0, 0), R), start + R @ vec(length, 0, 0)


def _four_bar() -> Mechanism:
    lengths, ground = (0.4, 1.0, 0.8), vec(1.2, 0, 0)
    # the coupler's and the rocker's angles for a crank at 0.9 rad
    start = (0.9, *_closed(lengths, ground, 0.9))

    def rods(q: Any) -> Any:
        a, A = along(jnp.zeros(3), q[0], lengths[0])
        b, B = along(A, q[1], lengths[1])
        c, C = along(ground, q[2], lengths[2])
        return [a, b, c], A, B, C

    def closure(q: Any, t: Any) -> Any:
        _, _, B, C = rods(q)
        return (B - C)[jnp.array([0, 2])]

    def build(s: Scene) -> None:
        _, A, B, _ = rods(jnp.asarray(start))
        s.revolute("ground", "crank", (0, 0, 0), Y)
        s.revolute("crank", "coupler", A, Y)
        s.revolute("coupler", "rocker", B, Y)
        s.revolute("ground", "rocker", ground, Y)

    bodies = {"crank": rod(0.5, 0.4), "coupler": rod(1.0, 1.0), "rocker": rod(0.8, 0.8)}

    def rates() -> tuple[float, ...]:
        return _rates(closure, start, 3.0)

    return Mechanism("four-bar", bodies, lambda q, t: rods(q)[0], start, rates, build, closure=closure)


def _closed(lengths: Sequence[float], ground: Any, crank: float) -> tuple[float, float]:
    """Angles of coupler and rocker by the law of cosines, the upper branch."""
    _, b, c = lengths
    A = lengths[0] * np.exp(1j * crank)
    C = complex(ground[0], ground[2])
    d = abs(C - A)
    beta = np.angle(C - A) + np.arccos((b * b + d * d - c * c) / (2 * b * d))
    B = A + b * np.exp(1j * beta)
    return float(beta), float(np.angle(B - C))


def _rates(closure: Any, q: Sequence[float], first: float) -> tuple[float, ...]:
    """Of all coordinates, from that of the first."""
    A = np.asarray(jax.jit(jax.jacfwd(closure), compiler_options=BRIEFLY)(jnp.asarray(q), 0.0))
    rest = np.linalg.lstsq(A[:, 1:], -A[:, 0] * first, rcond=None)[0]
    assert np.abs(A[:, 0] * first + A[:, 1:] @ rest).max() < 1e-12
    return (first, *rest.tolist())


def _assembled(closure: Any, q: Sequence[float]) -> tuple[float, ...]:
    """Newton's method for closure = 0 with the first coordinate kept."""
    found = np.asarray(q, dtype=float)

    @partial(jax.jit, compiler_options=BRIEFLY)
    def there(q: Any) -> tuple[Any, Any]:
        return closure(q, 0.0), jax.jacfwd(closure)(q, 0.0)

    for _ in range(30):
        value, A = (np.asarray(x) for x in there(found))
        found[1:] -= np.linalg.lstsq(A[:, 1:], value, rcond=1e-9)[0]
    assert np.abs(value).max() < 1e-13, value
    return tuple(found.tolist())


def _slider_crank() -> Mechanism:
    """Through both dead centres: the crank turns once in some 0.6."""

    def pose(q: Any, t: Any) -> Pose:
        crank, A = along(jnp.zeros(3), q[0], 0.3)
        tilt = -jnp.arcsin(0.3 * jnp.sin(q[0]) / 1.0)
        link, B = along(A, tilt, 1.0)
        return [crank, link, (B, jnp.eye(3))]

    def build(s: Scene) -> None:
        A = vec(0.3 * np.cos(0.4), 0, 0.3 * np.sin(0.4))
        B = vec(A[0] + jnp.sqrt(1 - A[2] ** 2), 0, 0)
        s.revolute("ground", "crank", (0, 0, 0), Y)
        s.revolute("crank", "link", A, Y)
        s.revolute("link", "slider", B, Y)
        s.prismatic("ground", "slider", B, (1, 0, 0))

    bodies = {"crank": rod(1.0, 0.3), "link": rod(0.7, 1.0), "slider": (1.5, (0.1, 0.1, 0.1))}
    return Mechanism("slider-crank through dead centre", bodies, pose, (0.4,), (-9.0,), build, count=60)


def _parallelogram(name: str, angle: float) -> Mechanism:
    def pose(q: Any, t: Any) -> Pose:
        a, A = along(jnp.zeros(3), q[0], 1.0)
        b, _ = along(A, 0.0, 2.0)
        c, _ = along(vec(2, 0, 0), q[0], 1.0)
        return [a, b, c]

    def build(s: Scene) -> None:
        A = vec(np.cos(angle), 0, np.sin(angle))
        s.revolute("ground", "left", (0, 0, 0), Y)
        s.revolute("left", "top", A, Y)
        s.revolute("top", "right", A + vec(2, 0, 0), Y)
        s.revolute("ground", "right", (2, 0, 0), Y)

    bodies = {"left": rod(1.0, 1.0), "top": rod(2.0, 2.0), "right": rod(1.0, 1.0)}
    return Mechanism(name, bodies, pose, (angle,), (4.0,), build)


def _bennett() -> Mechanism:
    """Four hinges, opposite links alike: lengths a, b and twists α, β with a sin β = b sin α."""
    a, b, alpha = 1.0, 0.7, 0.6
    beta = float(np.arcsin(b * np.sin(alpha) / a))
    lengths, twists = (a, b, a, b), (alpha, beta, alpha, beta)

    def frames(q: Any) -> Any:
        """Hinges in the manner of Denavit and Hartenberg: turn about z by q, go along x, twist about x."""
        R, p, out = jnp.eye(3), jnp.zeros(3), []
        for i in range(4):
            R = R @ rz(q[i]) if i < 3 else R
            out.append((p, R))
            if i < 3:
                p, R = p + R @ vec(lengths[i], 0, 0), R @ rx(twists[i])
        return out

    # The ground is link 3, from the last hinge back to the first: it ends at the origin with its z along z.
    ground_z, ground_p = rx(-twists[3]) @ vec(0, 0, 1), vec(-lengths[3], 0, 0)

    def pose(q: Any, t: Any) -> Pose:
        out = []
        for (p, R), length in zip(frames(q)[:3], lengths, strict=False):
            out.append((p + R @ vec(length / 2, 0.1, 0), R))
        return out

    def closure(q: Any, t: Any) -> Any:
        p, R = frames(q)[3]
        return jnp.concatenate([p - ground_p, jnp.cross(R @ vec(0, 0, 1), ground_z)])

    # Bennett's relation tan(θ₁/2) tan(θ₂/2) = sin((β+α)/2)/sin((β-α)/2) starts Newton's method.
    k = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
    first = 1.0
    second = 2 * np.arctan(k / np.tan(first / 2))
    guesses = [(first, sign * second, other) for sign in (1, -1) for other in (-first, first, 2 * np.pi - first)]

    @cache
    def q() -> tuple[float, ...]:
        return _first_assembled(closure, guesses)

    def rates() -> tuple[float, ...]:
        return _rates(closure, q(), 1.5)

    def build(s: Scene) -> None:
        hinges = frames(jnp.asarray(q()))
        chain = ("ground", "one", "two", "three", "ground")
        for i, (p, R) in enumerate(hinges):
            a, b = (chain[i], chain[i + 1]) if i < 3 else ("ground", "three")
            s.revolute(a, b, p, R @ vec(0, 0, 1))

    bodies = dict.fromkeys(("one", "two", "three"), (1.0, (0.02, 0.1, 0.1)))
    return Mechanism("Bennett's linkage", bodies, pose, q, rates, build, closure=closure)


def _first_assembled(closure: Any, guesses: Sequence[Sequence[float]]) -> tuple[float, ...]:
    for guess in guesses:
        try:
            return _assembled(closure, guess)
        except AssertionError:
            continue
    raise AssertionError("no guess closes")


def _bricard() -> Mechanism:
    """IFToMM A04: five rods of 1 m, 1 kg, on six hinges, a cube's edges."""
    points = [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)]
    steps = [np.subtract(points[i + 1], points[i]) for i in range(5)]
    # each hinge is along the rod before the last: perpendicular to both rods it joins
    axes = [np.array(a, dtype=float) for a in ((0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0))]

    def chain(q: Any) -> Any:
        R, p, out = jnp.eye(3), jnp.zeros(3), []
        for i in range(5):
            R = R @ about(axes[i], q[i])
            d = jnp.asarray(steps[i], dtype=float)
            out.append((p + R @ d / 2, R))
            p = p + R @ d
        return out, p, R

    def closure(q: Any, t: Any) -> Any:
        _, p, R = chain(q)
        return jnp.concatenate([p - vec(0, 0, 1), jnp.cross(R @ jnp.asarray(axes[5]), jnp.asarray(axes[5]))])

    def build(s: Scene) -> None:
        names = ("ground", *"abcde", "ground")
        for i in range(6):
            s.revolute(names[i], names[i + 1], points[i], axes[i])

    square = 1 / 12 * (1 + 0.01)
    bodies = {}
    for name, d in zip("abcde", steps, strict=True):
        J = np.where(np.abs(d) > 0.5, 0.01 / 6, square)
        bodies[name] = (1.0, tuple(J.tolist()))
    zero = (0.0,) * 5
    return Mechanism("Bricard's linkage", bodies, lambda q, t: chain(q)[0], zero, zero, build, closure=closure)


def _peaucellier() -> Mechanism:
    """Points on rods: the last moves on a straight line, exactly."""
    arm, side, crank = 1.5, 0.8, 0.45
    pivot = vec(0.45, 0, 0)  # on it the crank turns, and passes the origin: so the line is straight

    def points(q: Any) -> Any:
        """From the crank's angle: C on a circle through O, then the rhombus A, C, B, D."""
        C = pivot + crank * vec(jnp.cos(q[0]), 0, jnp.sin(q[0]))
        rho = jnp.sqrt(C @ C)
        out = C / rho
        across = vec(-out[2], 0, out[0])
        reach = (rho**2 + arm**2 - side**2) / (2 * rho)
        half = jnp.sqrt(arm**2 - reach**2)
        A, B = reach * out + half * across, reach * out - half * across
        return [A, B, C, A + B - C]

    def pose(q: Any, t: Any) -> Pose:
        return [(p, jnp.eye(3)) for p in points(q)]

    def build(s: Scene) -> None:
        for name in "abcd":
            s.planar("ground", name, (0, 0, 0), Y)
        s.rod("ground", "a")
        s.rod("ground", "b")
        s.rod("ground", "c", at_a=pivot)
        for pair in ("ac", "bc", "ad", "bd"):
            s.rod(*pair)

    bodies = {name: (m, (0.1, 0.1, 0.1)) for name, m in zip("abcd", (1.0, 0.7, 1.2, 0.6), strict=True)}
    return Mechanism("Peaucellier's straight line", bodies, pose, (0.3,), (1.5,), build)


def _sarrus() -> Mechanism:
    """A plate that hinges on two sides hold level: it moves straight up and down."""

    def pose(q: Any, t: Any) -> Pose:
        c, s = jnp.cos(q[0]), jnp.sin(q[0])
        lower_x, upper_x = vec(1 + c / 2, 0, s / 2), vec(1 + c / 2, 0, 1.5 * s)
        lower_y, upper_y = vec(0, 1 + c / 2, s / 2), vec(0, 1 + c / 2, 1.5 * s)
        # hinges at (1, 0, 0), (1 + c, 0, s), (1, 0, 2s); the same along y
        return [
            (lower_x, ry(-q[0])),
            (upper_x, ry(q[0])),
            (lower_y, rx(q[0])),
            (upper_y, rx(-q[0])),
            (vec(0, 0, 2 * s), jnp.eye(3)),
        ]

    def build(s: Scene) -> None:
        a = 0.7
        c, z = np.cos(a), np.sin(a)
        s.revolute("ground", "x1", (1, 0, 0), Y)
        s.revolute("x1", "x2", (1 + c, 0, z), Y)
        s.revolute("x2", "plate", (1, 0, 2 * z), Y)
        s.revolute("ground", "y1", (0, 1, 0), (1, 0, 0))
        s.revolute("y1", "y2", (0, 1 + c, z), (1, 0, 0))
        s.revolute("y2", "plate", (0, 1, 2 * z), (1, 0, 0))

    side = (0.5, (0.02, 0.04, 0.05))
    bodies = {"x1": side, "x2": side, "y1": side, "y2": side, "plate": (1.0, (0.2, 0.2, 0.3))}
    return Mechanism("Sarrus' linkage", bodies, pose, (0.7,), (1.0,), build)


def _scott_russell() -> Mechanism:
    """A rod on a crank at its middle, one end on rails: the other goes straight up."""

    def pose(q: Any, t: Any) -> Pose:
        c, s = jnp.cos(q[0]), jnp.sin(q[0])
        return [
            (vec(c / 2, 0, s / 2), ry(-q[0])),
            (vec(c, 0, s), ry(q[0])),
            (vec(2 * c, 0, 0), jnp.eye(3)),
            (vec(0, 0, 2 * s), jnp.eye(3)),
        ]

    def build(s: Scene) -> None:
        c, z = np.cos(0.9), np.sin(0.9)
        s.revolute("ground", "crank", (0, 0, 0), Y)
        s.revolute("crank", "rod", (c, 0, z), Y)
        s.revolute("rod", "slider", (2 * c, 0, 0), Y)
        s.prismatic("ground", "slider", (2 * c, 0, 0), (1, 0, 0))
        s.ball("rod", "point", (0, 0, 2 * z))
        s.prismatic("ground", "point", (0, 0, 2 * z), (0, 0, 1))

    bodies = {"crank": rod(0.5, 1.0), "rod": rod(1.0, 2.0), "slider": (0.7, (0.1,) * 3), "point": (0.4, (0.1,) * 3)}
    return Mechanism("Scott and Russell's straight line", bodies, pose, (0.9,), (-1.0,), build)


def _watt() -> Mechanism:
    """Two equal arms and a coupler between them; its middle all but follows a line."""
    start_guess = (0.1, 1.3, 3.2)
    right = vec(2.0, 0, 0.6)

    def rods(q: Any) -> Any:
        a, A = along(jnp.zeros(3), q[0], 1.0)
        b, B = along(A, q[1], 0.6)
        c, C = along(right, q[2], 1.0)
        return [a, b, c], A, B, C

    def closure(q: Any, t: Any) -> Any:
        _, _, B, C = rods(q)
        return (B - C)[jnp.array([0, 2])]

    @cache
    def q() -> tuple[float, ...]:
        return _assembled(closure, start_guess)

    def rates() -> tuple[float, ...]:
        return _rates(closure, q(), 0.5)

    def build(s: Scene) -> None:
        _, A, B, _ = rods(jnp.asarray(q()))
        s.revolute("ground", "left", (0, 0, 0), Y)
        s.revolute("left", "coupler", A, Y)
        s.revolute("coupler", "right", B, Y)
        s.revolute("ground", "right", right, Y)

    bodies = {"left": rod(1.0, 1.0), "coupler": rod(0.6, 0.6), "right": rod(1.0, 1.0)}
    return Mechanism("Watt's linkage", bodies, lambda q, t: rods(q)[0], q, rates, build, closure=closure)


def _pantograph() -> Mechanism:
    """Two long and two short bars, a parallelogram in the middle: two freedoms, a pen at twice the distance."""

    def pose(q: Any, t: Any) -> Pose:
        u, v = vec(jnp.cos(q[0]), 0, jnp.sin(q[0])), vec(jnp.cos(q[1]), 0, jnp.sin(q[1]))
        return [
            (u, ry(-q[0])),  # long bar from O to 2u
            (2 * u + v, ry(-q[1])),  # long bar from 2u to 2u + 2v, where the pen is
            (u + v / 2, ry(-q[1])),  # short bar from u to u + v
            (u * 1.5 + v, ry(-q[0])),  # short bar from u + v to 2u + v
        ]

    def build(s: Scene) -> None:
        u, v = np.array([np.cos(1.1), 0, np.sin(1.1)]), np.array([np.cos(0.2), 0, np.sin(0.2)])
        s.revolute("ground", "first", (0, 0, 0), Y)
        s.revolute("first", "second", 2 * u, Y)
        s.revolute("first", "third", u, Y)
        s.revolute("third", "fourth", u + v, Y)
        s.revolute("fourth", "second", 2 * u + v, Y)

    bodies = {"first": rod(1.0, 2.0), "second": rod(1.0, 2.0), "third": rod(0.5, 1.0), "fourth": rod(0.5, 1.0)}
    return Mechanism("pantograph", bodies, pose, (1.1, 0.2), (0.7, -0.9), build)


def _governor() -> Mechanism:
    """Flyballs: the spindle turns, arms rise, a sleeve follows on rods without mass."""

    def pose(q: Any, t: Any) -> Pose:
        A = rz(q[0])
        c, s = jnp.cos(q[1]), jnp.sin(q[1])
        right, left = A @ ry(-q[1]), A @ ry(q[1])  # arms hang along -z at q₁ = 0
        return [
            (vec(0, 0, -0.3), A),
            (A @ vec(0.1 + s, 0, -c), right),
            (A @ vec(-0.1 - s, 0, -c), left),
            (vec(0, 0, -1.0 * c), A),
        ]

    def build(s: Scene) -> None:
        c = np.cos(0.5)
        s.revolute("ground", "spindle", (0, 0, 0), (0, 0, 1))
        s.revolute("spindle", "right", (0.1, 0, 0), Y)
        s.revolute("spindle", "left", (-0.1, 0, 0), Y)
        s.prismatic("spindle", "sleeve", (0, 0, -c), (0, 0, 1))
        # rods from the middle of each arm to the sleeve, as long as that half
        s.rod("right", "sleeve", at_a=(0, 0, 0.5), at_b=(0.1, 0, 0))
        s.rod("left", "sleeve", at_a=(0, 0, 0.5), at_b=(-0.1, 0, 0))

    ball = (1.0, (0.03, 0.03, 0.01))
    bodies = {"spindle": (1.0, (0.1, 0.1, 0.05)), "right": ball, "left": ball, "sleeve": (0.8, (0.05, 0.05, 0.05))}
    return Mechanism("flyball governor", bodies, pose, (0.0, 0.5), (5.0, 0.3), build)


def _taut() -> Mechanism:
    """A mass between two rods in line: it cannot move, whatever pulls."""

    def pose(q: Any, t: Any) -> Pose:
        return [(jnp.zeros(3), rz(q[0]))]

    def build(s: Scene) -> None:
        s.rod("ground", "mass", at_a=(1, 0, 0))
        s.rod("ground", "mass", at_a=(-1, 0, 0))

    # No finite pull along the rods holds a weight across them: what holds it is second order.
    without = frozenset({"order", "reactions"})
    bodies = {"mass": (1.0, (0.1, 0.1, 0.1))}
    fails = "a row that holds by its second order alone has no finite multiplier: the step is refused"
    return Mechanism("mass between two taut rods", bodies, pose, (0.0,), (0.5,), build, without=without, fails=fails)


LINKAGES = (
    _four_bar(),
    _slider_crank(),
    _parallelogram("parallelogram", 1.2),
    _parallelogram("parallelogram that starts flat", 0.0),
    _bennett(),
    _bricard(),
    _peaucellier(),
    _sarrus(),
    _scott_russell(),
    _watt(),
    _pantograph(),
    _governor(),
    _taut(),
)
