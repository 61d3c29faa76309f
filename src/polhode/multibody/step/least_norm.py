"""Newton's method for the equations of a step with the whole Jacobian at every iterate, and corrections of least norm.

For steps that one matrix does not solve: near positions in which rows come to follow from others, where
only the matrix of the iterate itself is right, and the multipliers are not determined by their rows alone; and
where masses differ by orders. Every unknown and every row is scaled by the kinetic energy it stands for, so that what
counts as dependent does not depend on units.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from polhode.algebra.arrays import inverse3, root3, turn, turn_back
from polhode.model.pytree import tree
from polhode.multibody.rows.momenta import in_space
from polhode.multibody.step.equations import Equations
from polhode.multibody.system import System
from polhode.solve import Report
from polhode.solve.chord import settled

_SIDE_BY_SIDE = 256  # columns of the Jacobian


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

    def solve(self, equations: Equations, unless: Any = False) -> tuple[Any, Report, Any]:
        """The solution, how it was reached, and 1; nothing is done where it is known already, `unless`."""
        scaled, size, apart = Scaled(equations), equations.measure(), equations.disagreement()
        tolerance = equations.system.tolerance

        def advance(s: _At) -> _At:
            y = s.y - s.part * s.d
            left, u = scaled.residual(y)
            # What no correction mends stays; of the rest a quarter of what this one promised must be gone.
            hoped = s.stays + ((1.0 - 0.25 * s.part) * s.goes) ** 2
            shorten = ~(jnp.sum(left * left) <= hoped) & (s.part > 0.5**self.shortest) & (s.now > self.stalled)
            return lax.cond(shorten, lambda: replace(s, part=0.5 * s.part), lambda: corrected(s, y, left, u))

        def corrected(s: _At, y: Any, left: Any, u: Any) -> _At:
            J = scaled.jacobian(y)
            d = jnp.linalg.lstsq(J, left, rcond=max(self.cut, tolerance**2))[0]
            mended = J @ d
            now = size(scaled.unknowns(d), scaled.parts(mended))
            by = apart(scaled.parts(left - mended))
            hopeless = (by > tolerance) & (by >= 0.5 * s.apart) & (now < self.clear)
            stays, goes = jnp.sum((left - mended) ** 2), jnp.linalg.norm(mended)
            return _At(y, d, jnp.asarray(1.0), u, stays, goes, now, s.now, s.count + 1, by, hopeless)

        def unfinished(s: _At) -> Any:
            over = self._settled(s.now, s.before) | s.hopeless | jnp.isnan(s.now)
            return ~over & (s.count < self.limit) & ~jnp.asarray(unless)

        y = scaled.guess()
        far = jnp.asarray(jnp.inf)
        one, none = jnp.asarray(1.0), jnp.zeros_like(y)
        first = _At(
            y, none, one, jnp.zeros_like(equations.u), far, far, far, far, jnp.asarray(0), far, jnp.asarray(False)
        )
        s = lax.while_loop(unfinished, advance, first)
        # The last correction is round-off, or next to it, and ϑ⁺ is from before it.
        w, Lam, Gam, _ = scaled.unknowns(s.y)
        solved = self._settled(s.now, s.before) & (s.apart <= tolerance)
        return (w, Lam, Gam, s.u), Report(solved, s.count, jnp.maximum(s.now, s.apart)), 1.0

    def _settled(self, now: Any, before: Any) -> Any:
        return settled(now, before, tolerance=self.tolerance, stalled=self.stalled, rate=1e-6)


@tree
class _At:
    """An iterate, the correction to it and the part of that which is tried."""

    y: Any
    d: Any
    part: Any
    u: Any  # ϑ⁺
    stays: Any  # of what is left of the equations, squared, what no correction mends
    goes: Any  # and the norm of what this one would
    now: Any  # size of the correction
    before: Any
    count: Any
    apart: Any  # what rows disagree by, that no correction mends
    hopeless: Any  # they do, and go on doing so


class Roots:
    """M^(1/2) of a system, as √m and Cholesky's root of J."""

    def __init__(self, system: System) -> None:
        self.m = jnp.sqrt(jnp.asarray(system.masses))[:, None]
        self.J = root3(jnp.asarray(system.inertias))
        self.over_J = inverse3(self.J)

    def under(self, p: Any) -> Any:
        """M^(-1/2)p, (..., N, 6)."""
        return jnp.concatenate([p[..., :3] / self.m, turn(self.over_J, p[..., 3:])], axis=-1)

    def velocities(self, v: Any) -> Any:
        """w of M^(1/2)w."""
        return jnp.concatenate([v[:, :3] / self.m, turn_back(self.over_J, v[:, 3:])], axis=-1)

    def of_velocities(self, w: Any) -> Any:
        return jnp.concatenate([w[:, :3] * self.m, turn_back(self.J, w[:, 3:])], axis=-1)

    def per_row(self, A: Any) -> Any:
        """1/|aM^(-1/2)| of every row a of A, (k, N, 6)."""
        W = self.under(A)
        length = jnp.sqrt(jnp.sum(W * W, axis=(1, 2)))
        return 1.0 / jnp.where(length > 0.0, length, 1.0)


class Scaled:
    """The equations with (w, Λ, Γ) as one array y, and what is left of them as another, both in √J."""

    def __init__(self, equations: Equations) -> None:
        s = equations.system
        self.equations, self.size, self.rows = equations, s.size, s.rows
        self.roots = Roots(s)
        self.back = jnp.swapaxes(equations.q[1], -1, -2)
        self.per_row = self.roots.per_row(equations.A)
        self.per_closing = self.per_row[equations.hol] if equations.both else jnp.zeros(0)

    def unknowns(self, y: Any) -> Any:
        v, Lam, Gam = jnp.split(y, [6 * self.size, 6 * self.size + self.rows])
        w = self.roots.velocities(v.reshape(-1, 6))
        return w, Lam * self.per_row, Gam * self.per_closing, jnp.zeros_like(w)

    def guess(self) -> Any:
        w, Lam, Gam, _ = self.equations.guess()
        v = self.roots.of_velocities(w)
        return jnp.concatenate([v.ravel(), Lam / self.per_row, Gam / self.per_closing])

    def residual(self, y: Any) -> tuple[Any, Any]:
        """What is left of the equations, and ϑ⁺."""
        balance, psi, phi, off = self.equations.residual(self.unknowns(y))
        closing = phi * self.per_closing if self.equations.both else jnp.zeros(0)
        left = jnp.concatenate([self.roots.under(in_space(self.back, balance)).ravel(), psi * self.per_row, closing])
        return left, -off

    def parts(self, left: Any) -> Any:
        """Of what is left of the equations, rows as they are: (None, ψ⁺, φ⁺/h)."""
        _, psi, phi = jnp.split(left, [6 * self.size, 6 * self.size + self.rows])
        return None, psi / self.per_row, phi / self.per_closing

    def jacobian(self, y: Any) -> Any:
        def along(e: Any) -> Any:
            return jax.jvp(lambda y: self.residual(y)[0], (y,), (e,))[1]

        # As many side by side as memory allows, the last ones filled up with nothing.
        n = len(y)
        times = -(-n // _SIDE_BY_SIDE)
        each = -(-n // times)
        ways = jnp.eye(times * each, n).reshape(times, each, n)
        columns = jax.vmap(along)(ways[0])[None] if times == 1 else lax.map(jax.vmap(along), ways)
        return columns.reshape(-1, n)[:n].T
