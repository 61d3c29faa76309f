"""The least motion, in the metric of kinetic energy, that changes rows as asked: A x = b.

Rows are of any unit and masses of any size, so each row is first made of length one in that metric; what then counts
as small is the same for a watch and for a bridge. `rows_at` takes the rows from a system where a state of it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from polhode.multibody.describe.state import State
from polhode.multibody.rows.group import Gathered
from polhode.multibody.rows.rank import weighted
from polhode.multibody.rows.row_blocks import matrix_of
from polhode.multibody.start.moment import moment

_MANY = 200  # rows: from here on A M⁻¹Aᵀ is factored as a sparse matrix, unless rows follow from others
_TIED = 1e-3
_REFINED = 2  # times: bodies of 1e-6 and 1e6 kg share one factorisation, whose round-off is that of the heavy one


class Least:
    """A (k, 6N) and the transpose of M⁻¹Aᵀ, where the bodies are. Combinations of rows of length one that come out
    shorter than `cut` count as zero: such rows follow from one another. `sparse`: none do, and A is large."""

    def __init__(self, A: sp.csr_array, MA: sp.csr_array, masses: Any, inertias: Any, *, cut: float, sparse: bool):
        self.A, self.MA = A, MA
        self._of_bodies = masses, inertias
        length = np.sqrt(A.multiply(MA).sum(axis=1))
        self.unit = 1.0 / np.where(length > 0, length, 1.0)
        self._lu = self._factored() if sparse else None
        self._u: np.ndarray = np.zeros((len(length), 0))
        self._s: np.ndarray = np.zeros(0)
        if self._lu is None:
            self._u, self._s = self._singular()
        self._kept = self._s > cut

    def _factored(self) -> Any:
        D = sp.diags_array(self.unit)
        try:
            return splu((D @ self.A @ self.MA.T @ D).tocsc(), permc_spec="MMD_AT_PLUS_A")
        except RuntimeError:  # singular away from the start, where rows were found independent
            return None

    def _singular(self) -> tuple[np.ndarray, np.ndarray]:
        W = weighted(self.A, *self._of_bodies).toarray()
        if not np.isfinite(W).all():
            return np.zeros((len(W), 0)), np.zeros(0)
        u, s, _ = np.linalg.svd(W)
        return u, np.pad(s, (0, len(W) - len(s)) if len(W) > len(s) else (0, 0))

    def _once(self, b: np.ndarray) -> np.ndarray:
        b = self.unit * b
        if self._lu is not None:
            return self.unit * self._lu.solve(b)
        u = self._u[:, self._kept]
        return self.unit * (u @ ((u.T @ b) / self._s[self._kept] ** 2))

    def over(self, b: np.ndarray) -> np.ndarray:
        """(A M⁻¹Aᵀ)⁻¹b; where rows follow from others the least such vector, each row weighed by its length, or the
        nearest."""
        x = self._once(b)
        for _ in range(_REFINED):
            x = x + self._once(b - self.A @ (self.MA.T @ x))
        return x

    def motion(self, b: np.ndarray) -> np.ndarray:
        """The least x in the metric of M with Ax = b, or nearest to it."""
        return self.MA.T @ self.over(b)

    @property
    def null(self) -> np.ndarray:
        """Combinations of rows of length one that come out as nothing, one a column."""
        return self._u[:, ~self._kept]

    def against(self, b: np.ndarray) -> np.ndarray:
        """The part of b that no motion changes: what rows that follow from one another disagree by."""
        if self._lu is not None:
            return np.zeros_like(b)
        u = self.null
        return (u @ (u.T @ (self.unit * b))) / self.unit

    def scale(self, of_bodies: np.ndarray) -> np.ndarray:
        """How large the terms of each row are, (k,), where those of the bodies are as large as this, (N, 6); and a part
        of the largest that it is tied to through others, as round-off comes along from there."""
        own = abs(self.A) @ of_bodies.reshape(-1)
        tied = connected_components(abs(self.A) @ abs(self.A).T, directed=False)[1]
        largest = np.zeros(tied.max() + 1)
        np.maximum.at(largest, tied, own)
        return own + _TIED * largest[tied]


def are_many(rows: int) -> bool:
    """Whether so many rows are too many for dense matrices."""
    return rows >= _MANY


def rows_at(system: Gathered, state: State, t: Any, which: np.ndarray | None = None, cut: float | None = None) -> Least:
    """The rows, all or `which`, where the state is."""
    now = moment(system, state, t)
    pair = (matrix_of(system, blocks) for blocks in (now.A, now.MA))
    A, MA = (x if which is None else x[which] for x in pair)
    sparse = are_many(A.shape[0]) and not system.redundant
    cut = system.tolerance if cut is None else cut
    return Least(A, MA, np.asarray(system.masses), np.asarray(system.inertias), cut=cut, sparse=sparse)


def sizes(state: State) -> np.ndarray:
    """Of what positions and attitudes are made of, (N, 6): m from the origin, rad."""
    far = np.abs(np.asarray(state.positions)).max(axis=1, keepdims=True)
    return np.concatenate([np.repeat(far, 3, axis=1), np.ones((len(far), 3))], axis=1)
