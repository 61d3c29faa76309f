"""Methods that Krysl (2007), section 4, compares with: Simo & Wong's SWC1, AKW of Austin,
Krishnaprasad & Wang, and Bottasso & Borri's trapezoid with and without dexp⁻¹.

SWC1, BBTRAP and BBTRAPWD are solved for the rotation vector Ψ of the step: each gives Ω₁
explicitly from Ψ, so three unknowns do, also for a torque that depends on Ω.
"""

from __future__ import annotations

from dataclasses import dataclass

from polhode.algebra import Scalar, Vec3, cayley, dexp_right, exp
from polhode.methods.base import Implicit, Step, Traits
from polhode.methods.krysl import rate
from polhode.rotation import Rotation, State


def rotation_guess(system: Rotation, state: State, t: Scalar, h: Scalar) -> Vec3:
    """h Ω at the half step, to second order."""
    return h * system.omega(state.momentum + h / 2 * rate(system, t, state))


@dataclass(frozen=True)
class SWC1(Implicit):
    """Simo & Wong's ALGO_C1: energy and momentum of the free body exact.

    Ψ = h/2 (Ω₀ + Ω₁), R₁ = R₀ exp[Ψ], Π₁ = exp[-Ψ]Π₀ + h exp[-Ψ/2] T(t + h/2, R₀ exp[Ψ/2]).
    """

    name = "swc1"
    paper = "Simo, Wong, Int. J. Numer. Meth. Engng 31 (1991) 19-52"
    traits = Traits(order=2, energy="exact", spatial_momentum="exact")

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        q0, Pi0 = state.attitude, state.momentum
        Omega0 = system.omega(Pi0)

        def end(Psi: Vec3) -> State:
            half = exp(Psi / 2)
            T = system.torque(t + h / 2, q0 * half, Psi / h)
            turn = half * half
            return State(q0 * turn, turn.unrotate(Pi0) + h * half.unrotate(T))

        def residual(Psi: Vec3) -> Vec3:
            return Psi - h / 2 * (Omega0 + system.omega(end(Psi).momentum))

        guess = rotation_guess(system, state, t, h)
        Psi, report = self.solve_rotation(residual, guess)
        return Step(end(Psi), report)


@dataclass(frozen=True)
class AKW(Implicit):
    """Austin, Krishnaprasad & Wang: implicit midpoint in Π, Cayley in R.

    Π₁ = Π₀ + h Π̄ × Ω̄ + h/2 (T₀ + T₁), R₁ = R₀ cay[h Ω̄], Π̄ = (Π₀ + Π₁)/2. Energy and
    spatial momentum of the free body exact; of the heavy top the whole Hamiltonian and π₃.
    The attitude is less accurate than that of methods built on exp.
    """

    name = "akw"
    paper = "Austin, Krishnaprasad, Wang, J. Comput. Phys. 107 (1993) 105-117"
    traits = Traits(order=2, energy="exact", spatial_momentum="exact", top_energy="exact")

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        q0, Pi0 = state.attitude, state.momentum
        T0 = system.torque(t, q0, system.omega(Pi0))

        def end(Pi1: Vec3) -> State:
            mean = 0.5 * (Pi0 + Pi1)
            Omega = system.omega(mean)
            q1 = q0 * cayley(h * Omega)
            T1 = system.torque(t + h, q1, system.omega(Pi1))
            return State(q1, Pi0 + (h * mean.cross(Omega) + h / 2 * (T0 + T1)))

        guess = Pi0 + h * rate(system, t, state)
        Pi1, report = self.solve_momentum(system, lambda Pi1: Pi1 - end(Pi1).momentum, guess, h)
        return Step(end(Pi1), report)


@dataclass(frozen=True)
class BBTRAP(Implicit):
    """Bottasso & Borri's trapezoid with dexp⁻¹ truncated to 1, which makes it conserve energy.

    Ψ = h/2 (Ω₀ + Ω₁), R₁ = R₀ exp[Ψ], Π₁ = exp[-Ψ](Π₀ + h/2 T₀) + h/2 T₁. The same map as
    SWC1 on free motion.
    """

    name = "bbtrap"
    paper = "Bottasso, Borri, Comput. Methods Appl. Mech. Engrg. 164 (1998) 307-331"
    traits = Traits(order=2, energy="exact", spatial_momentum="exact")

    def end_omega(self, Psi: Vec3, Omega0: Vec3, h: Scalar) -> Vec3:
        """Ω₁ (rad/s, body) from the rotation vector Ψ of a step of h (s)."""
        return 2.0 / h * Psi - Omega0

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        q0, Pi0 = state.attitude, state.momentum
        Omega0 = system.omega(Pi0)
        kicked = Pi0 + h / 2 * system.torque(t, q0, Omega0)

        def end(Psi: Vec3) -> State:
            turn = exp(Psi)
            q1 = q0 * turn
            T1 = system.torque(t + h, q1, self.end_omega(Psi, Omega0, h))
            return State(q1, turn.unrotate(kicked) + h / 2 * T1)

        def residual(Psi: Vec3) -> Vec3:
            return h / 2 * (self.end_omega(Psi, Omega0, h) - system.omega(end(Psi).momentum))

        guess = rotation_guess(system, state, t, h)
        Psi, report = self.solve_rotation(residual, guess)
        return Step(end(Psi), report)


@dataclass(frozen=True)
class BBTRAPWD(BBTRAP):
    """Bottasso & Borri's trapezoid with dexp⁻¹ kept: the Munthe-Kaas method of the trapezoid.

    Ψ = h/2 (dexp_(-Ψ)⁻¹ Ω₁ + Ω₀), the rest as BBTRAP. Applying dexp_(-Ψ), which leaves Ψ
    itself alone, gives Ω₁ = 2Ψ/h - dexp_(-Ψ) Ω₀. Spatial momentum exact; energy drifts down.
    """

    name = "bbtrapwd"
    traits = Traits(order=2, energy="drifts", spatial_momentum="exact", top_energy="drifts", symmetric=False)

    def end_omega(self, Psi: Vec3, Omega0: Vec3, h: Scalar) -> Vec3:
        """Ω₁ = 2Ψ/h - dexp_(-Ψ) Ω₀ (rad/s, body), Ψ the rotation vector of a step of h (s)."""
        return 2.0 / h * Psi - dexp_right(Psi, Omega0)
