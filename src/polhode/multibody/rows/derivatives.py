"""One constraint among its own bodies: its rows, their rates and wrenches, by automatic differentiation.

Virtual displacements are (translation in space axes, rotation in body axes), R -> R(1 + skew δ).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.algebra import Mat3, Vec3
from polhode.multibody.describe.views import Frame, View

Displacement = Any  # (Vec3 or None, Vec3 or None) of each body: moved and turned, or v and Ω; None is no motion


_O = Vec3(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Placed:
    """A constraint, the frames of its bodies, and the time."""

    kind: Any
    frames: Sequence[Frame]
    t: Any
    number: int = 0  # of the trace, where its kind may be another tomorrow under the same name

    def view(self) -> View:
        return View(self.kind.bodies, self.frames.__getitem__, self.t)

    def displaced(self, way: Displacement) -> Placed:
        """After a virtual displacement, to first order."""
        return replace(self, frames=[_displaced(f, *of) for f, of in zip(self.frames, way, strict=True)])

    def with_motion(self, way: Displacement) -> Placed:
        frames = [replace(f, v=v or _O, Omega=w or _O) for f, (v, w) in zip(self.frames, way, strict=True)]
        return replace(self, frames=frames)

    def phi_rows(self) -> list[Any]:
        """φ, row by row."""
        return _asked("phi", self.number, self.kind, self.frames, self.t) if self.kind.holonomic else []

    def slip_rows(self) -> list[Any]:
        """ψ of the nonholonomic rows."""
        return _asked("psi", self.number, self.kind, self.frames, self.t) if self.kind.nonholonomic else []

    def rate_rows(self) -> list[Any]:
        """φ' = Aϑ + ∂φ/∂t."""

        def along(e: Any) -> Any:
            moved = self.displaced([(f.v * e, f.Omega * e) for f in self.frames])
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
        first = self._derivative(lambda d: self.displaced(d).phi_rows(), apart=True)
        then = self._derivative(lambda u: self.with_motion(u).slip_rows(), apart=True)
        return jnp.stack(first + then).reshape(-1, *self.shape)

    def psi_slope(self) -> Any:
        """∂ψ/∂q, (rows, bodies, 6)."""
        return jnp.stack(self._derivative(lambda d: self.displaced(d).psi_rows())).reshape(-1, *self.shape)

    def rate_slope(self, Gam: Any) -> Any:
        """∂(Γ·φ')/∂q, (bodies, 6), body axes."""
        if not self.kind.holonomic:
            return jnp.zeros(self.shape)
        return self._derivative(lambda d: [_sum(Gam, self.displaced(d).rate_rows())])[0].reshape(self.shape)

    def wrench_slope(self, Lam: Any) -> Any:
        """∂(AᵀΛ)/∂q, (bodies, 6, bodies, 6), of its components on the axes that the bodies have now."""
        first = self.kind.holonomic

        def work(way: Any, d: Any) -> Any:
            """Λ·ψ of the motion `way` on these axes, at the displaced place: φ' is the change of φ along it."""
            there = self.displaced(way).displaced(d).phi_rows()
            return _sum(Lam[:first], there) + _sum(Lam[first:], self._moving(way, d).slip_rows())

        def wrench(d: Any) -> list[Any]:
            return jax.tree.leaves(jax.grad(work)([(_zero(), _zero()) for _ in self.frames], d))

        return jnp.stack(self._derivative(wrench)).reshape(*self.shape, *self.shape)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.frames), 6

    def _moving(self, u: Displacement, d: Displacement) -> Placed:
        """After the displacement d, with a motion given on the axes before it."""
        back = [(v, w if turn is None else w - turn.cross(w)) for (v, w), (_, turn) in zip(u, d, strict=True)]
        return self.displaced(d).with_motion(back)

    def _derivative(self, fn: Callable[[Displacement], list[Any]], *, apart: bool = False) -> list[Any]:
        """Of each number that fn lists, (6 bodies,), by the displacement or motion that it is given: forward, along
        all directions side by side, which is a short program; or `apart`, three by three, which leaves out what
        does not depend on them, and pays where fn is short."""
        slots = [(i, part) for i in range(len(self.frames)) for part in (0, 1)]
        sides = [
            jax.vmap(partial(self._along, fn, s))(np.eye(3 * len(s)))
            for s in ([[s] for s in slots] if apart else [slots])
        ]
        return [jnp.concatenate(row) for row in zip(*sides, strict=True)] if apart else sides[0]

    def _along(self, fn: Callable[[Displacement], list[Any]], slots: list[tuple[int, int]], e: Any) -> list[Any]:
        """The derivative of fn along e, three numbers for each of these motions of bodies."""

        def of(moves: list[Vec3]) -> list[Any]:
            way: list[list[Any]] = [[None, None] for _ in self.frames]
            for (i, part), move in zip(slots, moves, strict=True):
                way[i][part] = move
            return fn(way)

        ways = [Vec3(e[3 * k], e[3 * k + 1], e[3 * k + 2]) for k in range(len(slots))]
        return jax.jvp(of, ([_zero()] * len(slots),), (ways,))[1]


def _zero() -> Vec3:
    return Vec3(jnp.asarray(0.0), jnp.asarray(0.0), jnp.asarray(0.0))


@partial(jax.jit, static_argnums=(0, 1), inline=True)  # traced once, however often it is differentiated
def _asked(rows: str, number: int, kind: Any, frames: Sequence[Frame], t: Any) -> list[Any]:
    """The rows of a constraint: a list of components, or what a user's function returned."""
    values = getattr(kind, rows)(View(kind.bodies, frames.__getitem__, t))
    count = kind.holonomic if rows == "phi" else kind.nonholonomic
    return [jnp.asarray(values[i], dtype=float) for i in range(count)]


def _displaced(frame: Frame, move: Vec3 | None, turn: Vec3 | None) -> Frame:
    if move is not None:
        frame = replace(frame, r=frame.r + move)
    if turn is not None:
        a, b, c = frame.R.column(0), frame.R.column(1), frame.R.column(2)
        x, y, z = turn
        frame = replace(frame, R=Mat3.from_columns(a + b * z - c * y, b + c * x - a * z, c + a * y - b * x))
    return frame


def _sum(Lam: Any, rows: list[Any]) -> Any:
    """Λ·rows."""
    return sum((Lam[i] * row for i, row in enumerate(rows)), jnp.asarray(0.0))
