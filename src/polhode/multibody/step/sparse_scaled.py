"""The scaled equations of a step with their whole Jacobian sparse: corrections of least norm for many bodies, rows of
which may follow from one another.

Which unknowns an equation reads is known from who is joined to whom, so that columns far from each other are
differentiated together. What is taken off the momentum of a whole part of the system depends on all of it: these
numbers, `share`, are unknowns of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.multibody.rows import row_blocks as rows
from polhode.multibody.step.pattern import pattern
from polhode.multibody.step.scaled_equations import Scaled
from polhode.solve.colours import Colours
from polhode.solve.sparse import SparseSolver

_FADE = 1e-4  # of singular values, where nothing of the equations is solved


class SparseScaled(Scaled):
    """With unknowns and rows in √J, as `Scaled`."""

    def lengths(self) -> Any:
        e = self.equations
        return jnp.sqrt(rows.inner(e.system, e.A, rows.over_masses(e.system, e.per_mass, e.A)))

    def least(self, y: Any, left: Any, cut: float) -> tuple[Any, Any]:
        """The d of least |Jd - left|² + |εd|² (Levenberg and Marquardt's), and the same once more for what that leaves:
        what singular values below ε would mend fades. It is the d of

        ε r + J d = left
        Jᵀr - ε d = 0

        ε is `cut`, and more while much is left of the equations (Yamashita & Fukushima 2001). Near a position in which
        freedoms rise, branches lie closer to each other than a guess is to any: what tells them apart is decided last,
        from where the momentum has led."""
        (_, share), moved = jax.linearize(self._with_share, y)
        values, at, to, size = self._entries(y, share, moved)
        n, one = len(y), np.arange(size)
        far = jnp.linalg.norm(left)
        fade = jnp.maximum(cut, _FADE * far / (far + jnp.linalg.norm(y[: 6 * self.size]) + 1e-300))
        numbers = jnp.concatenate([values, values, fade * np.repeat([1.0, -1.0], size)])
        of_rows = np.concatenate([at, size + to, one, size + one])
        of_columns = np.concatenate([size + to, at, one, size + one])
        solver = SparseSolver(of_rows, of_columns, 2 * size, ordered=False)

        def nearly(b: Any) -> Any:
            return solver(numbers, jnp.pad(b, (0, 2 * size - n)))[size : size + n]

        def mended(_: Any, s: tuple[Any, Any]) -> tuple[Any, Any]:
            d = s[0] + nearly(left - s[1])
            return d, moved(d)[0]

        return jax.lax.fori_loop(0, 2, mended, (jnp.zeros_like(left), jnp.zeros_like(left)))

    def _with_share(self, y: Any) -> tuple[Any, Any]:
        """What is left of the equations, and the share of the momentum of each part."""
        left, (_, (share, _)) = self.residual(y)
        return left, share

    def _entries(self, y: Any, share: Any, moved: Callable[[Any], Any]) -> tuple[Any, np.ndarray, np.ndarray, int]:
        """J, with the share of each part as an unknown more, [J', U; -V, 1]: its numbers, their rows and columns, and
        its size. `moved`: the derivative of `_with_share` at y, along a direction."""
        e, n, moves = self.equations, len(y), 6 * self.size
        part, m = self._part_of_each(), len(e.parts.bodies)
        colours = Colours(pattern(e.system, both=e.both))
        by_body, within = np.flatnonzero(part[:moves] >= 0), np.flatnonzero(part >= 0)
        (of_share,) = jax.linear_transpose(lambda d: moved(d)[1], y)(jnp.ones(m))
        # One direction more: that of all shares, no two of which are read by one equation.
        found, by_share = colours.values(lambda y, c: self.residual(y, c)[0], y, share)
        border = n + np.arange(m)
        entries = [
            (found, colours.rows, colours.columns),
            (by_share[by_body], by_body, n + part[by_body]),
            (-of_share[within], n + part[within], within),
            (jnp.ones(m), border, border),
        ]
        at, to = (np.concatenate([entry[i] for entry in entries]) for i in (1, 2))
        return jnp.concatenate([entry[0] for entry in entries]), at, to, n + m

    def _part_of_each(self) -> np.ndarray:
        """The part of the system that each unknown belongs to, -1 where that is none."""
        e = self.equations
        of_body = np.append(e.parts.bodies, np.zeros((1, self.size)), axis=0).argmax(axis=0)
        of_body[~e.parts.bodies.any(axis=0)] = -1
        of_row = np.full(self.rows, -1)
        for g in e.system.groups:
            of_row[g.rows] = of_body[g.on.max(axis=1)][:, None]
        return np.concatenate([np.repeat(of_body, 6), of_row, of_row[e.hol] if e.both else of_row[:0]])
