"""Which forces act within the bodies that they name: those that look the same from wherever one looks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from scipy.spatial.transform import Rotation

from polhode.multibody.forces import Applied
from polhode.multibody.view import View, frame_of

_NOTHING = 1e-9  # of the forces: what is left of their sum, and of the sum of their moments, where they act within
_POSES = 3


def acts_within(force: Applied, names: Sequence[str], positions: np.ndarray) -> bool:
    """Whether a force leaves both momenta of its bodies alone: tried in a few poses near to where they start. One that
    names several bodies may be a field outside them all the same."""
    if force.constant or len(force.bodies) < 2:
        return False
    if force.along_a_line or any(isinstance(x, jax.core.Tracer) for x in jax.tree.leaves(force)):
        return True
    rng = np.random.default_rng(0)
    at = [list(names).index(body) for body in force.bodies]
    size = np.ptp(positions[at], axis=0).max() or 1.0
    acted = False
    for _ in range(_POSES):
        r = positions + 0.3 * size * rng.normal(size=positions.shape)
        R = Rotation.from_rotvec(rng.normal(size=(len(names), 3))).as_matrix()
        u = rng.normal(size=(len(names), 6)) * ([size] * 3 + [1.0] * 3)
        loads = force.loads(View(names, lambda i, r=r, R=R, u=u: frame_of(r[i], R[i], u[i]), 0.0))
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
