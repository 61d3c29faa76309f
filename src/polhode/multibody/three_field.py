"""The three-field step, summed by parts: symmetric in time, and true to its constraints for ever."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import jax.numpy as jnp

from polhode.multibody import assembly
from polhode.multibody.chord import Chord
from polhode.multibody.equations import Equations
from polhode.multibody.moment import carried, motion, pose, posed
from polhode.multibody.projection import projected
from polhode.multibody.state import State
from polhode.multibody.step import Method, Step
from polhode.multibody.system import System
from polhode.solve import Report

Stabilisation = Literal["both", "kappa", "projection", "none"]


@dataclass(frozen=True)
class ThreeField(Method):
    """The three-field step in the form that holds for ever: impulses of rows as unknowns, constraints at the end.

    (44) summed by parts and (45) at the end of the step; see `equations`. `stabilisation`
    says how holonomic rows are kept closed: "both" (default) positions and velocities, with a second
    multiplier Γ, symmetric in time; "kappa" ψ + φ/h = 0; "projection" positions, then velocities,
    moved back after the step; "none" velocities alone. `conserving` takes rows and forces as means
    along the path of the step, and energy is kept to order h⁴; without it, of the two ends. `accumulate`
    keeps the paper's μ and λ in the state as well, which no step needs.

    Order 2. Choose it for systems that roll, and for joints over long times."""

    name: ClassVar[str] = "three-field"
    equations: ClassVar[type[Equations]] = Equations
    stabilisation: Stabilisation = "both"
    conserving: bool = True
    accumulate: bool = False
    solver: Chord = field(default_factory=Chord)

    def _solved(self, equations: Any) -> tuple[Any, Report]:
        return self.solver(equations.residual, equations.correction(), equations.guess(), equations.size)

    def step(self, system: System, state: State, t: Any, h: Any) -> Step:
        kappa = 1.0 / h if self.stabilisation == "kappa" else 0.0
        both = self.stabilisation == "both"
        equations = self.equations(system, state, t, h, both=both, kappa=kappa, conserving=self.conserving)
        (w, Lam, _, u), report = self._solved(equations)
        r, q = carried(state, h * w)
        new = replace(state, positions=r, quaternions=q, velocities=u[:, :3], omegas=u[:, 3:])
        if self.stabilisation == "projection":
            new = projected(system, new, t + h)
        turned = jnp.max(jnp.sum((h * w[:, 3:]) ** 2, axis=-1)) < jnp.pi**2  # (27) means nothing beyond
        report = replace(report, converged=report.converged & turned & assembly.regular(system, pose(new), t + h))
        new = _with_multipliers(equations, new, w, Lam)
        return Step(_accumulated(equations, new) if self.accumulate else new, report)


def _with_multipliers(equations: Equations, new: State, w: Any, Lam: Any) -> State:
    """Λ/h on every row."""
    system, t, h = equations.system, equations.t, equations.h
    if system.redundant:
        mid = posed(carried(equations.state, 0.5 * h * w))
        full = assembly.rows(system, mid, t + 0.5 * h).reshape(system.rows, -1)
        # The least multipliers with this impulse.
        Lam = jnp.linalg.pinv(full.T, rtol=1e-9) @ (full[equations.kept].T @ Lam)
    return replace(new, multipliers=Lam / h)


def _accumulated(equations: Equations, new: State) -> State:
    """The paper's unknowns, M̄⁺μ⁺ = M̄μ + Λ + h f̄ and λ⁺ by (28)."""
    state, t, h = equations.state, equations.t, equations.h
    m, f = equations.row_mass(pose(state), t, motion(state))
    m_end, f_end = equations.row_mass(pose(new), t + h, motion(new))
    mu = (m * state.mu + h * new.multipliers + 0.5 * h * (f + f_end)) / m_end
    return replace(new, mu=mu, lam=state.lam + 0.5 * h * (state.mu + mu))
