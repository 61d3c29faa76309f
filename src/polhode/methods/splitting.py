"""Splittings of the free body's energy into parts that turn about one axis, or a symmetric top.

Each part is solved by a rotation `turn` of the body: R <- R turn, Π <- turnᵀ Π.
"""

from __future__ import annotations

from dataclasses import dataclass

from polhode.algebra import Quaternion, Scalar, Vec3, exp
from polhode.methods.base import Method, Step, Traits
from polhode.rotation import Rotation, State

PAPER = "McLachlan; Reich; Touma, Wisdom (1990s); Vilmart, Rigid body dynamics (2013)"


def turned(state: State, turn: Quaternion) -> State:
    return State(state.attitude * turn, turn.unrotate(state.momentum))


def about(axis: int, angle: Scalar) -> Quaternion:
    """The rotation about a body axis, 0, 1 or 2."""
    zero = 0.0 * angle
    return exp(Vec3(*(angle if i == axis else zero for i in range(3))))


@dataclass(frozen=True)
class ThreeRotation(Method):
    """Splitting into three rotations: H = Σ y_j²/(2 I_j), R3 R2 R1 R2 R3 with halves outside.

    Explicit, symplectic; energy bounded, not exact.
    """

    name = "three-rotation"
    paper = PAPER
    traits = Traits(order=2, energy="bounded", spatial_momentum="exact", poisson=True, symplectic=True, loads="none")

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        for axis, part in ((2, 0.5), (1, 0.5), (0, 1.0), (1, 0.5), (2, 0.5)):
            rate = system.omega(state.momentum)[axis]
            state = turned(state, about(axis, part * h * rate))
        return Step(state)


@dataclass(frozen=True)
class SymmetricRotation(Method):
    """Splitting into a symmetric top and a rotation: H = R + S, S symmetric about axis s, R about another (Alg. 2).

    `axis` chooses s, 1, 2 or 3; with s = 3, R = (1/I1 - 1/I2) y1²/2 and S has I2 twice, and
    so on round. Exact where the two moments of R agree, so choose the axis that makes them
    nearly so; explicit, symplectic, energy bounded.
    """

    axis: int = 3

    paper = PAPER
    traits = ThreeRotation.traits

    @property
    def name(self) -> str:  # type: ignore[override]
        """With the axis, unless it is the third."""
        return "symmetric-rotation" if self.axis == 3 else f"symmetric-rotation{self.axis}"

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        s = self.axis - 1
        r, c = (s + 1) % 3, (s + 2) % 3  # of s = 3: 1 and 2
        I = system.moments

        def rotation(state: State, h: Scalar) -> State:
            alpha = (1.0 / I[r] - 1.0 / I[c]) * state.momentum[r]
            return turned(state, about(r, alpha * h))

        state = rotation(state, h / 2)
        beta = (1.0 / I[s] - 1.0 / I[c]) * state.momentum[s]
        state = turned(state, exp((h / I[c]) * state.momentum) * about(s, beta * h))
        return Step(rotation(state, h / 2))
