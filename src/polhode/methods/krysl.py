"""The four methods of Krysl (2007), section 3: midpoint and trapezoid, in rate form
(IMID, TRAP) and in momentum-conserving form (IMIDM, TRAPM).

Each is a composition of half a forward and half a backward Euler step. Notation: Π body
momentum, Ω = I⁻¹Π, T body torque, subscripts 0 and 1 the start and end of the step.
"""

from __future__ import annotations

from dataclasses import dataclass

from polhode.algebra import Quaternion, Scalar, Vec3, exp
from polhode.methods.base import Implicit, Step, Traits
from polhode.rotation import Rotation, State

PAPER = "Krysl, Commun. Numer. Meth. Engng (2007), doi:10.1002/cnm.963"


def rate(system: Rotation, t: Scalar, state: State) -> Vec3:
    """Π' = Π × Ω + T, the first of (7)."""
    Omega = system.omega(state.momentum)
    return state.momentum.cross(Omega) + system.torque(t, state.attitude, Omega)


@dataclass(frozen=True)
class TRAP(Implicit):
    """Trapezoidal rule: half a forward Euler step (11), then half a backward one (12).

    Solves Π₁ = Π₀ + h/2 (Π₀ × Ω₀ + T₀ + Π₁ × Ω₁ + T₁) with R₁ = R₀ exp(h/2 Ω₀) exp(h/2 Ω₁).
    Conserves the energy of the free body at the half-step point, hence bounds it; not the
    spatial momentum. Choose IMID, its conjugate, unless you want values at the nodes of the trapezoid.
    """

    name = "trap"
    paper = PAPER
    traits = Traits(
        order=2,
        energy="bounded",
        half_step_energy=True,
        spatial_momentum="bounded",
        momentum_length="bounded",
        vertical_momentum="bounded",
    )

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        q0, Pi0 = state.attitude, state.momentum
        rate0 = rate(system, t, state)
        q_half = q0 * exp(h / 2 * system.omega(Pi0))

        def end(Pi1: Vec3) -> State:
            return State(q_half * exp(h / 2 * system.omega(Pi1)), Pi1)

        def residual(Pi1: Vec3) -> Vec3:
            return Pi1 - (Pi0 + h / 2 * (rate0 + rate(system, t + h, end(Pi1))))

        Pi1, report = self.solve_momentum(system, residual, Pi0 + h * rate0, h)
        return Step(end(Pi1), report)


@dataclass(frozen=True)
class IMID(Implicit):
    """Midpoint rule: half a backward Euler step (12), then half a forward one (11).

    Solves Π̄ = Π₀ + h/2 (Π̄ × Ω̄ + T(t + h/2, R₀ exp(h/2 Ω̄))); then R₁ = R₀ exp(h Ω̄),
    Π₁ = 2Π̄ - Π₀. Conserves kinetic energy and |Π| of the free body exactly, its spatial
    momentum only approximately. The most accurate of Krysl's methods in Π for free motion.
    """

    name = "imid"
    paper = PAPER
    traits = Traits(order=2, energy="exact", spatial_momentum="bounded", vertical_momentum="bounded")

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        q0, Pi0 = state.attitude, state.momentum

        def middle(Pi: Vec3) -> State:
            return State(q0 * exp(h / 2 * system.omega(Pi)), Pi)

        def residual(Pi: Vec3) -> Vec3:
            return Pi - (Pi0 + h / 2 * rate(system, t + h / 2, middle(Pi)))

        guess = Pi0 + h / 2 * rate(system, t, state)
        Pi, report = self.solve_momentum(system, residual, guess, h)
        # h × rate rather than 2Π̄ - Π₀: the increment is small, so is its round-off
        Pi1 = Pi0 + h * rate(system, t + h / 2, middle(Pi))
        return Step(State(q0 * exp(h * system.omega(Pi)), Pi1), report)


@dataclass(frozen=True)
class TRAPM(Implicit):
    """Momentum-conserving trapezoidal rule (20): half of (18), then half of (19).

    Solves Π₁ = exp[-h/2 Ω₁] exp[-h/2 Ω₀](Π₀ + h/2 T₀) + h/2 T₁, with R₁ = R₀ exp[h/2 Ω₀] exp[h/2 Ω₁].
    Spatial momentum exact, energy bounded for very long times.
    """

    name = "trapm"
    paper = PAPER
    traits = Traits(order=2, energy="bounded", spatial_momentum="exact")

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        q0, Pi0 = state.attitude, state.momentum
        Omega0 = system.omega(Pi0)
        first = exp(h / 2 * Omega0)
        pushed = first.unrotate(Pi0 + h / 2 * system.torque(t, q0, Omega0))
        q_half = q0 * first

        def end(Pi1: Vec3) -> State:
            Omega1 = system.omega(Pi1)
            second = exp(h / 2 * Omega1)
            q1 = q_half * second
            return State(q1, second.unrotate(pushed) + h / 2 * system.torque(t + h, q1, Omega1))

        guess = Pi0 + h * rate(system, t, state)
        Pi1, report = self.solve_momentum(system, lambda Pi1: Pi1 - end(Pi1).momentum, guess, h)
        return Step(end(Pi1), report)


@dataclass(frozen=True)
class IMIDM(Implicit):
    """Momentum-conserving midpoint rule (LIEMID): half of (19), then half of (18).

    Solves Ψ = h I⁻¹(exp[-Ψ/2] Π₀ + h/2 T), T = T(t + h/2, R₀ exp[Ψ/2]); then R₁ = R₀ exp[Ψ],
    Π₁ = exp[-Ψ]Π₀ + h exp[-Ψ/2] T. Spatial momentum exact, energy bounded for very long
    times, most accurate of its paper for fast tops: the one to start with.
    """

    name = "imidm"
    paper = PAPER
    traits = Traits(order=2, energy="bounded", spatial_momentum="exact")

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        q0, Pi0 = state.attitude, state.momentum

        def middle(Psi: Vec3) -> tuple[Quaternion, Vec3, Vec3]:
            """exp[Ψ/2], exp[-Ψ/2] Π₀ and T."""
            half = exp(Psi / 2)
            return half, half.unrotate(Pi0), system.torque(t + h / 2, q0 * half, Psi / h)

        def residual(Psi: Vec3) -> Vec3:
            _, Pi, T = middle(Psi)
            return Psi - h * system.omega(Pi + h / 2 * T)

        guess = h * system.omega(Pi0 + h / 2 * rate(system, t, state))
        Psi, report = self.solve_rotation(residual, guess)
        half, Pi, T = middle(Psi)
        return Step(State(q0 * half * half, half.unrotate(Pi + h * T)), report)
