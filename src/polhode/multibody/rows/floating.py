"""What floats: which forces and constraints act within the bodies that they name, which bodies belong together, and
what moves within a part that nothing holds. It is decided here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._programs import is_from
from polhode.algebra import Vec3, exp
from polhode.algebra.arrays import cross, dot, over_positive3, product, turn, turn_back
from polhode.multibody.describe.applied import Applied
from polhode.multibody.describe.constraints import Constraint, Holonomic
from polhode.multibody.describe.views import View, frame_of
from polhode.multibody.rows.group import NOWHERE, Gathered

Bodies = Sequence[int]
_NOTHING = 1e-9  # of the forces: what is left of their sum, and of the sum of their moments, where they act within
_SPREADS = (0.03, 0.1, 0.3, 1.0, 3.0)  # of the distances between the bodies: poses that are tried
_LINE = 1e-14


def parts_of(
    size: int, rows: Iterable[tuple[Bodies, bool]], forces: Iterable[Bodies]
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The bodies, as a mask, of each part that is anchored and of each that floats.

    `rows` are the bodies of each constraint, and whether it holds them to the ground or makes them roll; `forces` those
    of each force. What a constraint ties together is one part, anchored where a row holds it. Parts that
    nothing ties to an anchored one, forces neither, float: those that forces tie together are one, and a body on its
    own is none."""
    rows = list(rows)
    by_rows = _labels(size, [bodies for bodies, _ in rows])
    by_all = _labels(size, [*(bodies for bodies, _ in rows), *forces])
    anchors = sorted({by_rows[bodies[0]] for bodies, holds in rows if holds})
    anchored = [by_rows == label for label in anchors]
    held = np.isin(by_rows, anchors)
    whole = [by_all == label for label in np.unique(by_all)]
    return anchored, [part for part in whole if part.sum() > 1 and not (part & held).any()]


def _labels(size: int, tied: Iterable[Bodies]) -> np.ndarray:
    """The same number for bodies that are tied together, directly or through others."""
    label = np.arange(size)
    for bodies in tied:
        label[np.isin(label, label[list(bodies)])] = label[bodies[0]]
    return label


def acts_within(force: Applied, names: Sequence[str], positions: np.ndarray) -> bool:
    """Whether a force leaves both momenta of its bodies alone: tried in a few poses, near and far, at a few times. One
    that names several bodies may be a field outside them all the same."""
    if force.constant or len(force.bodies) < 2:
        return False
    if force.along_a_line or any(isinstance(x, jax.core.Tracer) for x in jax.tree.leaves(force)):
        return True
    rng = np.random.default_rng(0)
    at = [list(names).index(body) for body in force.bodies]
    size = np.ptp(positions[at], axis=0).max() or 1.0
    acted = False
    for spread in _SPREADS:
        r = size * (positions.mean(axis=0) / size + spread * rng.normal(size=positions.shape))
        R = _rotations(rng.normal(size=(len(names), 3)))
        u = rng.normal(size=(len(names), 6)) * ([size] * 3 + [1.0] * 3)
        frames = [frame_of(*of) for of in zip(r, R, u, strict=True)]
        loads = force.loads(View(names, frames.__getitem__, rng.uniform(0.0, 3.0), numbered=True))
        F = np.array([np.asarray(push) for push, _ in loads])
        T = np.array([R[i] @ np.asarray(twist) for i, (_, twist) in zip(at, loads, strict=True)])
        moments = np.concatenate([np.cross(r[at], F), T])
        if not (_vanishes(F) and _vanishes(moments)):
            return False
        acted = acted or bool(np.abs(F).max() + np.abs(T).max() > 0)
    return acted


def _rotations(vectors: np.ndarray) -> np.ndarray:
    """(..., 3, 3) of rotation vectors."""
    return np.asarray(exp(Vec3.of(vectors)).matrix().array)


def _vanishes(vectors: Any) -> bool:
    """Whether the sum is nothing beside what is summed; not so where a number is not finite."""
    return bool(np.abs(vectors.sum(axis=0)).max() <= _NOTHING * np.abs(vectors).sum())


def anchors(constraint: Constraint, positions: np.ndarray) -> bool:
    """Whether a constraint holds its bodies to the ground: it names one alone, makes them roll, or its φ changes when
    they are moved as one."""
    if len(constraint.bodies) == 1 or constraint.nonholonomic:
        return True
    if is_from(type(constraint), "polhode") and not isinstance(constraint, Holonomic):
        return False
    if any(isinstance(x, jax.core.Tracer) for x in jax.tree.leaves(constraint)):
        return False
    rng = np.random.default_rng(0)
    count = len(constraint.bodies)
    size = np.ptp(positions, axis=0).max() or 1.0
    for spread in _SPREADS:
        r = size * (positions.mean(axis=0) / size + spread * rng.normal(size=(count, 3)))
        R = _rotations(rng.normal(size=(count, 3)))
        Q, d = _rotations(rng.normal(size=3)), size * rng.normal(size=3)
        before, after = (
            np.concatenate([np.ravel(np.asarray(x)) for x in _phi(constraint, *pose)])
            for pose in ((r, R), (r @ Q.T + d, Q @ R))
        )
        if not np.abs(after - before).max() <= _NOTHING * max(np.abs(before).max(), size):
            return True
    return False


def _phi(constraint: Constraint, r: np.ndarray, R: np.ndarray) -> Any:
    frames = [frame_of(a, A, np.zeros(6)) for a, A in zip(r, R, strict=True)]
    return constraint.phi(View(constraint.bodies, frames.__getitem__, 0.0))


class Parts:
    """Bodies (m, N) and rows (m, k) of each part, as zeros and ones; `afloat` are those of the parts that float;
    `internal` says which forces act within the parts that float (see `acts_within`)."""

    def __init__(self, system: Gathered) -> None:
        number = {name: i for i, name in enumerate(system.names)}
        anchored, afloat = parts_of(
            system.size,
            [
                ([b for b in bodies if b != NOWHERE], anchored)
                for g in system.groups
                for bodies, anchored in zip(g.bodies, g.anchors, strict=True)
            ],
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
            owner[g.rows] = g.on.max(axis=1)[:, None]
        self.rows = self.bodies[:, owner]

    def within(self, system: Gathered, q: Any, p: Any, turns: Any) -> Any:
        """Of momenta p (N, 6) in space axes, in each part afloat what is left when it is seen from its own motion as
        one rigid body: a change along it alters neither momentum of the part. `turns` (N, 3, 3), a function of its
        inertia, says how much a body turns in this, in its own axes."""
        F, (r, R), m = self.afloat, q, jnp.asarray(system.masses)[:, None]
        keeps = 1.0 - jnp.any(jnp.asarray(F) > 0, axis=0)[:, None, None]  # what does not float stays as it is
        turns = product(R, turns * (1.0 - keeps) + jnp.eye(3) * keeps)
        p = jnp.concatenate([p[:, :3], turn(turns, turn_back(R, p[:, 3:]))], axis=-1)
        mass = F @ m
        d = r - F.T @ ((F @ (m * r)) / mass)
        V = (F @ p[:, :3]) / mass
        L = F @ (cross(d, p[:, :3]) + p[:, 3:])
        J = product(product(turns, jnp.asarray(system.inertias)), jnp.swapaxes(R, -1, -2))
        of_points = m[..., None] * (dot(d, d)[:, None, None] * jnp.eye(3) - d[:, :, None] * d[:, None, :])
        whole = jnp.einsum("mb,bij->mij", F, J + of_points)
        # Points on a line have no inertia about it, and no momentum.
        size = _LINE * jnp.trace(whole, axis1=-2, axis2=-1) + 1e-300
        omega = F.T @ over_positive3(whole + size[:, None, None] * jnp.eye(3), L)
        return p - jnp.concatenate([m * (F.T @ V + cross(omega, d)), turn(J, omega)], axis=-1)
