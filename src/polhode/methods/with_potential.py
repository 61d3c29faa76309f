"""Splittings into kinetic energy and potential: kicks of Π by the torque, motion of the free body between.

A scheme is data: which flows, in which order, with which weights, run by one loop. Loads
may depend on attitude and time; a torque of time is taken at the time reached so far.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp

from polhode.algebra import Scalar, Vec3
from polhode.methods.exact import Exact
from polhode.model.composition import in_turn
from polhode.model.method import Method, Step
from polhode.model.traits import Traits
from polhode.rotation import Rotation, State
from polhode.solve import Report

_REST = Vec3(0.0, 0.0, 0.0)

PAPER = "Vilmart, Rigid body dynamics (2013)"


@dataclass(frozen=True)
class Stage:
    """A kick of `kick` h by the torque, one of `bracket` h³ by V = τ · J⁻¹τ, then free motion by `move` h."""

    kick: float
    move: float = 0.0
    bracket: float = 0.0


@dataclass(frozen=True)
class Scheme:
    """Stages in the order in which they act; the last only kicks."""

    name: str
    order: int
    stages: tuple[Stage, ...]
    paper: str = PAPER


def _mirrored(kicks: tuple[float, ...], moves: tuple[float, ...]) -> tuple[Stage, ...]:
    """b1 a1 b2 a2 ... and back again, with the last move in the middle."""
    all_kicks, all_moves = (*kicks, *reversed(kicks)), (*moves, *reversed(moves[:-1]), 0.0)
    return tuple(Stage(b, a) for b, a in zip(all_kicks, all_moves, strict=True))


STRANG = Scheme("strang", 2, (Stage(1 / 2, 1.0), Stage(1 / 2)))

# (16) with the bracket {U, {U, T}} = V: one more kick, two orders more.
NYSTROM4 = Scheme("nystrom4", 4, (Stage(1 / 6, 1 / 2), Stage(2 / 3, 1 / 2, bracket=-1 / 72), Stage(1 / 6)))

# Order 6 of Runge-Kutta-Nyström type, eleven moves, no V: {U, {U, {U, T}}} = 0 is all it needs.
_B = (0.0414649985182624, 0.198128671918067, -0.0400061921041533, 0.0752539843015807, -0.0115113874206879)
_A = (0.123229775946271, 0.290553797799558, -0.127049212625417, -0.246331761062075, 0.357208872795928)
RKN6 = Scheme(
    "rkn6",
    6,
    _mirrored((*_B, 0.5 - sum(_B)), (*_A, 1.0 - 2.0 * sum(_A))),
    "Blanes, Moan, J. Comput. Appl. Math. 142 (2002) 313-330, SRKN 11 b",
)

SCHEMES = {scheme.name: scheme for scheme in (STRANG, NYSTROM4, RKN6)}


@dataclass(frozen=True)
class Split(Method):
    """Kicks by the torque and free motion in turn, as `scheme` says, the free motion by `kinetic`.

    Strang's splitting (order 2, one kick a step), the Nyström splitting with the modified
    potential V (order 4) and Blanes & Moan's of order 6. Symplectic, symmetric and of the full
    order of the scheme if the kinetic method is, spatial momentum about an axis of symmetry of
    the load exact. With `exact` or a preprocessed DMV as kinetic method the best choice for a
    body in a potential.
    """

    scheme: Scheme = STRANG
    kinetic: Method = field(default_factory=Exact)

    @property
    def name(self) -> str:  # type: ignore[override]
        """SCHEME-KINETIC."""
        return f"{self.scheme.name}-{self.kinetic.name}"

    @property
    def summary(self) -> str:
        return f"{self.scheme.name} splitting, free motion by {self.kinetic.name}"

    @property
    def paper(self) -> str:  # type: ignore[override]
        """Of the scheme."""
        return self.scheme.paper

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """Those of the kinetic method, as far as the scheme keeps them."""
        free = self.kinetic.traits
        return Traits(
            order=min(self.scheme.order, free.order),
            energy=free.energy,
            spatial_momentum=free.spatial_momentum,
            momentum_length=free.momentum_length,
            top_energy="bounded",
            vertical_momentum=free.spatial_momentum,
            symmetric=free.symmetric,
            poisson=free.poisson,
            symplectic=free.symplectic,
            loads="attitude",
        )

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        *stages, last = self.scheme.stages
        rows = [(stage.kick, stage.move, stage.bracket) for stage in stages]
        with_bracket = any(stage.bracket for stage in stages)

        def stage(now: Any, row: Any) -> Any:
            state, report, t = now
            kick, move, bracket = row
            impulse = (kick * h) * system.torque(t, state.attitude, _REST)
            if with_bracket:
                impulse = impulse + (bracket * h**3) * bracket_torque(system, t, state)
            moved = self.kinetic.step(system.free, State(state.attitude, state.momentum + impulse), t, move * h)
            return moved.state, report.then(moved.report), t + move * h

        state, report, t = in_turn(stage, (state, Report.explicit(), t), rows)
        kick = (last.kick * h) * system.torque(t, state.attitude, _REST)
        return Step(State(state.attitude, state.momentum + kick), report)


def bracket_torque(system: Rotation, t: Scalar, state: State) -> Vec3:
    """The kick of V = {U, {U, T}} = τ · J⁻¹τ: 2 (τ × ω - dτ), ω = J⁻¹τ and dτ the change of the
    torque as the body turns with ω. Right for any torque of attitude and time."""
    R = jax.tree.map(jnp.asarray, state.attitude.matrix())
    tau = system.load.torque(t, R, _REST)
    omega = system.omega(tau)
    turning = R @ omega.skew()
    R = jax.tree.map(lambda x, along: jnp.broadcast_to(x, jnp.shape(along)), R, turning)  # many inertias, one attitude
    change = jax.jvp(lambda R: system.load.torque(t, R, _REST), (R,), (turning,))[1]
    return 2.0 * (tau.cross(omega) - change)


def Strang(kinetic: Method) -> Split:  # noqa: N802
    """Half a kick, free motion, half a kick (16): order 2."""
    return Split(STRANG, kinetic)


def Nystrom4(kinetic: Method) -> Split:  # noqa: N802
    """Order 4, with the modified potential."""
    return Split(NYSTROM4, kinetic)


def RKN6Split(kinetic: Method) -> Split:  # noqa: N802
    """Order 6, without it."""
    return Split(RKN6, kinetic)
