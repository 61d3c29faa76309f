"""Munthe-Kaas Runge-Kutta methods for any Butcher tableau (Krysl 2007, algorithm MKRK)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt

from polhode.algebra import Scalar, Vec3, dexp_right, dexp_right_inverse, exp
from polhode.methods.base import ANGLE_FLOOR, Implicit, Step, Traits
from polhode.methods.krysl import rate
from polhode.model import InputError
from polhode.model.traits import Conserved
from polhode.rotation import Rotation, State
from polhode.solve import FixedPoint, Newton, Report


@dataclass(frozen=True)
class Tableau:
    """The coefficients a, b of a Runge-Kutta method; c are the row sums of a."""

    name: str
    order: int
    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    energy: Conserved = "drifts"  # of the free body, measured
    symmetric: bool = False

    def __post_init__(self) -> None:
        s = len(self.b)
        if len(self.a) != s or any(len(row) != s for row in self.a):
            raise InputError(f"tableau {self.name!r}: a must be {s} x {s} as b has {s} entries; got {self.a!r}")
        if abs(sum(self.b) - 1) > 1e-14:
            raise InputError(f"tableau {self.name!r}: the weights b must sum to 1; they sum to {sum(self.b)!r}")

    @property
    def c(self) -> tuple[float, ...]:
        """Where in the step each stage stands: the row sums of a."""
        return tuple(sum(row) for row in self.a)

    @property
    def explicit_stages(self) -> int:
        """How many stages, from the first, need only the stages before them."""
        needs = [any(row[k:]) for k, row in enumerate(self.a)]
        return needs.index(True) if any(needs) else len(self.b)


_r = sqrt(3) / 6
FORWARD_EULER = Tableau("forward-euler", 1, ((0.0,),), (1.0,))
BACKWARD_EULER = Tableau("backward-euler", 1, ((1.0,),), (1.0,))
GAUSS1 = Tableau("gauss1", 2, ((0.5,),), (1.0,), energy="bounded", symmetric=True)
TRAPEZOID = Tableau("trapezoid", 2, ((0.0, 0.0), (0.5, 0.5)), (0.5, 0.5))
RK4 = Tableau("rk4", 4, ((0, 0, 0, 0), (0.5, 0, 0, 0), (0, 0.5, 0, 0), (0, 0, 1.0, 0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6))
GAUSS2 = Tableau("gauss2", 4, ((0.25, 0.25 - _r), (0.25 + _r, 0.25)), (0.5, 0.5))
TABLEAUX = {t.name: t for t in (FORWARD_EULER, BACKWARD_EULER, GAUSS1, TRAPEZOID, RK4, GAUSS2)}


@dataclass(frozen=True)
class MuntheKaas(Implicit):
    """A Runge-Kutta method on the rotation vector of the step: never off the group, spatial
    momentum exact, any order.

    Stages: Ψₖ = h Σ aₖⱼ Kⱼ, Kₖ = dexp_(-Ψₖ)⁻¹ Ωₖ, Πₖ = exp[-Ψₖ](Π₀ + h Σ aₖⱼ exp[Ψⱼ] Tⱼ), and the
    same sums with bⱼ at the end. Stages that need only earlier ones are run one by one; the
    slopes Kₖ of the others are solved for together, from dexp_(-Ψₖ) Kₖ = Ωₖ.
    """

    tableau: Tableau = field(default=RK4)
    # None: Newton for one coupled stage. For more, fixed-point iteration, which costs a
    # sixth of Newton's 3s x 3s solve a step; pass Newton() where steps are long.
    solver: Newton | FixedPoint | None = None  # type: ignore[assignment]

    paper = "Munthe-Kaas, BIT 38 (1998) 92-111; Krysl (2007) section 3.7"

    @property
    def name(self) -> str:  # type: ignore[override]
        """mk-TABLEAU."""
        return f"mk-{self.tableau.name}"

    @property
    def summary(self) -> str:
        return f"Munthe-Kaas Runge-Kutta method, {self.tableau.name}"

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """Those of the tableau; spatial momentum is exact for all."""
        t = self.tableau
        return Traits(
            order=t.order, energy=t.energy, spatial_momentum="exact", top_energy=t.energy, symmetric=t.symmetric
        )

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        a, b, c = self.tableau.a, self.tableau.b, self.tableau.c
        q0, Pi0 = state.attitude, state.momentum

        def force(k: int, Psi: Vec3, Omega: Vec3) -> Vec3:
            """exp[Ψₖ] Tₖ."""
            turn = exp(Psi)
            return turn.rotate(system.torque(t + c[k] * h, q0 * turn, Omega))

        def momentum(Psi: Vec3, impulse: Vec3) -> Vec3:
            return exp(Psi).unrotate(Pi0 + h * impulse)

        # Stages in order, as long as each needs only those before it.
        K: list[Vec3] = []
        forces: list[Vec3] = []
        for k in range(self.tableau.explicit_stages):
            if not any(a[k]):  # as the first is: where the step begins
                K.append(system.omega(Pi0))
                forces.append(system.torque(t + c[k] * h, q0, K[-1]))
                continue
            Psi = h * _weighted(a[k], K)
            Omega = system.omega(momentum(Psi, _weighted(a[k], forces)))
            K.append(dexp_right_inverse(Psi, Omega))
            forces.append(force(k, Psi, Omega))

        report = Report.explicit()
        rest = range(len(K), len(b))
        if rest:

            def with_forces(unknown: list[Vec3]) -> tuple[list[Vec3], list[Vec3], list[Vec3], list[Vec3]]:
                slopes = K + unknown
                Psis = [h * _weighted(a[k], slopes) for k in rest]
                Omegas = [dexp_right(Psi, slope) for Psi, slope in zip(Psis, unknown, strict=True)]
                return slopes, Psis, Omegas, forces + [force(*args) for args in zip(rest, Psis, Omegas, strict=True)]

            def residual(unknown: list[Vec3]) -> list[Vec3]:
                _, Psis, Omegas, all_forces = with_forces(unknown)
                return [
                    Omega - system.omega(momentum(Psi, _weighted(a[k], all_forces)))
                    for k, Psi, Omega in zip(rest, Psis, Omegas, strict=True)
                ]

            slope = rate(system, t, state)
            guess = [system.omega(Pi0 + (c[k] * h) * slope) for k in rest]
            solver = self.solver or (Newton() if len(rest) == 1 else FixedPoint())
            unknown, report = solver(residual, guess, guess[-1].norm() + ANGLE_FLOOR / abs(h))
            K, _, _, forces = with_forces(unknown)

        Psi = h * _weighted(b, K)
        return Step(State(q0 * exp(Psi), momentum(Psi, _weighted(b, forces))), report)


def _weighted(weights: tuple[float, ...], vectors: list[Vec3]) -> Vec3:
    total = Vec3(0.0, 0.0, 0.0)
    for w, v in zip(weights, vectors, strict=False):
        if w:
            total = total + w * v
    return total
