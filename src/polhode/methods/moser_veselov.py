"""The discrete Moser-Veselov algorithm in quaternions, preprocessed to high order; implicit midpoint.

Vilmart (2013), Algs 3 and 4, Remark 4; Hairer & Vilmart (2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from polhode.algebra import Quaternion, Scalar, Vec3
from polhode.algebra.computed_once import once
from polhode.algebra.scalars import is_mpmath, sqrt
from polhode.methods.base import Implicit, Step, Traits
from polhode.methods.moser_veselov_series import SERIES
from polhode.rotation import Rotation, State

PAPER = "Moser, Veselov (1991); Hairer, Vilmart, J. Phys. A 39 (2006); Vilmart (2013)"
_FREE = Traits(order=2, energy="exact", spatial_momentum="exact", poisson=True, symplectic=True, loads="none")


@dataclass(frozen=True)
class DMV(Implicit):
    """Discrete Moser-Veselov, which is RATTLE for the free body: all invariants and the symplectic form (Alg. 3).

    Solves Y = α y + h/2 Y × J⁻¹Y, α = 1 + |e|², e = h/2 J⁻¹Y (14); then y₁ = y + h/α Y × J⁻¹Y and
    q₁ = q ρ, ρ = (1 + e)/√α (13), (15).
    """

    name = "dmv"
    paper = PAPER
    traits = _FREE

    def alpha(self, e: Vec3) -> Scalar:
        """α of (14)."""
        return 1.0 + e.norm2()

    def inverse_moments(self, system: Rotation, y: Vec3, h: Scalar) -> Vec3:
        """1/I_j, possibly modified."""
        I = system.moments
        return Vec3(1.0 / I.x, 1.0 / I.y, 1.0 / I.z)

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        y = state.momentum
        x = self.inverse_moments(system, y, h)

        def parts(Y: Vec3) -> tuple[Vec3, Scalar, Vec3]:
            """e, α and h/2 Y × J⁻¹Y."""
            e = (h / 2) * x.scale(Y)
            return e, self.alpha(e), Y.cross(e)

        def residual(Y: Vec3) -> Vec3:
            _, alpha, product = parts(Y)
            return Y - (alpha * y + product)

        guess = y + (h / 2) * y.cross(x.scale(y))

        def turn(Y: Vec3) -> Quaternion:
            """ρ."""
            e, _, _ = parts(Y)
            length = 1.0 / sqrt(1.0 + e.norm2())
            return Quaternion(length, *(length * e)).renormalized()

        Y, report = self.solve_momentum(system, residual, guess, h)
        rho = once(turn, Y)
        # y₁ of (15) is y turned by ρ; turned, Qy and C do not depend on how well (14) was solved.
        return Step(State(state.attitude * rho, rho.unrotate(y)), report)


@dataclass(frozen=True)
class Midpoint(DMV):
    """Implicit midpoint rule (Remark 4): DMV with α = 1. All quadratic invariants, R orthogonal by
    Cayley; neither Poisson nor symplectic. On the free body the same map of Π as AKW and IMID."""

    name = "midpoint"
    paper = "Vilmart, Rigid body dynamics (2013), Remark 4"
    traits = Traits(order=2, energy="exact", spatial_momentum="exact", loads="none")

    def alpha(self, e: Vec3) -> Scalar:
        """1: what makes it the midpoint rule."""
        return 1.0


@dataclass(frozen=True)
class PreprocessedDMV(DMV):
    """DMV with moments modified step by step so that its order is 4, 6, 8 or 10 (Alg. 4).

    1/Ĩ_j = (1 + h² s₃ + h⁴ s₅ + ...)/I_j + h² t₃ + h⁴ t₅ + ..., with s and t polynomials in the
    invariants C and H (Table 1, and s₉, t₉). All invariants exact and Poisson at every order;
    symplectic only as plain DMV. The cheapest way to high accuracy on a free body.
    """

    high_order: int = 10

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"dmv{self.high_order}"

    @property
    def summary(self) -> str:
        return f"Moser-Veselov preprocessed to order {self.high_order}"

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        return Traits(order=self.high_order, energy="exact", spatial_momentum="exact", poisson=True, loads="none")

    def inverse_moments(self, system: Rotation, y: Vec3, h: Scalar) -> Vec3:
        x = super().inverse_moments(system, y, h)
        # In units in which h = 1 and Σ 1/I_j = 1 all of it is angles: nothing overflows, or vanishes, before they do.
        unit = x.x + x.y + x.z
        turn, share = y * (h * unit), x / unit
        e1, e2 = share.x + share.y + share.z, share.x * share.y + share.y * share.z + share.z * share.x
        values = (0.5 * turn.dot(share.scale(turn)), 0.5 * turn.norm2(), e1, e2, share.x * share.y * share.z)
        s, t = 0.0 * e1, 0.0 * e1
        for s_terms, t_terms in reversed(SERIES[: self.high_order // 2 - 1]):
            s, t = polynomial(s_terms, values) + s, polynomial(t_terms, values) + t
        return Vec3(*(xj + (xj * s + unit * t) for xj in x))


def polynomial(terms: Any, values: tuple[Scalar, ...]) -> Scalar:
    """Σ (numerator/denominator) Π value^power. Powers by products: the same on fractions and mpmath numbers, where a
    quotient of floats would not be exact."""
    total = None
    for (top, bottom), powers in terms:
        product = None
        for value, power in zip(values, powers, strict=True):
            for _ in range(power):
                product = value if product is None else product * value
        exact = is_mpmath(product) or isinstance(product, Fraction)
        term = product * top / bottom if exact else (top / bottom) * product
        total = term if total is None else total + term
    return total
