"""Newton's method for the equations of a step: one matrix, used for several corrections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from polhode.solve.iteration import Report, runs_until_converged


@dataclass(frozen=True)
class Chord:
    """x <- x - J⁻¹ residual(x) with J kept, until the correction to come is below `tolerance` relative
    to the motion, or has stopped falling below `stalled`: round-off. J is that of the guess, so
    corrections fall by a constant factor of order h. `frozen` leaves q⁺ as it is in J, as the paper's
    block iteration does: a matrix for next to nothing, and a factor that the loads decide."""

    tolerance: float = 1e-15
    stalled: float = 1e-10
    rate: float = 1e-3  # no correction is trusted to be smaller than this part of the one before
    limit: int = 30
    frozen: bool = False
    count: int = 6  # of corrections where their number is fixed: on a GPU
    last: float = 1e-12  # the last of these at most
    mode: str = "auto"

    def solve(self, equations: Any) -> tuple[Any, Report, Any]:
        """The solution, how it was reached, and 1 where the whole Jacobian was needed, which is never."""
        correction = equations.correction(frozen=self.frozen)
        return *self(equations.residual, correction, equations.guess(), equations.measure()), 0.0

    def solve_renewing(self, equations: Any, matrices: int) -> tuple[Any, Report]:
        """A matrix for one correction, then a better one, and another wherever corrections fall slowly, at most so
        many: where the guess may be far off."""

        def unfinished(s: Any) -> Any:
            _, report, n = s
            return ~report.converged & (n < matrices)

        def advance(s: Any) -> Any:
            x, report, n = s
            limit: Any = jnp.where(n == 0, 1, self.limit)
            now = replace(self, limit=limit)
            x, new = now(equations.residual, equations.correction_at(x), x, equations.measure())
            return x, replace(new, iterations=report.iterations + new.iterations), n + 1

        none = replace(Report.explicit(), converged=jnp.asarray(False))
        x, report, _ = lax.while_loop(unfinished, advance, (equations.guess(), none, jnp.asarray(0)))
        return x, report

    def __call__(
        self,
        residual: Callable[[Any], Any],
        correction: Callable[[Any], Any],
        guess: Any,
        size: Callable[[Any, Any], Any],
    ) -> tuple[Any, Report]:
        """`correction(r)` is J⁻¹r; `size` measures a correction and the residual that it answers, relative to the
        motion."""

        def advance(s: Any) -> Any:
            x, now, _, n = s
            r = residual(x)
            d = correction(r)
            return jax.tree.map(jnp.subtract, x, d), size(d, r), now, n + 1.0

        def unfinished(s: Any) -> Any:
            _, now, before, n = s
            return ~self._settled(now, before) & ~jnp.isnan(now) & (n < self.limit)

        s = (guess, jnp.asarray(jnp.inf), jnp.asarray(jnp.inf), jnp.asarray(0.0))
        if runs_until_converged(self.mode):
            x, now, before, n = lax.while_loop(unfinished, advance, s)
            return x, Report(self._settled(now, before), n.astype(int), now)
        for _ in range(self.count):
            s = advance(s)
        x, now, _, n = s
        return x, Report(now <= self.last, n.astype(int), now)

    def _settled(self, now: Any, before: Any) -> Any:
        return settled(now, before, tolerance=self.tolerance, stalled=self.stalled, rate=self.rate)


def settled(now: Any, before: Any, *, tolerance: float, stalled: float, rate: float) -> Any:
    """Whether corrections are as good as done: the next one, if they go on falling as they do, is below `tolerance`; or
    they no longer fall, below `stalled`."""
    falls = jnp.where(jnp.isinf(before), 1.0, jnp.clip(now / before, rate, 1.0))
    return (now * falls <= tolerance) | ((now >= before) & (now <= stalled))
