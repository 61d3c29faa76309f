"""The three-field step, summed by parts: symmetric in time, and true to its constraints for ever."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from polhode._programs import stored
from polhode.model.checks import InputError
from polhode.model.functions import as_arrays
from polhode.model.halving import Halving
from polhode.model.method import Method, Step
from polhode.model.traits import Traits
from polhode.multibody.describe.state import State
from polhode.multibody.rows import assembly
from polhode.multibody.rows.momenta import carried, extent, motion, pose, posed
from polhode.multibody.start.dependent_rows import rows_that_follow
from polhode.multibody.start.least_multipliers import least
from polhode.multibody.step.base import FieldState, MultibodyMethod
from polhode.multibody.step.equations import Equations
from polhode.multibody.step.projection import projected
from polhode.multibody.system import System
from polhode.solve import Chord, DenseNewton, Ladder, LeastNorm, Report
from polhode.solve.implicit import implicit

Stabilisation = Literal["both", "kappa", "projection", "none"]
# Rows that do work beyond this part of the kinetic energy, which nothing takes off, are no rows of nature.
_WORK = 0.01


@dataclass(frozen=True)
class ThreeField(MultibodyMethod):
    """The three-field step in the form that holds for ever: impulses of rows as unknowns, constraints at the end.

    (44) summed by parts and (45) at the end of the step; see `equations`. `stabilisation`
    says how holonomic rows are kept closed: "both" (default) positions and velocities, with a second
    multiplier Γ, symmetric in time; "kappa" ψ + φ/h = 0; "projection" positions, then velocities,
    moved back after the step; "none" velocities alone. `conserving` takes rows and forces as means
    along the path of the step, and energy is kept to order h⁴; without it, of the two ends. `accumulate`
    keeps the paper's μ and λ in the state as well, which no step needs. `solver`: `Chord` (default), or
    `DenseNewton` for the whole Jacobian at every iterate, to compare with.

    Order 2. Choose it for systems that roll, and for joints over long times."""

    name: ClassVar[str] = "three-field"
    equations: ClassVar[type[Equations]] = Equations
    stabilisation: Stabilisation = "both"
    conserving: bool = True
    accumulate: bool = False
    solver: Ladder | Chord | LeastNorm | DenseNewton = field(default_factory=Ladder)

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """By how holonomic rows are held, and whether rows do no work."""
        held = {"both": "exact", "projection": "exact", "kappa": "bounded", "none": "drifts"}
        both, moved = self.stabilisation == "both", self.stabilisation == "projection"
        return Traits(
            order=2,
            energy=("exact" if self.conserving else "bounded") if both else "drifts",
            spatial_momentum="exact" if self.conserving and not moved else "drifts",
            joints=held[self.stabilisation],  # type: ignore[arg-type]
            symmetric=self.stabilisation in ("both", "none"),
        )

    def begin(self, system: System, state: State) -> State:
        if not self.accumulate or isinstance(state, FieldState):
            return state
        nothing = jnp.zeros(system.rows)
        return FieldState.on(state, nothing, nothing)

    @property
    def rungs(self) -> tuple[Method, ...]:
        if not isinstance(self.solver, Ladder):
            return (self,)
        return replace(self, solver=self.solver.chord), Halving(replace(self, solver=self.solver.newton), fast=False)

    def _solved(self, equations: Any) -> tuple[Any, Report, Any]:
        if isinstance(self.solver, DenseNewton):
            return *self._in_full(self.solver, equations), 1.0
        return self.solver.solve(equations)

    def _in_full(self, solver: DenseNewton, equations: Any) -> tuple[Any, Report]:
        """By the whole Jacobian, at every iterate."""
        if solver.frozen:
            raise InputError("three-field keeps q⁺ fixed in its matrix by solver=Chord(frozen=True)")
        guess, shaped = ravel_pytree(equations.guess())

        def evaluate(x: Any, _: Any) -> tuple[Any, Any]:
            residual = equations.residual(shaped(x))
            return ravel_pytree(residual)[0], equations.norm(residual)

        x, report = solver(evaluate, lambda x: x, guess)
        return shaped(x), report

    def rows_left(self, system: System, state: State, t: Any, h: Any) -> tuple[Any, Any, Any, Any]:
        """What is left of each row (φ⁺, else ψ⁺) where all are held as nearly as can be after a step of h (s); how much
        that is of the size of what they hold; the work that they do, of the kinetic energy; and whether this was
        found."""
        equations = self._equations(system, state, t, h)
        x, report, _ = LeastNorm().solve(equations)
        _, psi, phi, _, _ = equations.residual(x)
        left = psi.at[equations.hol].set(h * phi) if equations.both else psi
        return left, equations.disagreement()((None, psi, phi)), x[4][1], report.iterations < LeastNorm().limit

    def _equations(self, system: System, state: State, t: Any, h: Any) -> Equations:
        kappa = 1.0 / h if self.stabilisation == "kappa" else 0.0
        both = self.stabilisation == "both"
        return self.equations(system, state, t, h, both=both, kappa=kappa, conserving=self.conserving)

    # The solution of the equations of a step, and how it was reached, see `solve.implicit`.

    def solution(self, *at: Any) -> tuple[Any, Any]:
        """The unknowns of a step, and how they were reached."""
        x, report, renewed = self._solved(self._equations(*at))
        return x, (1.0 * report.converged, 1.0 * report.iterations, report.error, jnp.asarray(1.0 * renewed))

    def left(self, x: Any, *at: Any) -> Any:
        """What is left of the equations of a step."""
        return self._equations(*at).residual(x)

    def underdetermined(self, *at: Any) -> bool:
        """Whether rows follow from others, so that multipliers are not determined."""
        return bool(at[0].redundant)

    def step(self, system: System, state: State, t: Any, h: Any) -> Step:
        state = self.begin(system, state)
        (w, Lam, _, u, (_, work)), (converged, iterations, error, renewed) = implicit(self, system, state, t, h)
        report = Report(converged > 0, iterations.astype(int), error, renewals=renewed.astype(int))
        r, q = carried(state, h * w)
        new = replace(state, positions=r, quaternions=q, velocities=u[:, :3], omegas=u[:, 3:])
        if self.stabilisation == "projection":
            new = projected(system, new, t + h)
        turned = jnp.max(jnp.sum((h * w[:, 3:]) ** 2, axis=-1)) < jnp.pi**2  # (27) means nothing beyond
        sound = turned & (work < _WORK) & assembly.regular(system, pose(new), t + h)
        report = replace(report, converged=report.converged & sound)
        if system.redundant:
            Lam = self.least(system, posed(carried(state, 0.5 * h * w)), t + 0.5 * h, Lam)
        new = replace(new, multipliers=Lam / h)
        return Step(_accumulated(self._equations(system, state, t, h), new) if self.accumulate else new, report)

    def least(self, system: System, q: Any, t: Any, Lam: Any) -> Any:
        """Of rows that follow from one another, at time t (s), the least multipliers that pull alike."""
        return least(assembly.rows(system, q, t), Lam, extent(system, q[0]))

    def why_failed(self, system: System, state: State, t: float, h: float) -> str | None:
        return self._untrue(system, state, t, h) or self._following(system, state, t)

    def _untrue(self, system: System, state: State, t: float, h: float) -> str | None:
        """Which rows cannot all hold after the step that failed, and what is left of them at best; or that they hold,
        but by forces that do work."""
        if not system.rows:
            return None
        left, apart, work, found = _rows_left(self, as_arrays(system.bare()), as_arrays(state), t, h)
        left = np.asarray(left)
        if not found:
            return None
        if not apart > system.tolerance:
            worked = (
                f"in it constraints would do work, {100 * float(work):.2g} % of the kinetic energy, which none does in "
                f"nature: the motion changes too much in a step; take a smaller one ({h / 2:g})"
            )
            return worked if work > _WORK else None
        worst = int(np.abs(left).argmax())
        names = [system.row_names[i] for i in np.flatnonzero(np.abs(left) > 0.01 * abs(left[worst]))]
        return (
            f"these constraints come to contradict each other: {', '.join(names)}. What comes nearest to all of them "
            f"leaves {left[worst]:.3g} in {system.row_names[worst]!r}, and {float(apart):.2g} of the size of what they "
            f"hold is more than the tolerance of the system, {system.tolerance:g}. Remove or change one, or give "
            "System(tolerance=...) if they are meant to agree"
        )

    def _following(self, system: System, state: State, t: float) -> str | None:
        """Rows that follow from one another where the step failed: there a mechanism may be locked, or branch."""
        names = rows_that_follow(system, state, t)
        if not names:
            return None
        return (
            f"its equations were not solved, neither whole nor in parts. There {', '.join(names)} follow from one "
            "another, so that a mechanism may be locked by them against its loads, or branch; try a smaller step, or "
            "leave out what is not needed"
        )


@stored(static=1, briefly=True)
def _rows_left(method: ThreeField, system: System, state: State, t: Any, h: Any) -> Any:
    return method.rows_left(system, state, t, h)


def _accumulated(equations: Equations, new: Any) -> Any:
    """The paper's unknowns, M̄⁺μ⁺ = M̄μ + Λ + h f̄ and λ⁺ by (28)."""
    state: Any = equations.state
    t, h = equations.t, equations.h
    m, f = equations.row_mass(pose(state), t, motion(state))
    m_end, f_end = equations.row_mass(pose(new), t + h, motion(new))
    mu = (m * state.mu + h * new.multipliers + 0.5 * h * (f + f_end)) / m_end
    return replace(new, mu=mu, lam=state.lam + 0.5 * h * (state.mu + mu))
