"""The equations of a three-field step with rows kept as blocks, and its Newton matrix sparse.

The residual is that of `equations`, term by term. The correction solves, in one sparse system with
the unknowns (δϑ⁺, δw, δΛ, δΓ), what `equations` solves by dense blocks:

    K_u δϑ⁺ + K_q δw - ĀᵀδΛ = momentum         K_u = M - ½h ∂f/∂ϑ
    M(δw - ½δϑ⁺) - AᵀδΓ = 0                     K_q = h ∂(𝒜⁺Mϑ⁺ - ½AᵀΛ - ½h f)/∂q
    A⁺δϑ⁺ + D_q δw = ψ⁺                         D_q = h ∂ψ/∂q
    A⁺δw = φ⁺/h
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

from polhode.algebra.arrays import product, skew, turn_back
from polhode.multibody.describe.state import State
from polhode.multibody.rows import assembly
from polhode.multibody.rows import row_blocks as rows
from polhode.multibody.rows.group import NOWHERE
from polhode.multibody.rows.momenta import carried, momentum, posed
from polhode.multibody.rows.row_blocks import Blocks
from polhode.multibody.step.blocks import carry_of, halfway, masses
from polhode.multibody.step.equations import Equations, inverses
from polhode.multibody.step.force_slopes import force_slopes
from polhode.multibody.step.slender import half_way
from polhode.multibody.step.sparse_scaled import SparseScaled
from polhode.multibody.system import System
from polhode.solve.sparse import SparseSolver


class SparseEquations(Equations):
    """Of one step, in time linear in the number of bodies and rows."""

    A: Blocks
    A_space: Blocks

    # Its solver asks for corrections below 1e-15 of their scale at once, which so is half of ε|r|/h.
    round_off: ClassVar[float] = 0.1

    def __init__(self, system: System, state: State, t: Any, h: Any, **options: Any) -> None:
        super().__init__(system, state, t, h, **options)
        # Number of each row among the holonomic ones; those that are not stand for a zero at the end.
        closes = np.array(system.holonomic, dtype=bool)
        self.number = np.where(closes, np.cumsum(closes) - 1, len(self.hol))

    def rows(self, q: Any, t: Any) -> Blocks:
        return rows.blocks_of(self.system, q, t)

    def turned(self, R: Any, A: Blocks) -> Blocks:
        return rows.turned(self.system, R, A)

    def pull(self, A: Blocks, Lam: Any) -> Any:
        return rows.pull(self.system, A, Lam)

    def apart(self, A: Blocks) -> tuple[Blocks, Blocks]:
        return [b[0] for b in A], [b[1] for b in A]

    def along(self, A: Blocks, u: Any) -> Any:
        return rows.along(self.system, A, u)

    def row_mass(self, q: Any, t: Any, u: Any) -> tuple[Any, Any]:
        s = self.system
        A = self.rows(q, t)
        MA = rows.over_masses(s, self.per_mass, A)
        m = 1.0 / rows.inner(s, A, MA)
        return m, m * rows.along(s, MA, assembly.forces(s, q, u, t))

    def row_inertia(self, A: Blocks) -> Any:
        s = self.system
        return inverses(rows.inner(s, A, rows.over_masses(s, self.per_thick, A)))

    def scaled(self) -> SparseScaled:
        return SparseScaled(self)

    def correction(self, *, frozen: bool = False) -> Callable[[Any], Any]:
        return self.correction_at(self.guess())

    def correction_at(self, x: Any) -> Callable[[Any], Any]:
        """J⁻¹ at x, as a function of the residual."""
        h, t = self.h, self.t
        w, Lam, Gam = x[:3]
        mid, end = posed(carried(self.state, 0.5 * h * w)), posed(carried(self.state, h * w))
        A_end = self.rows(end, t + h)
        loose = self.loose(A_end)
        u_end = self.end_velocity(w, self.closing_pull(self.rows(mid, t + 0.5 * h), A_end, Gam, w, loose))
        back = jnp.swapaxes(mid[1], -1, -2)
        Q, from_start = product(back, end[1]), self.turned(jnp.swapaxes(end[1], -1, -2), self.A_space)
        A, A_force = jax.tree.map(halfway, (self.A, from_start), (A_end, A_end))
        return self._saddle(end, u_end, Lam, carry_of(h * w), (loose, Q), A, A_force, A_end)

    def _row_slope_blocks(self, end: Any, u: Any, Lam: Any) -> list[Any]:
        """∂(A_sᵀΛ)/∂q and ∂ψ/∂q at the end among the bodies of each constraint: (c, b, 6, b, 6) and
        (c, r, b, 6) for every group, in body axes."""

        at = end, u, self.t + self.h
        return [(g.wrench_slope(*at, Lam[g.rows]), g.psi_slope(*at)) for g in self.system.groups]

    def _saddle(
        self, end: Any, u_end: Any, Lam: Any, carry: Any, axes: Any, A: Blocks, A_force: Blocks, A_end: Blocks
    ) -> Callable[[Any], Any]:
        """J⁻¹ as a function of the residual, from its blocks."""
        s, h = self.system, self.h
        at, J = Numbering(s, both=self.both), _Entries()
        M, gyro = masses(s), jnp.pad(-skew(momentum(s, u_end)[:, 3:]), ((0, 0), (3, 0), (3, 0)))
        by_six, of_six = np.s_[:, :, None], np.s_[:, None, :]
        # Momentum is balanced half-way, as in `newton_matrix`.
        body = skew(self.pull(A_end, Lam)[:, 3:])
        J.add(self._balanced(np.arange(s.size), axes, M, M), at.u[by_six], at.u[of_six])
        J.add(M, at.w[by_six], at.w[of_six])
        J.add(-0.5 * M, at.w[by_six], at.u[of_six])
        turning = self._balanced(np.arange(s.size), axes, gyro, jnp.pad(-0.5 * body, ((0, 0), (3, 0), (3, 0))))
        J.add(h * _carried_by(carry[:, None], turning), at.u[by_six], at.w[of_six])
        slopes = self._row_slope_blocks(end, u_end, Lam)
        for g, B, B_force, B_end, (wrench, rate) in zip(s.groups, A, A_force, A_end, slopes, strict=True):
            on, closing = g.on, np.s_[:, : g.holonomic]
            turn, row = carry[on][:, None], at.Lam[g.rows][..., None, None]
            u, w = _with_ground(at.u)[on][:, None], _with_ground(at.w)[on][:, None]
            pair = np.array(g.together)
            u_pair, w_pair = _with_ground(at.u)[pair], _with_ground(at.w)[pair]
            by_pair = _carried_by(carry[pair][:, None, None], self._balanced(pair, axes, wrench, wrench))
            J.add(-0.5 * h * by_pair, u_pair[..., None, None], w_pair[:, None, None])
            loose, turns = (None if X is None else X[on][:, None] for X in axes)
            J.add(-half_way(loose, turns, B_force, B), u, row)
            J.add(B_end, row, u)
            J.add(h * _carried_by(turn, rate), row, w)
            D_phi = _carried_by(turn, B_end[closing])
            if self.both:
                gam = at.Gam[self.number[g.rows[closing]]][..., None, None]
                J.add(-B[closing], w, gam)
                J.add(D_phi, gam, w)
                J.add(h * half_way(loose, turns, rate[closing], 0.0 * rate[closing]), u, gam)
            else:
                J.add(h * self.kappa * D_phi, row[closing], w)
        for on, reads, by_q, by_u in force_slopes(s, end, u_end, self.t + h):
            to = at.u[on][..., None, None]
            by_q, by_u = (self._balanced(on, axes, x, x) for x in (by_q, by_u))
            J.add(-0.5 * h * h * _carried_by(carry[reads], by_q), to, at.w[reads])
            J.add(-0.5 * h * by_u, to, at.u[reads])
        values, solver = J.gathered(at.size)

        def solve(residual: Any) -> Any:
            balance, psi, phi, off, idle = residual
            parts = [balance.ravel(), jnp.zeros(6 * s.size), psi, phi if self.both else jnp.zeros(0)]
            x = solver(values, jnp.concatenate(parts)[at.source])
            return x[at.w], x[at.Lam], x[at.Gam], off + x[at.u], idle

        return solve

    def _balanced(self, on: np.ndarray, axes: Any, slopes: Any, of_body: Any) -> Any:
        """Slopes of momenta of these bodies, (..., on, 6, *by), from the axes of the end to those half-way."""
        at = on.ndim
        by = slopes.ndim - at - 1
        shape = (*on.shape, *[1] * by, 3, 3)
        matrices = (None if X is None else X[on].reshape(shape) for X in axes)
        parts = (jnp.moveaxis(x, at, -1) for x in (slopes, of_body))
        return jnp.moveaxis(half_way(*matrices, *parts), -1, at)


class Numbering:
    """The place of each unknown, and of the equation that goes with it: bodies from the tips of a tree to
    its root, so that elimination in this order fills in next to nothing, each followed by its rows."""

    def __init__(self, system: System, *, both: bool) -> None:
        n = system.size
        closes = np.array(system.holonomic, dtype=bool) & both
        turn = np.argsort(from_the_tips(system))
        first = np.zeros(system.rows, dtype=int)
        for g in system.groups:
            first[g.rows] = np.append(turn, n)[g.on].min(axis=1)[:, None]
        body = np.repeat(turn, 6)
        self.source = np.argsort(np.concatenate([body, body, first, first[closes]]), kind="stable")
        place = np.argsort(self.source)
        self.size = len(place)
        self.u, self.w = place[: 6 * n].reshape(n, 6), place[6 * n : 12 * n].reshape(n, 6)
        self.Lam, self.Gam = np.split(place[12 * n :], [system.rows])


def from_the_tips(system: System) -> np.ndarray:
    """All bodies in an order in which each comes after those that hang on it, seen from the ground."""
    n = system.size
    pairs = [(n, b) for g in system.groups for bodies in g.bodies for b in bodies if len(bodies) == 1]
    pairs += [(a % (n + 1), b % (n + 1)) for g in system.groups for on in g.bodies for a, b in combinations(on, 2)]
    rows, columns = np.array(pairs, dtype=int).reshape(-1, 2).T
    graph = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n + 1, n + 1))
    part = connected_components(graph, directed=False)[1]
    loose = np.array([i for i in np.unique(part, return_index=True)[1] if part[i] != part[n]], dtype=int)
    graph = graph + sp.csr_array((np.ones(len(loose)), (np.full(len(loose), n), loose)), shape=(n + 1, n + 1))
    return breadth_first_order(graph, n, directed=False, return_predecessors=False)[:0:-1]


def _with_ground(places: np.ndarray) -> np.ndarray:
    """The places of each body, then those of the ground, which has none."""
    return np.vstack([places, np.full(6, NOWHERE)])


class _Entries:
    """Blocks of a sparse matrix, with the row and column of each number."""

    def __init__(self) -> None:
        self._parts: list[tuple[Any, np.ndarray, np.ndarray]] = []

    def add(self, values: Any, rows: np.ndarray, columns: np.ndarray) -> None:
        self._parts.append((values, np.broadcast_to(rows, values.shape), np.broadcast_to(columns, values.shape)))

    def gathered(self, size: int) -> tuple[Any, SparseSolver]:
        rows, columns = (np.concatenate([part[i].ravel() for part in self._parts]) for i in (1, 2))
        values = jnp.concatenate([part[0].ravel() for part in self._parts])
        on = (rows != NOWHERE) & (columns != NOWHERE)
        return values[on], SparseSolver(rows[on], columns[on], size)


def _carried_by(carry: Any, slopes: Any) -> Any:
    """A derivative by the end pose, (..., 6), as one by the displacement that leads there."""
    return jnp.concatenate([slopes[..., :3], turn_back(carry, slopes[..., 3:])], axis=-1)
