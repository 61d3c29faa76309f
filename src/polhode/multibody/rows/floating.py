"""The parts of a system in which the work of rows is made good: those held or rolling, and those afloat."""

from __future__ import annotations

from itertools import compress
from typing import Any

import jax.numpy as jnp
import numpy as np

from polhode.algebra.arrays import cross, dot, over_positive3, product, turn
from polhode.multibody.rows import ties
from polhode.multibody.rows.gathering import rows_of
from polhode.multibody.system import System

_LINE = 1e-14


class Parts:
    """Bodies (m, N) and rows (m, k) of each part, as zeros and ones; `afloat` are those of the parts that float;
    `internal` says which forces act within the parts that float (see `ties`)."""

    def __init__(self, system: System) -> None:
        number = {name: i for i, name in enumerate(system.names)}
        anchored, afloat = ties.parts(
            system.size,
            [(bodies, g.anchors) for g in system.groups for bodies in g.bodies],
            [[number[b] for b in f.bodies] for f in compress(system.forces, system.within)],
        )
        floats = np.any(afloat, axis=0) if afloat else np.zeros(system.size, dtype=bool)
        self.internal = tuple(
            b and bool(floats[number[f.bodies[0]]]) for b, f in zip(system.within, system.forces, strict=True)
        )
        self.bodies = np.array([*anchored, *afloat], dtype=float).reshape(-1, system.size)
        self.afloat = self.bodies[len(anchored) :]
        owner = np.zeros(system.rows, dtype=int)  # a body of each row
        for g in system.groups:
            owner[rows_of(g)] = np.array(g.bodies)[:, :1]
        self.rows = self.bodies[:, owner]

    def within(self, system: System, q: Any, p: Any, turns: Any) -> Any:
        """Of momenta p (N, 6) in space axes, in each part afloat what is left when it is seen from its own motion as
        one rigid body: a change along it alters neither momentum of the part. `turns` (N,) says how much a body
        turns in this."""
        keeps = 1.0 - jnp.any(jnp.asarray(self.afloat) > 0, axis=0)
        turns = jnp.maximum(turns, keeps)[:, None]  # what does not float stays as it is
        p = jnp.concatenate([p[:, :3], turns * p[:, 3:]], axis=-1)
        F, (r, R), m = self.afloat, q, jnp.asarray(system.masses)[:, None]
        mass = F @ m
        d = r - F.T @ ((F @ (m * r)) / mass)
        V = (F @ p[:, :3]) / mass
        L = F @ (cross(d, p[:, :3]) + p[:, 3:])
        J = turns[..., None] * product(product(R, jnp.asarray(system.inertias)), jnp.swapaxes(R, -1, -2))
        of_points = m[..., None] * (dot(d, d)[:, None, None] * jnp.eye(3) - d[:, :, None] * d[:, None, :])
        whole = jnp.einsum("mb,bij->mij", F, J + of_points)
        # Points on a line have no inertia about it, and no momentum.
        size = _LINE * jnp.trace(whole, axis1=-2, axis2=-1) + 1e-300
        omega = F.T @ over_positive3(whole + size[:, None, None] * jnp.eye(3), L)
        return p - jnp.concatenate([m * (F.T @ V + cross(omega, d)), turn(J, omega)], axis=-1)
