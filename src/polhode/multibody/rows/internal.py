"""What acts within the bodies that it names: forces and rows that look the same from wherever one looks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from scipy.spatial.transform import Rotation

from polhode._programs import is_from
from polhode.multibody.describe.constraints import Constraint, Holonomic
from polhode.multibody.describe.forces import Applied
from polhode.multibody.describe.views import View, frame_of

_NOTHING = 1e-9  # of the forces: what is left of their sum, and of the sum of their moments, where they act within
_SPREADS = (0.03, 0.1, 0.3, 1.0, 3.0)  # of the distances between the bodies: poses that are tried


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
        R = Rotation.from_rotvec(rng.normal(size=(len(names), 3))).as_matrix()
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
        R = Rotation.from_rotvec(rng.normal(size=(count, 3))).as_matrix()
        Q, d = Rotation.from_rotvec(rng.normal(size=3)).as_matrix(), size * rng.normal(size=3)
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
