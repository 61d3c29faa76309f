"""The scaled equations of a step with their whole Jacobian sparse: corrections of least norm for many bodies, rows of
which may follow from one another.

Which unknowns an equation reads is known from who is joined to whom, so that columns far from each other are
differentiated together. What is taken off the momentum of a whole part of the system depends on all of it: these
numbers, `share`, are unknowns of their own.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.multibody.rows import row_blocks as rows
from polhode.multibody.step.pattern import pattern
from polhode.multibody.step.scaled_equations import Scaled
from polhode.solve.colours import Colours
from polhode.solve.sparse import SparseSolver


class SparseScaled(Scaled):
    """With unknowns and rows in √J, as `Scaled`."""

    def lengths(self) -> Any:
        e = self.equations
        return jnp.sqrt(rows.inner(e.system, e.A, rows.over_masses(e.system, e.per_mass, e.A)))

    def least(self, y: Any, left: Any, cut: float) -> tuple[Any, Any]:
        """By the Jacobian with its rows lifted by `cut`, twice, with the Jacobian itself between, and once more for
        what that leaves: what no multiplier can change is left alone, and multipliers that pull nothing stay as
        they are."""
        over = self._over(y, cut)
        along = jax.linearize(lambda y: self.residual(y)[0], y)[1]
        lift = jnp.where(np.arange(len(y)) < 6 * self.size, 0.0, cut)

        def nearly(b: Any) -> Any:
            d = over(b)
            return d - over(lift * d)

        d = nearly(left)
        d = d + nearly(left - along(d))
        return d, along(d)

    def _over(self, y: Any, cut: float) -> Any:
        """(J + lift)⁻¹ as a function, J with a border for the share of each part: [J', U; -V, 1]."""
        e, n, moves = self.equations, len(y), 6 * self.size
        part, m = self._part_of_each(), len(e.parts.bodies)
        share = self.residual(y)[1][1][0]
        colours = Colours(pattern(e.system, both=e.both))
        lifted, moved, within = np.arange(moves, n), np.flatnonzero(part[:moves] >= 0), np.flatnonzero(part >= 0)
        by_share = jax.jvp(lambda c: self.residual(y, c)[0], (share,), (jnp.ones(m),))[1]
        (of_share,) = jax.vjp(lambda y: self.residual(y)[1][1][0], y)[1](jnp.ones(m))
        border = n + np.arange(m)
        entries = [
            (colours.values(lambda y: self.residual(y, share)[0], y), colours.rows, colours.columns),
            (jnp.full(len(lifted), cut), lifted, lifted),
            (by_share[moved], moved, n + part[moved]),
            (-of_share[within], n + part[within], within),
            (jnp.ones(m), border, border),
        ]
        at, to = (np.concatenate([entry[i] for entry in entries]) for i in (1, 2))
        values, solver = jnp.concatenate([entry[0] for entry in entries]), SparseSolver(at, to, n + m, ordered=False)
        return lambda b: solver(values, jnp.pad(b, (0, m)))[:n]

    def _part_of_each(self) -> np.ndarray:
        """The part of the system that each unknown belongs to, -1 where that is none."""
        e = self.equations
        of_body = np.append(e.parts.bodies, np.zeros((1, self.size)), axis=0).argmax(axis=0)
        of_body[~e.parts.bodies.any(axis=0)] = -1
        of_row = np.full(self.rows, -1)
        for g in e.system.groups:
            of_row[g.rows] = of_body[g.on.max(axis=1)][:, None]
        return np.concatenate([np.repeat(of_body, 6), of_row, of_row[e.hol] if e.both else of_row[:0]])
