"""One constraint among its own bodies: its rows, their rates and wrenches, by automatic differentiation.

Virtual displacements are (translation in space axes, rotation in body axes), R -> R(1 + skew δ).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.algebra import Mat3
from polhode.multibody.view import Frame, View, frame_of, vec

if TYPE_CHECKING:
    from polhode.multibody.system import Group

Pose = tuple[Any, Any]  # positions (m, 3), rotations (m, 3, 3)
Motion = Any  # (m, 6): v in space axes, Ω in body axes


@dataclass(frozen=True)
class Local:
    """A constraint, the frames of its bodies, and the time."""

    kind: Any
    frames: Sequence[Frame]
    t: Any

    @property
    def still(self) -> Any:
        """No displacement, or no motion, (bodies, 6)."""
        return jnp.zeros((len(self.frames), 6))

    def view(self) -> View:
        return View(self.kind.bodies, self.frames.__getitem__, self.t)

    def displaced(self, d: Any) -> Local:
        """After the virtual displacement d, (bodies, 6), to first order."""
        return replace(self, frames=[_displaced(f, d[i]) for i, f in enumerate(self.frames)])

    def with_motion(self, u: Any) -> Local:
        return replace(self, frames=[replace(f, v=vec(u[i]), Omega=vec(u[i][3:])) for i, f in enumerate(self.frames)])

    def phi_rows(self) -> list[Any]:
        """φ, row by row."""
        return _listed(self.kind.phi(self.view()), self.kind.holonomic) if self.kind.holonomic else []

    def slip_rows(self) -> list[Any]:
        """ψ of the nonholonomic rows."""
        return _listed(self.kind.psi(self.view()), self.kind.nonholonomic) if self.kind.nonholonomic else []

    def rate_rows(self) -> list[Any]:
        """φ' = Aϑ + ∂φ/∂t."""

        def along(e: Any) -> Any:
            moved = self.displaced([[e * x for x in (*f.v, *f.Omega)] for f in self.frames])
            return (replace(moved, t=self.t + e) if self.kind.rheonomic else moved).phi_rows()

        return jax.jvp(along, (jnp.asarray(0.0),), (jnp.asarray(1.0),))[1] if self.kind.holonomic else []

    def psi_rows(self) -> list[Any]:
        """All rows on velocities: φ' where the constraint is holonomic, then ψ."""
        return self.rate_rows() + self.slip_rows()

    def phi(self) -> Any:
        return jnp.stack(self.phi_rows())

    def psi(self) -> Any:
        return jnp.stack(self.psi_rows())

    def singular(self) -> Any:
        return self.kind.singular(self.view())

    def rows(self) -> Any:
        """A, (rows, bodies, 6)."""
        first = self._derivative(lambda d: self.displaced(d).phi_rows(), self.kind.holonomic)
        then = self._derivative(lambda u: self.with_motion(u).slip_rows(), self.kind.nonholonomic)
        return jnp.stack(first + then)

    def wrench(self, Lam: Any) -> Any:
        """AᵀΛ, (bodies, 6), body axes."""
        return jnp.stack(self._wrench(Lam)).reshape(-1, 6)

    def wrench_slope(self, Lam: Any) -> Any:
        """The derivative of the components of AᵀΛ by a displacement, (bodies, 6, bodies, 6)."""
        n = len(self.frames)
        slope = self._derivative(lambda d: self.displaced(d)._wrench(Lam), 6 * n)
        return jnp.stack(slope).reshape(n, 6, n, 6)

    def psi_slope(self) -> Any:
        """∂ψ/∂q, (rows, bodies, 6)."""
        count = self.kind.holonomic + self.kind.nonholonomic
        return jnp.stack(self._derivative(lambda d: self.displaced(d).psi_rows(), count))

    def rate_slope(self, Gam: Any) -> Any:
        """∂(Γ·φ')/∂q, (bodies, 6), body axes, of rows between bodies."""
        if not self.kind.holonomic or len(self.frames) == 1:
            return self.still
        return _array(self._gradient(lambda d: _sum(Gam, self.displaced(d).rate_rows())))

    def _wrench(self, Lam: Any) -> list[Any]:
        first = self.kind.holonomic
        parts = []
        if self.kind.holonomic:
            parts.append(self._gradient(lambda d: _sum(Lam[:first], self.displaced(d).phi_rows())))
        if self.kind.nonholonomic:
            parts.append(self._gradient(lambda u: _sum(Lam[first:], self.with_motion(u).slip_rows())))
        return jax.tree.leaves(jax.tree.map(lambda *x: sum(x), *parts))

    def _derivative(self, fn: Callable[[Any], list[Any]], count: int) -> list[Any]:
        """Of each of the `count` numbers that fn lists, (bodies, 6), by the displacement or motion that it is given."""
        once = jax.jit(fn, inline=True)  # traced once for all of them

        def by(i: int) -> Any:
            return _array(self._gradient(lambda d: once(d)[i]))

        return [by(i) for i in range(count)]

    def _gradient(self, fn: Callable[[Any], Any]) -> Any:
        """In components: the derivative by an array would be a sum of its padded entries, each read at every place."""
        return jax.grad(fn)([[0.0] * 6 for _ in self.frames])


def _array(parts: Any) -> Any:
    """Components of bodies as (bodies, 6)."""
    return jnp.stack([jnp.stack(of_body) for of_body in parts])


def _displaced(frame: Frame, d: Any) -> Frame:
    a, b, c = frame.R.column(0), frame.R.column(1), frame.R.column(2)
    turned = (a + b * d[5] - c * d[4], b + c * d[3] - a * d[5], c + a * d[4] - b * d[3])
    return replace(frame, r=frame.r + vec(d), R=Mat3.from_columns(*turned))


def _listed(rows: Any, count: int) -> list[Any]:
    """Rows of a constraint: a list of components, or what a user's function returned."""
    return [jnp.asarray(rows[i], dtype=float) for i in range(count)]


def _sum(Lam: Any, rows: list[Any]) -> Any:
    """Λ·rows."""
    return sum(Lam[i] * row for i, row in enumerate(rows))


def over(group: Group, fn: Callable[..., Any], q: Pose, u: Motion, t: Any, *more: Any) -> Any:
    """fn(local, ...) of every constraint of a group, from the poses and motions of all bodies."""
    return _over(fn, group.bodies, group.kind, q, u, t, more)


@partial(jax.jit, static_argnums=(0, 1), inline=True)  # so that each fn is traced once, however often it is asked for
def _over(fn: Callable[..., Any], bodies: Any, kinds: Any, q: Pose, u: Motion, t: Any, more: Any) -> Any:
    where = np.array(bodies)

    def one(kind: Any, q: Pose, u: Any, *more: Any) -> Any:
        frames = [frame_of(q[0][i], q[1][i], u[i]) for i in range(where.shape[1])]
        return fn(Local(kind, frames, t), *more)

    return jax.vmap(one)(kinds, (q[0][where], q[1][where]), u[where], *more)
