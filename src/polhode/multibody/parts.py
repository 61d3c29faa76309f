"""The parts of a system in which the work of rows is made good: those held or rolling, and those afloat."""

from __future__ import annotations

from itertools import compress
from typing import Any

import jax.numpy as jnp
import numpy as np

from polhode.multibody import ties
from polhode.multibody.arrays import cross, dot, inverse3, product, turn
from polhode.multibody.places import rows_of
from polhode.multibody.system import System


class Parts:
    """Bodies (m, N) and rows (m, k) of each part, as zeros and ones; `afloat` are those of the parts that float;
    `internal` says which forces act between bodies (see `ties`)."""

    def __init__(self, system: System) -> None:
        number = {name: i for i, name in enumerate(system.names)}
        self.internal = tuple(not f.constant and len(f.bodies) > 1 for f in system.forces)
        anchored, afloat = ties.parts(
            system.size,
            [(bodies, g.kind.nonholonomic > 0) for g in system.groups for bodies in g.bodies],
            [[number[b] for b in f.bodies] for f in compress(system.forces, self.internal)],
        )
        self.bodies = np.array([*anchored, *afloat], dtype=float).reshape(-1, system.size)
        self.afloat = self.bodies[len(anchored) :]
        owner = np.zeros(system.rows, dtype=int)  # a body of each row
        for g in system.groups:
            owner[rows_of(g)] = np.array(g.bodies)[:, :1]
        self.rows = self.bodies[:, owner]

    def rigid(self, system: System, q: Any, p: Any) -> tuple[Any, Any]:
        """Of momenta p (N, 6) in space axes, those of each part afloat moving as one rigid body, and its angular
        velocity (N, 3). A change along the rest alters neither linear nor angular momentum of the part."""
        F, (r, R), m = self.afloat, q, jnp.asarray(system.masses)[:, None]
        mass = F @ m
        d = r - F.T @ ((F @ (m * r)) / mass)
        V = (F @ p[:, :3]) / mass
        L = F @ (cross(d, p[:, :3]) + p[:, 3:])
        J = product(product(R, jnp.asarray(system.inertias)), jnp.swapaxes(R, -1, -2))
        of_points = m[..., None] * (dot(d, d)[:, None, None] * jnp.eye(3) - d[:, :, None] * d[:, None, :])
        omega = F.T @ turn(inverse3(jnp.einsum("mb,bij->mij", F, J + of_points)), L)
        return jnp.concatenate([m * (F.T @ V + cross(omega, d)), turn(J, omega)], axis=-1), omega
