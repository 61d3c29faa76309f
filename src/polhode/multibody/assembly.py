"""Rows, forces and their places: what a step needs to know of a system at a moment.

φ and ψ come from the constraints; A = ∂ψ/∂ϑ and φ' by automatic differentiation along
virtual displacements: translation in space axes, rotation in body axes, R -> R(1 + skew δ).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.multibody.arrays import product, skew
from polhode.multibody.system import Group, System
from polhode.multibody.view import View

Pose = tuple[Any, Any]  # positions (m, 3), rotations (m, 3, 3)
Motion = Any  # (m, 6): v in space axes, Ω in body axes


def moved(q: Pose, delta: Any) -> Pose:
    """q after the virtual displacement δ (m, 6), to first order."""
    r, R = q
    return r + delta[..., :3], R + product(R, skew(delta[..., 3:]))


def view_of(group: Group, kind: Any, q: Pose, u: Motion, t: Any) -> View:
    """The view of one constraint of a group: its own bodies under the names that its kind uses."""
    names = kind.bodies
    slots = {name: i for i, name in enumerate(names)}
    return View(names, slots, q, (u[..., :3], u[..., 3:]), t)


def local_phi(group: Group, kind: Any, q: Pose, t: Any) -> Any:
    return kind.phi(view_of(group, kind, q, jnp.zeros((len(kind.bodies), 6)), t))


def local_psi(group: Group, kind: Any, q: Pose, u: Motion, t: Any) -> Any:
    """All rows of one constraint on velocities: φ' = Aϑ + ∂φ/∂t where it is holonomic, then ψ."""
    rows = []
    if kind.holonomic:
        rows.append(
            jax.jvp(
                lambda e: local_phi(group, kind, moved(q, e * u), t + e), (jnp.asarray(0.0),), (jnp.asarray(1.0),)
            )[1]
        )
    if kind.nonholonomic:
        rows.append(kind.psi(view_of(group, kind, q, u, t)))
    return jnp.concatenate(rows)


def local_rows(group: Group, kind: Any, q: Pose, t: Any) -> Any:
    """A of one constraint, (rows, bodies, 6)."""
    m = len(kind.bodies)
    zero = jnp.zeros((m, 6))
    rows = []
    if kind.holonomic:
        rows.append(jax.jacfwd(lambda d: local_phi(group, kind, moved(q, d), t))(zero))
    if kind.nonholonomic:
        rows.append(jax.jacfwd(lambda u: kind.psi(view_of(group, kind, q, u, t)))(zero))
    return jnp.concatenate(rows)


def over(group: Group, fn: Callable[..., Any], q: Pose, u: Motion, *more: Any) -> Any:
    """fn(kind, q, u, ...) of every constraint of a group, with the poses and motions of its own bodies."""
    where = np.array(group.bodies)
    return jax.vmap(fn)(group.kind, (q[0][where], q[1][where]), u[where], *more)


def collect(system: System, blocks: list[Any]) -> Any:
    """Values per group, (constraints, rows, ...), in the order of the system's rows."""
    if not blocks:
        return jnp.zeros(0)
    flat = jnp.concatenate([b.reshape((-1, *b.shape[2:])) for b in blocks])
    return flat[_row_order(system)]


def _row_order(system: System) -> np.ndarray:
    at = np.concatenate([[f + i for f in g.first for i in range(g.rows)] for g in system.groups])
    return np.argsort(at)


def row_numbers(group: Group) -> np.ndarray:
    """(constraints, rows): the rows of each constraint in the system."""
    return np.array(group.first)[:, None] + np.arange(group.rows)


def phi(system: System, q: Pose, t: Any) -> Any:
    """(k,) the φ of holonomic rows, 0 elsewhere."""
    blocks = []
    u = jnp.zeros((system.size, 6))
    for g in system.groups:
        if g.kind.holonomic:
            values = over(g, lambda kind, q, u, g=g: local_phi(g, kind, q, t), q, u)
        else:
            values = jnp.zeros((len(g.first), 0))
        blocks.append(jnp.pad(values, ((0, 0), (0, g.kind.nonholonomic))))
    return collect(system, blocks)


def psi(system: System, q: Pose, u: Motion, t: Any) -> Any:
    """(k,) ψ = Aϑ + (explicit time), each row."""
    return collect(
        system, [over(g, lambda kind, q, u, g=g: local_psi(g, kind, q, u, t), q, u) for g in system.groups]
    )


def rows(system: System, q: Pose, t: Any) -> Any:
    """A as (k, N, 6)."""
    k, n = system.rows, system.size
    blocks = [jnp.zeros(1)]
    place = np.zeros((k, n), dtype=int)  # which six numbers of the blocks stand there; 0 is none
    count = 1
    for g in system.groups:
        values = over(g, lambda kind, q, u, g=g: local_rows(g, kind, q, t), q, jnp.zeros((n, 6)))
        blocks.append(values.reshape(-1))
        numbers = count + 6 * np.arange(values.size // 6).reshape(values.shape[:3])
        for c, bodies in enumerate(g.bodies):
            for j, body in enumerate(bodies):
                place[row_numbers(g)[c], body] = numbers[c, :, j]
        count += values.size
    index = np.where(place[..., None] > 0, place[..., None] + np.arange(6), 0)
    return jnp.concatenate(blocks)[index]


def forces(system: System, q: Pose, u: Motion, t: Any) -> Any:
    """f, (N, 6): force in space axes, torque in body axes."""
    slots = {name: i for i, name in enumerate(system.names)}
    view = View(system.names, slots, q, (u[:, :3], u[:, 3:]), t)
    total: list[Any] = [jnp.zeros(6)] * system.size
    for force in system.forces:
        for body, (push, twist) in zip(force.bodies, force.loads(view), strict=True):
            total[slots[body]] = total[slots[body]] + jnp.concatenate([push, twist])
    return jnp.stack(total)
