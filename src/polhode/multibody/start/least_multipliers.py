"""Multipliers of rows that follow from one another: the least of those that pull alike."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from polhode.algebra.dense import inverse, matmul

# Half-way through a step joints are open by O(h²), and rows that follow from others do not quite: what is nearer to
# that than the root of this counts as following.
PROXIMAL = 1e-4
REFINED = 7


def least(A: Any, Lam: Any, extent: Any) -> Any:
    """The least Λ with the same AᵀΛ, torques measured by the forces that they are at the distance `extent`: a choice
    that depends neither on masses nor on how the scene stands. By proximal iteration, as a decomposition of a library's
    cannot be part of a native loop."""
    A = A / jnp.array([1.0, 1.0, 1.0, extent, extent, extent])
    moves, turns = (jnp.sum(A[..., i] ** 2, axis=(1, 2)) for i in (np.s_[:3], np.s_[3:]))
    length = length_of_rows(moves, turns)
    W = (A / length[:, None, None]).reshape(len(length), -1)
    S = matmul(W, W.T)
    lifted = inverse(S + PROXIMAL * jnp.eye(len(length)))
    goal = S @ (Lam * length)
    x = lifted @ goal
    for _ in range(REFINED):
        x = x + lifted @ (goal - S @ x)
    return x / length


def length_of_rows(moves: Any, turns: Any) -> Any:
    """Of what a row pulls with, or where it pulls nothing of what it twists with; both squared."""
    return jnp.sqrt(jnp.where(moves > 0.0, moves, jnp.where(turns > 0.0, turns, 1.0)))
