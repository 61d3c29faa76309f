"""RATTLE for the constrained Hamiltonian system in matrices P, Q (Vilmart 2013, (7) and (11))."""

from __future__ import annotations

from dataclasses import dataclass

from polhode.algebra import Mat3, Quaternion, Scalar, Vec3
from polhode.methods.base import Implicit, Step, Traits
from polhode.rotation import Rotation, State

_REST = Vec3(0.0, 0.0, 0.0)
Symmetric = tuple[Vec3, Vec3]  # the diagonal of a symmetric matrix, and its 23, 31, 12 entries


@dataclass(frozen=True)
class Rattle(Implicit):
    """RATTLE as printed in (11): six multipliers Λ₀ keep Q₁ orthogonal, six more keep P₁ tangent.

        P_½ = P₀ - h/2 ∇U(Q₀) - h/2 Q₀Λ₀,  Q₁ = Q₀ + h P_½ D⁻¹,  Q₁ᵀQ₁ = 1,
        P₁ = P_½ - h/2 ∇U(Q₁) - h/2 Q₁Λ₁,  Q₁ᵀP₁D⁻¹ + D⁻¹P₁ᵀQ₁ = 0.

    The same map as Strang's splitting with DMV, which costs some forty times less: choose that one. Needs
    a body with interior points (every moment less than the sum of the others).
    """

    name = "rattle"
    paper = "McLachlan, Scovel; Reich (1990s); Vilmart, Rigid body dynamics (2013), (11)"
    traits = Traits(order=2, energy="exact", spatial_momentum="exact", poisson=True, symplectic=True, loads="attitude")

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        I = system.moments
        half_trace = 0.5 * (I.x + I.y + I.z)
        D = Vec3(half_trace - I.x, half_trace - I.y, half_trace - I.z)  # (2)
        q0 = state.attitude

        # Everything is seen from Q₀: Y = Q₀ᵀP, F = Q₀ᵀQ₁. Of Q₀ᵀ∇U only the skew part counts, Λ takes up
        # the rest; it is minus half the skew matrix of the torque.
        T0 = system.torque(t, q0, _REST)
        kicked = _columns_by(system.omega(state.momentum).skew(), D) + (h / 4) * T0.skew()

        def moved(M: Symmetric) -> Mat3:
            """F, with M = h²/2 Λ₀: the unknown whose round-off is that of F."""
            return Mat3.identity() + _columns_by(h * kicked - _matrix(M), Vec3(1.0 / D.x, 1.0 / D.y, 1.0 / D.z))

        def residual(M: Symmetric) -> Symmetric:
            """1 - FᵀF."""
            F = moved(M)
            a, b, c = F.column(0), F.column(1), F.column(2)
            return Vec3(1.0 - a.norm2(), 1.0 - b.norm2(), 1.0 - c.norm2()), Vec3(-b.dot(c), -c.dot(a), -a.dot(b))

        omega = system.omega(state.momentum)
        centripetal = _columns_by(omega.skew() @ omega.skew(), D)
        guess = _parts((-0.25 * h * h) * (centripetal + centripetal.T))
        M, report = self.solver(residual, guess, half_trace + 0.0 * omega.x)
        turn = Quaternion.from_matrix(moved(M))
        q1 = q0 * turn
        # Π₁ is twice the skew part of Q₁ᵀP₁, which Λ₁ has no part in. That of Q₁ᵀP_½ is the kicked momentum
        # seen from Q₁, and so computed does not pick up the round-off of F.
        Pi = turn.unrotate(state.momentum + (h / 2) * T0)
        return Step(State(q1, Pi + (h / 2) * system.torque(t + h, q1, _REST)), report)


def _columns_by(M: Mat3, d: Vec3) -> Mat3:
    """M times the diagonal matrix of d."""
    return Mat3.from_columns(M.column(0) * d.x, M.column(1) * d.y, M.column(2) * d.z)


def _matrix(L: Symmetric) -> Mat3:
    (a, b, c), (p, q, r) = L
    return Mat3(a, r, q, r, b, p, q, p, c)


def _parts(M: Mat3) -> Symmetric:
    return Vec3(M.m11, M.m22, M.m33), Vec3(M.m32, M.m13, M.m21)
