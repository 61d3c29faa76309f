"""The discrete Moser-Veselov algorithm in quaternions, preprocessed to high order; implicit midpoint.

Vilmart (2013), Algs 3 and 4, Remark 4; Hairer & Vilmart (2006).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from typing import Any

import jax.numpy as jnp
from jax import lax

from polhode.algebra import Quaternion, Scalar, Vec3
from polhode.algebra.computed_once import once
from polhode.algebra.scalars import is_mpmath, rsqrt
from polhode.methods.base import Implicit, Step, Traits
from polhode.methods.moser_veselov_series import SERIES
from polhode.rotation import Rotation, State
from polhode.solve import Fixed, FixedPoint, Newton, PlainNewton

PAPER = "Moser, Veselov (1991); Hairer, Vilmart, J. Phys. A 39 (2006); Vilmart (2013)"
_MOST = (1.0, 1.0 / 3.0, 1.0 / 27.0)  # e1, e2 and e3 of three shares of 1
_EPS, _OFF = 2.3e-16, 1e-9  # of a sum's largest term, and of 1/I: round-off that is left, and what is allowed
_FREE = Traits(order=2, energy="exact", spatial_momentum="exact", poisson=True, symplectic=True, loads="none")


@dataclass(frozen=True)
class DMV(Implicit):
    """Discrete Moser-Veselov, which is RATTLE for the free body: all invariants and the symplectic form (Alg. 3).

    Solves Y = α y + h/2 Y × J⁻¹Y, α = 1 + |e|², e = h/2 J⁻¹Y (14), for e, which is half the angle of the step: there
    e = α e₀ + κ (e₂e₃, e₃e₁, e₁e₂), e₀ = h/2 J⁻¹y, κ₁ = (I₂ - I₃)/I₁ and so on. Then q₁ = q ρ, ρ = (1 + e)/√α (13),
    and y₁ = y + h/α Y × J⁻¹Y (15), which is y turned by ρ; turned, Qy and C do not depend on how well (14) was solved.
    """

    solver: Newton | FixedPoint | PlainNewton = field(default_factory=lambda: FixedPoint(first=5))

    name = "dmv"
    paper = PAPER
    traits = _FREE

    def alpha(self, e: Vec3) -> Scalar:
        """α of (14)."""
        return 1.0 + e.norm2()

    def inverse_moments(self, system: Rotation, y: Vec3, h: Scalar) -> Vec3:
        """1/I_j for a step of h (s), possibly modified by invariants of the momentum y (kg m²/s, body)."""
        I = system.moments
        return Vec3(1.0 / I.x, 1.0 / I.y, 1.0 / I.z)

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        y = state.momentum
        x = self.inverse_moments(system, y, h)
        e0 = (h / 2) * x.scale(y)
        r = system.moments.x * x  # without units
        each = 1.0 / (r.x * r.y * r.z)
        kappa = Vec3(*((r[j] * r[j]) * (r[j - 1] - r[j - 2]) * each for j in range(3)))

        def image(e: Vec3) -> Vec3:
            """Each component by those before it that are new: that converges nearly twice as fast."""
            alpha = once(self.alpha, e)
            ex = once(component, alpha, e0.x, kappa.x, e.y, e.z)
            ey = once(component, alpha, e0.y, kappa.y, e.z, ex)
            return Vec3(ex, ey, once(component, alpha, e0.z, kappa.z, ex, ey))

        e, report = self.solve_rotation(Fixed(image), e0)
        return Step(once(moved, state, e), report)


def component(alpha: Scalar, e0: Scalar, kappa: Scalar, u: Scalar, v: Scalar) -> Scalar:
    """Of α e₀ + κ (e₂e₃, e₃e₁, e₁e₂)."""
    return alpha * e0 + kappa * (u * v)


def moved(state: State, e: Vec3) -> State:
    """Turned by ρ = (1 + e)/√(1 + |e|²)."""
    y = state.momentum
    length = once(lambda e: rsqrt(1.0 + e.norm2()), e)
    across = once(Vec3.cross, y, e)
    return State(
        state.attitude * Quaternion(length, *(length * e)),
        y + (2.0 * length * length) * (across + across.cross(e)),
    )


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
        """dmvORDER."""
        return f"dmv{self.high_order}"

    @property
    def summary(self) -> str:
        return f"Moser-Veselov preprocessed to order {self.high_order}"

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """Those of `DMV`, of its order, but for the symplectic form."""
        return Traits(order=self.high_order, energy="exact", spatial_momentum="exact", poisson=True, loads="none")

    def inverse_moments(self, system: Rotation, y: Vec3, h: Scalar) -> Vec3:
        x = super().inverse_moments(system, y, h)
        unit, values = _in_units(x, y, h)
        s, t = (polynomial(terms, values) for terms in self._terms)
        return Vec3(*(xj + (xj * s + unit * t) for xj in x))

    @property
    def _terms(self) -> Any:
        """Of s, and of t."""
        pairs = SERIES[: self.high_order // 2 - 1]
        return [tuple(chain.from_iterable(terms)) for terms in zip(*pairs, strict=True)]

    @property
    def _sizes(self) -> Any:
        """The same, of their absolute values."""
        return [[((abs(top), bottom), powers) for (top, bottom), powers in terms] for terms in self._terms]

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        """From `state` at time t to t + h (s). Not solved, too, where the terms of s and t are so large against what
        they add up to that nothing is left of its digits: of thin rods, whose 1/I are far apart, in steps that are not
        very short."""
        found, y = super().step(system, state, t, h), state.momentum
        if is_mpmath(y.x):
            return found
        x = super().inverse_moments(system, y, h)
        unit, (H, C, *body) = _in_units(x, y, h)
        least = jnp.minimum(jnp.minimum(x.x, x.y), x.z)

        def of(*values: Any) -> Any:
            s, t = (polynomial(terms, values) for terms in self._sizes)
            return _EPS * (s * least + t * unit)

        def closely() -> Any:
            here = 0.0 * C  # so that what is of the body alone is not kept for all steps, of which few come here
            return of(H, C, *(e + here for e in body)) / least

        # H is at most C, and shares of 1 leave e2 and e3 so much: in most steps that is little enough.
        plain = (C <= 1.0) & (of(1.0, 1.0, *_MOST) <= _OFF * least)
        off = lax.cond(jnp.all(plain), lambda: jnp.zeros_like(C), closely)
        off, report = jnp.where(off <= _OFF, 0.0, off), found.report
        report = replace(report, converged=report.converged & (off == 0.0), error=jnp.maximum(report.error, off))
        return replace(found, report=report)


def _in_units(x: Vec3, y: Vec3, h: Scalar) -> tuple[Scalar, tuple[Scalar, ...]]:
    """Σ 1/I_j, and what the polynomials are of, in units in which that and h are 1: angles, so that nothing overflows,
    or vanishes, before they do."""
    unit = x.x + x.y + x.z
    turn, share = y * (h * unit), x / unit
    e1, e2 = share.x + share.y + share.z, share.x * share.y + share.y * share.z + share.z * share.x
    return unit, (0.5 * turn.dot(share.scale(turn)), 0.5 * turn.norm2(), e1, e2, share.x * share.y * share.z)


def polynomial(terms: Any, values: tuple[Scalar, ...]) -> Scalar:
    """Σ (numerator/denominator) Π value^power. By Horner's rule in the first two values, H and C: what multiplies their
    powers is of the body alone, and leaves a loop over steps."""
    H, C, *body = values
    of_powers: dict[tuple[int, int], list[Any]] = {}
    for fraction, (i, j, *rest) in terms:
        of_powers.setdefault((i, j), []).append((fraction, rest))
    total: Scalar = None
    for i in range(max(i for i, _ in of_powers), -1, -1):
        inner: Scalar = None
        for j in range(max(j for _, j in of_powers), -1, -1):
            inner = _plus(inner, C, _sum(of_powers[i, j], body) if (i, j) in of_powers else None)
        total = _plus(total, H, inner)
    return total


def _plus(total: Scalar, by: Scalar, term: Scalar) -> Scalar:
    """total × by + term, where None is 0."""
    if total is None:
        return term
    return total * by if term is None else total * by + term


def _sum(terms: Any, values: list[Scalar]) -> Scalar:
    """Powers by products: the same on fractions and mpmath numbers, where a quotient of floats would not be exact."""
    total: Scalar = None
    for (top, bottom), powers in terms:
        product = None
        for value, power in zip(values, powers, strict=True):
            for _ in range(power):
                product = value if product is None else product * value
        exact = is_mpmath(product) or isinstance(product, Fraction)
        term = product * top / bottom if exact else (top / bottom) * product
        total = term if total is None else total + term
    return total
