"""The equations of a step with every unknown and every row scaled by the kinetic energy it stands for, so that what
counts as small, or as dependent, does not depend on units."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from polhode.algebra.arrays import inverse3, root3, turn, turn_back
from polhode.multibody.system import System

_SIDE_BY_SIDE = 256  # columns of the Jacobian


class Roots:
    """M^(1/2) of a system, as √m and Cholesky's root of J, of thin rods as if they were thick; but where rows follow
    from others the least correction is that of the motion itself."""

    def __init__(self, system: System, thick: Any) -> None:
        self.m = jnp.sqrt(jnp.asarray(system.masses))[:, None]
        self.J = root3(jnp.asarray(system.inertias) if system.redundant else thick)
        self.over_J = inverse3(self.J)

    def under(self, p: Any) -> Any:
        """M^(-1/2)p, (..., N, 6)."""
        return jnp.concatenate([p[..., :3] / self.m, turn(self.over_J, p[..., 3:])], axis=-1)

    def velocities(self, v: Any) -> Any:
        """w of M^(1/2)w."""
        return jnp.concatenate([v[:, :3] / self.m, turn_back(self.over_J, v[:, 3:])], axis=-1)

    def of_velocities(self, w: Any) -> Any:
        return jnp.concatenate([w[:, :3] * self.m, turn_back(self.J, w[:, 3:])], axis=-1)


class Scaled:
    """The equations with (w, Λ, Γ) as one array y, and what is left of them as another, both in √J."""

    def __init__(self, equations: Any) -> None:
        s = equations.system
        self.equations, self.size, self.rows = equations, s.size, s.rows
        self.roots = Roots(s, equations.thick)
        length = self.lengths()
        self.per_row = 1.0 / jnp.where(length > 0.0, length, 1.0)
        self.per_closing = self.per_row[equations.hol] if equations.both else jnp.zeros(0)

    def lengths(self) -> Any:
        """|aM^(-1/2)| of every row a of A."""
        W = self.roots.under(self.equations.A)
        return jnp.sqrt(jnp.sum(W * W, axis=(1, 2)))

    def unknowns(self, y: Any) -> Any:
        v, Lam, Gam = jnp.split(y, [6 * self.size, 6 * self.size + self.rows])
        w = self.roots.velocities(v.reshape(-1, 6))
        return w, Lam * self.per_row, Gam * self.per_closing, jnp.zeros_like(w), self.equations.nothing_idle()

    def guess(self) -> Any:
        w, Lam, Gam, _, _ = self.equations.guess()
        v = self.roots.of_velocities(w)
        return jnp.concatenate([v.ravel(), Lam / self.per_row, Gam / self.per_closing])

    def residual(self, y: Any, share: Any = None) -> tuple[Any, Any]:
        """What is left of the equations, and what follows from y: ϑ⁺, and what is taken off the momentum, which may be
        given instead, and left of the work of rows."""
        balance, psi, phi, off, idle = self.equations.residual(self.unknowns(y), share)
        closing = phi * self.per_closing if self.equations.both else jnp.zeros(0)
        left = jnp.concatenate([self.roots.under(balance).ravel(), psi * self.per_row, closing])
        return left, jax.tree.map(jnp.negative, (off, idle))

    def parts(self, left: Any) -> Any:
        """Of what is left of the equations, rows as they are: (None, ψ⁺, φ⁺/h)."""
        _, psi, phi = jnp.split(left, [6 * self.size, 6 * self.size + self.rows])
        return None, psi / self.per_row, phi / self.per_closing

    def least(self, y: Any, left: Any, cut: float) -> tuple[Any, Any]:
        """The correction of least norm of those that mend most of what is left, and what it mends. Singular values
        below `cut` of the largest count as zero."""
        J = self.jacobian(y)
        d = jnp.linalg.lstsq(J, left, rcond=cut)[0]
        return d, J @ d

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
