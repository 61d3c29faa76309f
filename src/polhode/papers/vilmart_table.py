"""Vilmart's Table 1 as printed, in δ, σ and τ, for any kind of number; and the algorithms as misprinted.

What is printed is only compared with what polhode computes; nothing is computed from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from polhode.algebra import Scalar, Vec3
from polhode.methods import Exact, PreprocessedDMV, Split, ThreeRotation
from polhode.methods.base import Step
from polhode.methods.moser_veselov import polynomial
from polhode.methods.moser_veselov_series import SERIES
from polhode.methods.splitting import about, turned
from polhode.methods.with_potential import NYSTROM4, Scheme
from polhode.rotation import Rotation, State


def printed_table(I: tuple[Any, Any, Any], H: Any, C: Any) -> dict[str, Any]:
    """s3 ... t7 by the formulas of Table 1."""
    delta = I[0] * I[1] * I[2]

    def sigma(a: int) -> Any:
        return sum(i**a for i in I)

    def tau(b: int, c: int) -> Any:
        return sum((sigma(b) - i**b) / i**c for i in I)

    d, s, t = delta, sigma, tau
    return {
        "s3": -s(-1) / 3 * H + s(1) / (6 * d) * C,
        "t3": s(1) / (6 * d) * H - C / (3 * d),
        "s5": (3 * s(1) + 2 * d * s(-2)) / (60 * d) * H**2
        + (1 - t(1, 1)) / (30 * d) * C * H
        + (s(2) - d * s(-1)) / (30 * d**2) * C**2,
        "t5": -(9 + t(1, 1)) / (60 * d) * H**2
        + (6 * d * s(-1) - s(2)) / (60 * d**2) * C * H
        - s(1) / (60 * d**2) * C**2,
        "s7": (15 - d * s(-3) - 2 * t(1, 1)) / (630 * d) * H**3
        + (6 * d * t(1, 2) - 100 * d * s(-1) + 53 * s(2)) / (2520 * d**2) * C * H**2
        + (9 * s(1) + 10 * d * s(-2) - 6 * t(2, 1)) / (420 * d**2) * C**2 * H
        + (4 * d + 17 * s(3) - 15 * d * t(1, 1)) / (2520 * d**3) * C**3,
        "t7": (9 * d * s(-1) + d * t(1, 2) - 11 * s(2)) / (1260 * d**2) * H**3
        + (47 * s(1) + 13 * t(2, 1) - 38 * d * s(-2)) / (2520 * d**2) * C * H**2
        + (s(3) + 2 * d * t(1, 1) - 85 * d) / (1260 * d**3) * C**2 * H
        + (34 * d * s(-1) - 19 * s(2)) / (2520 * d**3) * C**3,
    }


def our_table(I: tuple[Any, Any, Any], H: Any, C: Any) -> dict[str, Any]:
    """The same from polhode's data."""
    x, y, z = (1 / i for i in I)
    values = (H, C, x + y + z, x * y + y * z + z * x, x * y * z)
    return {
        f"{letter}{k}": polynomial(terms, values)
        for k, pair in zip((3, 5, 7), SERIES, strict=False)
        for letter, terms in zip("st", pair, strict=True)
    }


@dataclass(frozen=True)
class PrintedThreeRotation(ThreeRotation):
    """The splitting with the last factor printed, R1 of half a step, instead of R3."""

    name = "three-rotation as printed"

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        for axis, part in ((0, 0.5), (1, 0.5), (0, 1.0), (1, 0.5), (2, 0.5)):
            state = turned(state, about(axis, part * h * system.omega(state.momentum)[axis]))
        return Step(state)


@dataclass(frozen=True)
class PrintedAlgorithm4(PreprocessedDMV):
    """Algorithm 4 with h² before every term."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"dmv{self.high_order} as printed"

    def inverse_moments(self, system: Rotation, y: Vec3, h: Scalar) -> Vec3:
        I = system.moments
        C, H = 0.5 * y.norm2(), system.kinetic(y)
        table = our_table((I.x, I.y, I.z), H, C)
        s, t = (h * h * sum(table[f"{letter}{k}"] for k in (3, 5, 7)) for letter in "st")
        return Vec3(*((1.0 + s) / i + t for i in I))


@dataclass(frozen=True)
class PrintedNystrom(Split):
    """The Nyström splitting with the V flow printed for U = Q33: y' = (Q32 Q33/I1, -Q31 Q33/I2, 0)."""

    scheme: Scheme = NYSTROM4

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        def kick(state: State, w: float) -> State:
            torque = system.torque(t, state.attitude, Vec3(0.0, 0.0, 0.0))
            return State(state.attitude, state.momentum + (w * h) * torque)

        move: Callable[[State], State] = lambda state: Exact().step(system.free, state, t, h / 2).state  # noqa: E731
        middle = kick(move(kick(state, 1 / 6)), 2 / 3)
        Q, I = middle.attitude.matrix(), system.moments
        printed = Vec3(Q.m32 * Q.m33 / I.x, -Q.m31 * Q.m33 / I.y, 0.0 * Q.m33)
        middle = State(middle.attitude, middle.momentum + (-(h**3) / 72) * printed)
        return Step(kick(move(middle), 1 / 6))
