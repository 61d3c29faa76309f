"""The three-field step for systems of hundreds of bodies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from polhode.model.checks import InputError
from polhode.model.halving import Halving
from polhode.model.method import Method
from polhode.multibody.describe.state import State
from polhode.multibody.step.equations import Equations
from polhode.multibody.step.sparse_equations import SparseEquations
from polhode.multibody.step.sparse_multipliers import least_of_blocks
from polhode.multibody.step.three_field import ThreeField
from polhode.multibody.system import System
from polhode.solve import LeastNorm, Report
from polhode.solve.chord import Chord

_MATRICES = 6  # at most in a step
_CUT = 1e-11  # of singular values: round-off in what SuperLU finds is some hundred times less


@dataclass(frozen=True)
class ThreeFieldSparse(ThreeField):
    """The three-field step with sparse matrices: linear time for chains and trees of hundreds of bodies.

    The equations, and so the motion, are those of `ThreeField` to round-off; only their solution
    differs: the Newton matrix is factored by SuperLU on the host. Where rows follow from each other, as in plane
    linkages of hinges, it is the whole Jacobian at every iterate, and corrections are of least norm: loops pass through
    positions in which freedoms rise. "projection" is not among its stabilisations. For a few bodies `ThreeField` is
    faster."""

    name: ClassVar[str] = "three-field-sparse"
    equations: ClassVar[type[Equations]] = SparseEquations
    calls_back: ClassVar[bool] = True  # SuperLU runs on the host
    solver: Any = field(default_factory=lambda: Chord(stalled=1e-12, limit=10))  # of a scale that knows of round-off

    @property
    def rungs(self) -> tuple[Method, ...]:
        return self, Halving(self, fast=False)

    def _solved(self, equations: Any) -> tuple[Any, Report, Any]:
        if equations.system.redundant:
            return LeastNorm(cut=_CUT).solve(equations)
        return *self.solver.solve_renewing(equations, _MATRICES), 0.0

    def least(self, system: System, q: Any, t: Any, Lam: Any) -> Any:
        return least_of_blocks(system, q, t, Lam)

    def why_failed(self, system: System, state: State, t: float, h: float) -> str | None:
        return self._following(system, state, t)

    def __post_init__(self) -> None:
        if not isinstance(self.solver, Chord) or self.solver.frozen:
            raise InputError(
                f"three-field-sparse solves by Chord(frozen=False), with sparse matrices; got {self.solver!r}. Use "
                "three-field for others"
            )
        if self.stabilisation == "projection":
            raise InputError(
                "three-field-sparse keeps joints closed by stabilisation 'both', 'kappa' or 'none'; got 'projection', "
                "whose matrices are dense. Use three-field for it"
            )
