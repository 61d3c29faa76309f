"""The three-field step of Paraskevopoulos & Natsiavas, in the form that holds for ever."""
from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import jax.numpy as jnp

from polhode.multibody import assembly
from polhode.multibody.chord import Chord
from polhode.multibody.equations import Equations
from polhode.multibody.moment import carried, posed
from polhode.multibody.state import State
from polhode.multibody.system import System
from polhode.multibody.tree import tree
from polhode.solve import Report


@tree
class Step:
    """The result of a step: the new state and how its equations were solved."""

    state: State
    report: Report


@dataclass(frozen=True)
class ThreeField:
    name: ClassVar[str] = "three-field"
    stabilisation: Literal["both", "kappa", "projection", "none"] = "both"
    conserving: bool = True
    solver: Chord = field(default_factory=Chord)

    def step(self, system: System, state: State, t: Any, h: Any) -> Step:
        kappa = 1.0 / h if self.stabilisation == "kappa" else 0.0
        eq = Equations(
            system, state, t, h, both=self.stabilisation == "both", kappa=kappa, conserving=self.conserving
        )
        x, report = self.solver(eq.residual, eq.correction(), eq.guess(), eq.size)
        w, Lam, Gam = x
        A_mid = assembly.rows(system, posed(carried(state, 0.5 * h * w)), t + 0.5 * h)
        u = eq.end_velocity(w, A_mid, Gam)
        r, q = carried(state, h * w)
        return Step(replace(state, positions=r, quaternions=q, velocities=u[:, :3], omegas=u[:, 3:], multipliers=Lam / h), report)
