"""`starts_of`: consistent starts of many systems of one structure, by one program.

A start that is as good as consistent, as nearly all are, is found by it; of one that is not, or of which there is
something to say, nothing is given, and it is to be looked at by itself, by `consistent_start`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._programs import stored, unchanged
from polhode.model.functions import as_arrays
from polhode.multibody.describe.applied import Applied
from polhode.multibody.describe.state import State
from polhode.multibody.rows import assembly
from polhode.multibody.rows.invariants import potential_energy
from polhode.multibody.rows.momenta import motion, pose
from polhode.multibody.start.consistent import ASIDE, CLOSED
from polhode.multibody.start.dependent_rows import OUT_OF_TRUE
from polhode.multibody.start.least_motion import are_many
from polhode.multibody.start.nearness import TOLD
from polhode.multibody.start.traced_start import traced_start

_AT_A_TIME = 64  # systems: one program serves any number of them


@unchanged()
def starts_of(systems: Sequence[Any], t: float) -> list[tuple[Any, State] | None]:
    """Of each the system with users' functions as they are now, and its state; None where it is to be looked at by
    itself."""
    now = [as_arrays(system.bare(observed=True)) for system in systems]
    found: list[tuple[Any, State] | None] = [None] * len(now)
    if are_many(now[0].rows):
        return found
    kinds: dict[Any, list[int]] = {}
    for k, system in enumerate(now):
        leaves, tree = jax.tree.flatten(system)
        kinds.setdefault((tree, *(np.shape(x) for x in leaves)), []).append(k)
    for alike in kinds.values():
        for first in range(0, len(alike), _AT_A_TIME):
            some = alike[first : first + _AT_A_TIME]
            filled = [now[k] for k in [*some, *some[-1:] * (_AT_A_TIME - len(some))]]
            states, fine = _begun(jax.tree.map(lambda *x: np.stack(x), *filled), t)
            states, fine = jax.tree.map(np.asarray, states), np.asarray(fine)
            for i, k in enumerate(some):
                if fine[i]:
                    found[k] = now[k], jax.tree.map(lambda x, i=i: x[i].copy(), states)
    for pair in found:
        for force in pair[0].forces if pair is not None else ():
            if type(force).look is not Applied.look:
                system, state = pair  # type: ignore[misc]
                force.look(system.seen(pose(state), motion(state), t))
    return found


@stored(briefly=True)
def _begun(systems: Any, t: Any) -> tuple[Any, Any]:
    return jax.vmap(lambda system: _one(system, t))(systems)


def _one(system: Any, t: Any) -> tuple[State, Any]:
    """Its state, and whether there is nothing to say of it."""
    given = system.start
    state = traced_start(system, t)
    u = motion(state)
    there = jnp.isfinite(sum(jnp.sum(x) for x in jax.tree.leaves(state)) + potential_energy(system, state, t))
    unit = jnp.all(jnp.abs(jnp.sum(given.quaternions**2, axis=-1) - 1.0) <= TOLD)
    fine = there & unit & _little(system, given, state)
    return state, fine & _closed(system, state, u, motion(given), t) if system.rows else fine


def _little(system: Any, given: State, state: State) -> Any:
    """Whether nothing was changed but round-off, as `is_round_off` has it, of a smaller size at most."""
    r, J = given.positions, system.inertias
    gyration = jnp.sqrt(jnp.max(jnp.trace(J, axis1=-2, axis2=-1) / 2 / system.masses))
    size = jnp.maximum(gyration, jnp.sqrt(jnp.max(jnp.sum((r - r[0]) ** 2, axis=-1))))
    near = lambda name, most: jnp.max(jnp.abs(getattr(state, name) - getattr(given, name))) <= TOLD * most  # noqa: E731
    v, omega = jnp.max(jnp.abs(given.velocities)), jnp.max(jnp.abs(given.omegas))
    speed = jnp.maximum(v, size * omega)
    return near("positions", size) & near("quaternions", 0.5) & near("velocities", speed) & near("omegas", speed / size)


def _closed(system: Any, state: State, u: Any, before: Any, t: Any) -> Any:
    """Whether rows hold to round-off, and none nearly follows from others."""
    q, hol = pose(state), system.holonomic_rows
    A = assembly.rows(system, q, t)
    far = jnp.max(jnp.abs(state.positions), axis=1, keepdims=True)
    sizes = jnp.concatenate([jnp.repeat(far, 3, axis=1), jnp.ones((system.size, 3))], axis=1)
    speeds = _speeds(u) + _speeds(before)
    phi, psi = assembly.phi(system, q, t)[hol], assembly.psi(system, q, u, t)
    room, moves = (jnp.einsum("kbi,bi->k", jnp.abs(A), x) for x in (sizes, speeds))
    moves = moves + ASIDE * jnp.max(moves)
    holds = jnp.all(jnp.abs(phi) <= CLOSED * room[hol]) & jnp.all(jnp.abs(psi) <= 1e3 * CLOSED * moves)
    gyration = jnp.trace(system.inertias, axis1=1, axis2=2) / system.masses / 3
    W = jnp.concatenate([A[..., :3], A[..., 3:] / jnp.sqrt(gyration)[:, None]], axis=-1).reshape(len(A), -1)
    length = jnp.sqrt(jnp.sum(W * W, axis=1, keepdims=True))
    s = jnp.linalg.svd(W / jnp.where(length > 0, length, 1.0), compute_uv=False)
    return holds & ~jnp.any((s > system.tolerance) & (s < OUT_OF_TRUE))


def _speeds(u: Any) -> Any:
    return jnp.repeat(jnp.max(jnp.abs(u).reshape(-1, 2, 3), axis=2), 3, axis=1)
