"""Which unknowns each equation of a step reads, from who is joined to whom."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp

from polhode.multibody.describe.views import View, bodies_used
from polhode.multibody.rows.group import NOWHERE
from polhode.multibody.system import System


def pattern(system: System, *, both: bool) -> sp.csr_array:
    """Of (w, Λ, Γ) by (momentum, ψ⁺, φ⁺), but for what is taken off the momentum of a whole part. ϑ⁺ of a body depends,
    by rows half-way, on what is joined to it, and so momentum on what is joined to that."""
    on = _bodies_of_rows(system)
    closing = on[system.holonomic_rows if both else []]
    near = sp.csr_array(on.T @ on + sp.eye_array(system.size) + _tied_by_forces(system))
    six, one = np.ones((6, 6)), np.ones((6, 1))
    k, c = on.shape[0], closing.shape[0]
    return sp.csr_array(
        sp.block_array(
            [
                [sp.kron(near @ near, six), sp.kron(on.T, one), sp.kron(near @ closing.T, one)],
                [sp.kron(on @ near, one.T), sp.csr_array((k, k)), on @ closing.T],
                [sp.kron(closing, one.T), sp.csr_array((c, k)), sp.csr_array((c, c))],
            ]
        ).astype(bool)
    )


def _bodies_of_rows(system: System) -> sp.csr_array:
    """(k, N)."""
    pairs = [
        (row, body)
        for g in system.groups
        for rows, bodies in zip(g.numbers, g.bodies, strict=True)
        for row in rows
        for body in bodies
        if body != NOWHERE
    ]
    at, to = np.array(pairs, dtype=int).reshape(-1, 2).T
    return sp.csr_array((np.ones(len(at)), (at, to)), shape=(system.rows, system.size))


def _tied_by_forces(system: System) -> sp.csr_array:
    """(N, N): each body that a force acts on, by all that it reads."""
    tied = np.zeros((0, system.size))
    for force in system.forces:
        if force.constant:
            continue

        def loads(view: View, force: Any = force) -> Any:
            return jnp.stack([jnp.concatenate(load) for load in force.loads(view)])

        names, _ = bodies_used(loads, system.names, "a force")
        tied = np.vstack([tied, np.isin(system.names, [*force.bodies, *names])])
    return sp.csr_array(tied.T) @ sp.csr_array(tied)
