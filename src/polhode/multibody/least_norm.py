"""Newton's method for the equations of a step with the whole Jacobian at every iterate, and corrections of least norm.

For steps that one matrix does not solve: near positions in which rows come to follow from others, where
only the matrix of the iterate itself is right, and the multipliers are not determined by their rows alone; and
where masses differ by orders. Every unknown and every row is scaled by the kinetic energy it stands for, so that what
counts as dependent does not depend on units.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from polhode.multibody.arrays import inverse3, turn, turn_back
from polhode.multibody.chord import settled
from polhode.multibody.equations import Equations
from polhode.multibody.moment import in_space
from polhode.solve import Report

_SIDE_BY_SIDE = 64  # columns of the Jacobian


@dataclass(frozen=True)
class LeastNorm:
    """Until the correction to come is below `tolerance` relative to the motion, or has stopped falling below `stalled`.
    Singular values below `cut` of the largest count as zero. A correction that does not lessen what is left of
    the equations is shortened by halves, at most `shortest` times."""

    tolerance: float = 1e-15
    stalled: float = 1e-9
    limit: int = 40
    cut: float = 1e-9
    shortest: int = 8

    def solve(self, equations: Equations) -> tuple[Any, Report, Any]:
        """The solution, how it was reached, and 1."""
        scaled, size = Scaled(equations), equations.measure()

        def advance(s: Any) -> Any:
            y, now, _, n = s
            left = scaled.residual(y)
            J = scaled.jacobian(y)
            d = jnp.linalg.lstsq(J, left, rcond=self.cut)[0]
            e = size(scaled.unknowns(d), scaled.parts(left))
            worth = jnp.linalg.norm(left)

            def too_long(a: Any) -> Any:
                there = jnp.linalg.norm(scaled.residual(y - a * d))
                return ~(there <= (1.0 - 0.25 * a) * worth) & (a > 0.5**self.shortest) & (e > self.stalled)

            a = lax.while_loop(too_long, lambda a: 0.5 * a, jnp.asarray(1.0))
            return y - a * d, e, now, n + 1.0

        def unfinished(s: Any) -> Any:
            _, now, before, n = s
            return ~self._settled(now, before) & ~jnp.isnan(now) & (n < self.limit)

        first = (scaled.guess(), jnp.asarray(jnp.inf), jnp.asarray(jnp.inf), jnp.asarray(0.0))
        y, now, before, n = lax.while_loop(unfinished, advance, first)
        return scaled.finished(y), Report(self._settled(now, before), n.astype(int), now), 1.0

    def _settled(self, now: Any, before: Any) -> Any:
        return settled(now, before, tolerance=self.tolerance, stalled=self.stalled, rate=1e-6)


class Scaled:
    """The equations with (w, Λ, Γ) as one array y, and what is left of them as another, both in √J."""

    def __init__(self, equations: Equations) -> None:
        s = equations.system
        self.equations, self.size, self.rows = equations, s.size, s.rows
        self.root_m = jnp.sqrt(jnp.asarray(s.masses))[:, None]
        root = jnp.linalg.cholesky(jnp.asarray(s.inertias))
        self.root, self.over_root = root, inverse3(root)
        self.back = jnp.swapaxes(equations.q[1], -1, -2)
        A = self._over(jnp.asarray(equations.A))
        length = jnp.sqrt(jnp.sum(A * A, axis=(1, 2)))
        self.per_row = 1.0 / jnp.where(length > 0.0, length, 1.0)
        self.per_closing = self.per_row[equations.hol] if equations.both else jnp.zeros(0)

    def _over(self, p: Any) -> Any:
        """M^(-1/2)p, (..., N, 6)."""
        return jnp.concatenate([p[..., :3] / self.root_m, turn(self.over_root, p[..., 3:])], axis=-1)

    def unknowns(self, y: Any) -> Any:
        v, Lam, Gam = jnp.split(y, [6 * self.size, 6 * self.size + self.rows])
        v = v.reshape(-1, 6)
        w = jnp.concatenate([v[:, :3] / self.root_m, turn_back(self.over_root, v[:, 3:])], axis=-1)
        return w, Lam * self.per_row, Gam * self.per_closing, jnp.zeros_like(w)

    def guess(self) -> Any:
        w, Lam, Gam, _ = self.equations.guess()
        v = jnp.concatenate([w[:, :3] * self.root_m, turn_back(self.root, w[:, 3:])], axis=-1)
        return jnp.concatenate([v.ravel(), Lam / self.per_row, Gam / self.per_closing])

    def residual(self, y: Any) -> Any:
        balance, psi, phi, _ = self.equations.residual(self.unknowns(y))
        closing = phi * self.per_closing if self.equations.both else jnp.zeros(0)
        return jnp.concatenate([self._over(in_space(self.back, balance)).ravel(), psi * self.per_row, closing])

    def parts(self, left: Any) -> Any:
        """Of what is left of the equations, rows as they are: (None, ψ⁺, φ⁺/h)."""
        _, psi, phi = jnp.split(left, [6 * self.size, 6 * self.size + self.rows])
        return None, psi / self.per_row, phi / self.per_closing

    def jacobian(self, y: Any) -> Any:
        def along(e: Any) -> Any:
            return jax.jvp(self.residual, (y,), (e,))[1]

        return lax.map(along, jnp.eye(len(y)), batch_size=_SIDE_BY_SIDE).T

    def finished(self, y: Any) -> Any:
        """x = (w, Λ, Γ, ϑ⁺)."""
        w, Lam, Gam, none = self.unknowns(y)
        return w, Lam, Gam, -self.equations.residual((w, Lam, Gam, none))[3]
