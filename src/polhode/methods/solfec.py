"""The rotation schemes of Solfec (Koziara & Bićanić 2010): RIG_POS, RIG_NEG, RIG_IMP.

All begin alike: R_h = R exp(h/2 W), T = R_hᵀ t(t + h/2, R_h), A = exp(-h/2 W) J W.
"""

from __future__ import annotations

from dataclasses import dataclass

from polhode.algebra import Quaternion, Scalar, Vec3, exp
from polhode.methods.base import Implicit, Method, Step, Traits
from polhode.rotation import Rotation, State

PAPER = "Koziara, Bićanić, Int. J. Numer. Meth. Engng 81 (2010); Solfec's heavy symmetrical top"


def half_step(system: Rotation, state: State, t: Scalar, h: Scalar) -> tuple[Quaternion, Vec3, Vec3]:
    """R_h, A and T. A torque of ω is taken at W predicted for the half step, which
    keeps the second order; for any other torque the prediction compiles to nothing."""
    turn = exp(h / 2 * system.omega(state.momentum))
    q_half = state.attitude * turn
    A = turn.unrotate(state.momentum)
    predicted = A + h / 2 * system.torque(t + h / 2, q_half, system.omega(A))
    return q_half, A, system.torque(t + h / 2, q_half, system.omega(predicted))


def explicit_end(system: Rotation, state: State, A: Vec3, T: Vec3, h: Scalar) -> Vec3:
    """W¹ = W + h J⁻¹(T - W_½ × J W_½), W_½ = J⁻¹(A + h/2 T)."""
    JW = A + h / 2 * T
    W = system.omega(JW)
    return system.omega(state.momentum + h * (T - W.cross(JW)))


@dataclass(frozen=True)
class RigPos(Method):
    """Solfec's explicit scheme: W⁺ = W¹, R⁺ = R_h exp(h/2 W¹). On the heavy top it gains energy,
    at a rate of order h³."""

    name = "rig_pos"
    paper = PAPER
    traits = Traits(
        order=2,
        energy="drifts",
        spatial_momentum="drifts",
        momentum_length="drifts",
        top_energy="drifts",
        vertical_momentum="drifts",
        symmetric=False,
    )

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        q_half, A, T = half_step(system, state, t, h)
        W1 = explicit_end(system, state, A, T, h)
        return Step(State(q_half * exp(h / 2 * W1), system.momentum(W1)))


@dataclass(frozen=True)
class RigNeg(Method):
    """Solfec's explicit, momentum-conserving scheme: R⁺ as RIG_POS, J W⁺ = exp(-h/2 W¹)(A + h T).
    On the heavy top it loses energy, at a rate of order h³."""

    name = "rig_neg"
    paper = PAPER
    traits = Traits(order=2, energy="drifts", spatial_momentum="exact", top_energy="drifts", symmetric=False)

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        q_half, A, T = half_step(system, state, t, h)
        turn = exp(h / 2 * explicit_end(system, state, A, T, h))
        return Step(State(q_half * turn, turn.unrotate(A + h * T)))


@dataclass(frozen=True)
class RigImp(Implicit):
    """Solfec's implicit scheme: solves exp(h/2 W⁺) J W⁺ = A + h T; R⁺ = R_h exp(h/2 W⁺). Energy oscillates
    without drift; the same map as TRAPM on free motion. Explicit in the torque, so one evaluation a step."""

    name = "rig_imp"
    paper = PAPER
    traits = Traits(order=2, energy="bounded", spatial_momentum="exact")

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        q_half, A, T = half_step(system, state, t, h)
        target = A + h * T

        def end(W: Vec3) -> Vec3:
            return exp(h / 2 * W).unrotate(target)

        def residual(JW: Vec3) -> Vec3:
            return JW - end(system.omega(JW))

        guess = system.momentum(explicit_end(system, state, A, T, h))
        JW, report = self.solve_momentum(system, residual, guess, h)
        W = system.omega(JW)
        return Step(State(q_half * exp(h / 2 * W), end(W)), report)
