"""One constraint among its own bodies: its rows, their rates and wrenches, by automatic differentiation.

Virtual displacements are (translation in space axes, rotation in body axes), R -> R(1 + skew δ).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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

    def phi(self) -> Any:
        return _stack(self.kind.phi(self.view()))

    def slip(self) -> Any:
        """ψ of the nonholonomic rows."""
        return _stack(self.kind.psi(self.view()))

    def rate(self) -> Any:
        """φ' = Aϑ + ∂φ/∂t."""

        def along(e: Any) -> Any:
            moved = self.displaced([[e * x for x in (*f.v, *f.Omega)] for f in self.frames])
            return (replace(moved, t=self.t + e) if self.kind.rheonomic else moved).phi()

        return jax.jvp(along, (jnp.asarray(0.0),), (jnp.asarray(1.0),))[1]

    def psi(self) -> Any:
        """All rows on velocities: φ' where the constraint is holonomic, then ψ."""
        rows = [self.rate()] if self.kind.holonomic else []
        return jnp.concatenate([*rows, self.slip()]) if self.kind.nonholonomic else rows[0]

    def rows(self) -> Any:
        """A, (rows, bodies, 6)."""
        rows = []
        if self.kind.holonomic:
            rows.append(jax.jacfwd(lambda d: self.displaced(d).phi())(self.still))
        if self.kind.nonholonomic:
            rows.append(jax.jacfwd(lambda u: self.with_motion(u).slip())(self.still))
        return jnp.concatenate(rows)

    def wrench(self, Lam: Any) -> Any:
        """AᵀΛ, (bodies, 6), body axes."""
        first = self.kind.holonomic
        total = self.still
        if self.kind.holonomic:
            total = total + jax.grad(lambda d: jnp.sum(Lam[:first] * self.displaced(d).phi()))(self.still)
        if self.kind.nonholonomic:
            total = total + jax.grad(lambda u: jnp.sum(Lam[first:] * self.with_motion(u).slip()))(self.still)
        return total


def _displaced(frame: Frame, d: Any) -> Frame:
    a, b, c = frame.R.column(0), frame.R.column(1), frame.R.column(2)
    turned = (a + b * d[5] - c * d[4], b + c * d[3] - a * d[5], c + a * d[4] - b * d[3])
    return replace(frame, r=frame.r + vec(d), R=Mat3.from_columns(*turned))


def _stack(rows: Any) -> Any:
    """Rows of a constraint: a list of components, or what a user's function returned."""
    return jnp.stack([jnp.asarray(x, dtype=float) for x in rows]) if isinstance(rows, list) else rows


def over(group: Group, fn: Callable[..., Any], q: Pose, u: Motion, t: Any, *more: Any) -> Any:
    """fn(local, ...) of every constraint of a group, from the poses and motions of all bodies."""
    where = np.array(group.bodies)

    def one(kind: Any, q: Pose, u: Any, *more: Any) -> Any:
        frames = [frame_of(q[0][i], q[1][i], u[i]) for i in range(where.shape[1])]
        return fn(Local(kind, frames, t), *more)

    return jax.vmap(one)(group.kind, (q[0][where], q[1][where]), u[where], *more)
