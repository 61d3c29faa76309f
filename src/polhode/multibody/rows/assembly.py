"""φ, ψ, A and f of a whole system at a moment; each constraint evaluated among its own bodies."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._programs import stored
from polhode.algebra.arrays import product, skew
from polhode.multibody.rows.gathering import by_row, by_row_and_body
from polhode.multibody.rows.group import Gathered, Motion, Pose

SINGULAR = 1e-6  # of `Constraint.singular`: nearer than this its rows mean nothing


def moved(q: Pose, delta: Any) -> Pose:
    """q after the virtual displacement δ (..., 6), to first order."""
    r, R = q
    return r + delta[..., :3], R + product(R, skew(delta[..., 3:]))


def phi(system: Gathered, q: Pose, t: Any) -> Any:
    """(k,) the φ of holonomic rows, 0 elsewhere."""
    blocks = [jnp.pad(g.phi(q, t), ((0, 0), (0, g.nonholonomic))) for g in system.groups]
    return by_row(system, blocks) if blocks else jnp.zeros(0)


def psi(system: Gathered, q: Pose, u: Motion, t: Any) -> Any:
    """(k,) ψ = Aϑ + (explicit time), each row."""
    blocks = [g.psi(q, u, t) for g in system.groups]
    return by_row(system, blocks) if blocks else jnp.zeros(0)


def rows(system: Gathered, q: Pose, t: Any) -> Any:
    """A as (k, N, 6)."""
    if not system.groups:
        return jnp.zeros((0, system.size, 6))
    return by_row_and_body(system, [g.blocks(q, t) for g in system.groups])


def drift(system: Gathered, q: Pose, t: Any) -> Any:
    """(k,) ψ at ϑ = 0: what of a row depends on time alone, or moves by itself."""
    if not any(g.rheonomic for g in system.groups):
        return jnp.zeros(system.rows)
    u = jnp.zeros((system.size, 6))
    blocks = [g.psi(q, u, t) if g.rheonomic else jnp.zeros(g.rows.shape) for g in system.groups]
    return by_row(system, blocks)


def regular(system: Gathered, q: Pose, t: Any) -> Any:
    """Whether every constraint has a meaning there: no wheel lies flat."""
    good = jnp.asarray(True)
    for g in system.groups:
        if g.can_be_singular:
            good = good & jnp.all(g.singular(q, t) > SINGULAR)
    return good


def forces(system: Gathered, q: Pose, u: Motion, t: Any, which: Sequence[bool] | None = None) -> Any:
    """f, (N, 6): force in space axes, torque in body axes; of all that is applied, or of `which`."""
    view = system.seen(q, u, t)
    total = jnp.zeros((system.size, 6))
    for force in compress(system.forces, which) if which is not None else system.forces:
        if force.constant:
            total = total + force.everywhere(system.masses)
            continue
        for body, (push, twist) in zip(force.bodies, force.loads(view), strict=True):
            total = total.at[system.names.index(body)].add(jnp.concatenate([push, twist]))
    return total


@stored(briefly=True)
def _nearing(group: Any, q: Pose, u: Motion) -> tuple[Any, Any]:
    return jax.jvp(lambda s: group.singular(moved(q, s * u), 0.0), (0.0,), (1.0,))


def singularities(system: Gathered, q: Pose, u: Motion) -> list[tuple[str, float, float]]:
    """Each constraint that can lose its meaning, by name: how near it is to that, 0 there and 1 far away, and the
    rate of this."""
    found = []
    for g in system.groups:
        if g.can_be_singular:
            firsts = [system.row_names[rows[0]] for rows in g.numbers]
            names = [first.rpartition(".")[0] or first for first in firsts]
            near, rate = _nearing(g, q, u)
            found += list(zip(names, np.asarray(near).tolist(), np.asarray(rate).tolist(), strict=True))
    return found
