"""One solver after the other, until the equations of a step are solved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp

from polhode.solve.chord import Chord
from polhode.solve.iteration import Report, runs_until_converged
from polhode.solve.least_norm import LeastNorm


@dataclass(frozen=True)
class Ladder:
    """`chord`, one matrix for several corrections; where that does not solve a step, `newton`, the whole Jacobian at
    every iterate with corrections of least norm, from the same guess. In a run each is a program of its own
    (`ThreeField.rungs`), so that nobody waits for the compilation of one that is not needed."""

    chord: Chord = field(default_factory=Chord)
    newton: LeastNorm = field(default_factory=LeastNorm)

    def solve(self, equations: Any) -> tuple[Any, Report, Any]:
        """The solution, how it was reached, and whether the second was needed."""
        x, report, _ = self.chord.solve(equations)
        if not runs_until_converged(self.chord.mode):
            return x, report, 0.0

        # No branch but an empty loop where the first was enough: under vmap both sides of a branch are taken.
        solved = report.converged
        y, then, _ = self.newton.solve(equations, unless=solved)
        chosen = jax.tree.map(lambda a, b: jnp.where(solved, a, b), (x, report.error), (y, then.error))
        iterations = report.iterations + jnp.where(solved, 0, then.iterations)
        return chosen[0], Report(solved | then.converged, iterations, chosen[1]), 1.0 - solved
