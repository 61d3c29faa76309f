"""Newton's method for the equations of a step with the whole Jacobian at every iterate, and corrections of least norm.

For steps that one matrix does not solve: near positions in which rows come to follow from others, where
only the matrix of the iterate itself is right, and the multipliers are not determined by their rows alone; and
where masses differ by orders. It works on equations whose unknowns and rows are scaled (`equations.scaled()`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from polhode.solve.chord import settled
from polhode.solve.iteration import Report


@dataclass(frozen=True)
class LeastNorm:
    """Until the correction to come is below `tolerance` relative to the motion, or has stopped falling below `stalled`.
    Singular values below `cut` of the largest, or the square of the system's tolerance, count as zero, and rows may
    disagree by that tolerance. A correction that does not lessen what is left of
    the equations is shortened by halves, at most `shortest` times."""

    tolerance: float = 1e-15
    stalled: float = 1e-9
    limit: int = 40
    cut: float = 1e-9
    shortest: int = 8
    clear: float = 1e-4  # with corrections below this, rows that still disagree contradict each other

    def solve(self, equations: Any, unless: Any = False) -> tuple[Any, Report, Any]:
        """The solution, how it was reached, and 1; nothing is done where it is known already, `unless`."""
        scaled, size, apart = equations.scaled(), equations.measure(), equations.disagreement()
        tolerance = equations.system.tolerance

        def advance(s: _At) -> _At:
            y = s.y - s.part * s.d
            left, _ = scaled.residual(y)
            # What no correction mends stays; of the rest a quarter of what this one promised must be gone.
            hoped = s.stays + ((1.0 - 0.25 * s.part) * s.goes) ** 2
            shorten = ~(jnp.sum(left * left) <= hoped) & (s.part > 0.5**self.shortest) & (s.now > self.stalled)
            return lax.cond(shorten, lambda: replace(s, part=0.5 * s.part), lambda: corrected(s, y, left))

        def corrected(s: _At, y: Any, left: Any) -> _At:
            d, mended = scaled.least(y, left, max(self.cut, tolerance**2))
            now = size(scaled.unknowns(d), scaled.parts(mended))
            by = apart(scaled.parts(left - mended))
            hopeless = (by > tolerance) & (by >= 0.5 * s.apart) & (now < self.clear)
            stays, goes = jnp.sum((left - mended) ** 2), jnp.linalg.norm(mended)
            return _At(y, d, jnp.asarray(1.0), stays, goes, now, s.now, s.count + 1, by, hopeless)

        def unfinished(s: _At) -> Any:
            over = self._settled(s.now, s.before) | s.hopeless | jnp.isnan(s.now)
            return ~over & (s.count < self.limit) & ~jnp.asarray(unless)

        y = scaled.guess()
        far = jnp.asarray(jnp.inf)
        one, none = jnp.asarray(1.0), jnp.zeros_like(y)
        first = _At(y, none, one, far, far, far, far, jnp.asarray(0), far, jnp.asarray(False))
        s = lax.while_loop(unfinished, advance, first)
        solved = self._settled(s.now, s.before) & (s.apart <= tolerance)
        y = s.y - s.d  # the correction after this one is below the tolerance, this one need not be
        w, Lam, Gam = scaled.unknowns(y)[:3]
        return (w, Lam, Gam, *scaled.residual(y)[1]), Report(solved, s.count, jnp.maximum(s.now, s.apart)), 1.0

    def _settled(self, now: Any, before: Any) -> Any:
        return settled(now, before, tolerance=self.tolerance, stalled=self.stalled, rate=1e-6)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class _At:
    """An iterate, the correction to it and the part of that which is tried."""

    y: Any
    d: Any
    part: Any
    stays: Any  # of what is left of the equations, squared, what no correction mends
    goes: Any  # and the norm of what this one would
    now: Any  # size of the correction
    before: Any
    count: Any
    apart: Any  # what rows disagree by, that no correction mends
    hopeless: Any  # they do, and go on doing so
