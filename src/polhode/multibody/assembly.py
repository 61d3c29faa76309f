"""Rows, forces and their places: what a step needs to know of a system at a moment.

φ and ψ come from the constraints; A = ∂ψ/∂ϑ and φ' by automatic differentiation along
virtual displacements: translation in space axes, rotation in body axes, R -> R(1 + skew δ).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.multibody.arrays import product, skew
from polhode.multibody.places import by_row, by_row_and_body
from polhode.multibody.view import View

if TYPE_CHECKING:
    from polhode.multibody.system import Group, System

Pose = tuple[Any, Any]  # positions (m, 3), rotations (m, 3, 3)
SINGULAR = 1e-6  # of `Constraint.singular`: nearer than this its rows mean nothing
Motion = Any  # (m, 6): v in space axes, Ω in body axes


def moved(q: Pose, delta: Any) -> Pose:
    """q after the virtual displacement δ (m, 6), to first order."""
    r, R = q
    return r + delta[..., :3], R + product(R, skew(delta[..., 3:]))


def view_of(kind: Any, q: Pose, u: Motion, t: Any) -> View:
    """The view of one constraint of a group: its own bodies under the names that its kind uses."""
    names = kind.bodies
    slots = {name: i for i, name in enumerate(names)}
    return View(names, slots, q, (u[..., :3], u[..., 3:]), t)


def local_phi(kind: Any, q: Pose, t: Any) -> Any:
    return kind.phi(view_of(kind, q, jnp.zeros((len(kind.bodies), 6)), t))


def local_rate(kind: Any, q: Pose, u: Motion, t: Any) -> Any:
    """φ' = Aϑ + ∂φ/∂t of one constraint."""

    def along(e: Any) -> Any:
        return local_phi(kind, moved(q, e * u), t + e if kind.rheonomic else t)

    return jax.jvp(along, (jnp.asarray(0.0),), (jnp.asarray(1.0),))[1]


def local_psi(kind: Any, q: Pose, u: Motion, t: Any) -> Any:
    """All rows of one constraint on velocities: φ' where it is holonomic, then ψ."""
    rows = []
    if kind.holonomic:
        rows.append(local_rate(kind, q, u, t))
    if kind.nonholonomic:
        rows.append(kind.psi(view_of(kind, q, u, t)))
    return jnp.concatenate(rows)


def local_wrench(kind: Any, q: Pose, Lam: Any, t: Any) -> Any:
    """AᵀΛ of one constraint, (bodies, 6), body axes."""
    zero = jnp.zeros((len(kind.bodies), 6))
    total = zero
    if kind.holonomic:
        total = total + jax.grad(lambda d: jnp.sum(Lam[: kind.holonomic] * local_phi(kind, moved(q, d), t)))(zero)
    if kind.nonholonomic:
        total = total + jax.grad(lambda u: jnp.sum(Lam[kind.holonomic :] * kind.psi(view_of(kind, q, u, t))))(zero)
    return total


def local_rows(kind: Any, q: Pose, t: Any) -> Any:
    """A of one constraint, (rows, bodies, 6)."""
    m = len(kind.bodies)
    zero = jnp.zeros((m, 6))
    rows = []
    if kind.holonomic:
        rows.append(jax.jacfwd(lambda d: local_phi(kind, moved(q, d), t))(zero))
    if kind.nonholonomic:
        rows.append(jax.jacfwd(lambda u: kind.psi(view_of(kind, q, u, t)))(zero))
    return jnp.concatenate(rows)


def over(group: Group, fn: Callable[..., Any], q: Pose, u: Motion, *more: Any) -> Any:
    """fn(kind, q, u, ...) of every constraint of a group, with the poses and motions of its own bodies."""
    where = np.array(group.bodies)
    return jax.vmap(fn)(group.kind, (q[0][where], q[1][where]), u[where], *more)


def phi(system: System, q: Pose, t: Any) -> Any:
    """(k,) the φ of holonomic rows, 0 elsewhere."""
    blocks = []
    u = jnp.zeros((system.size, 6))
    for g in system.groups:
        if g.kind.holonomic:
            values = over(g, lambda kind, q, u: local_phi(kind, q, t), q, u)
        else:
            values = jnp.zeros((len(g.first), 0))
        blocks.append(jnp.pad(values, ((0, 0), (0, g.kind.nonholonomic))))
    return by_row(system, blocks) if blocks else jnp.zeros(0)


def psi(system: System, q: Pose, u: Motion, t: Any) -> Any:
    """(k,) ψ = Aϑ + (explicit time), each row."""
    blocks = [over(g, lambda kind, q, u: local_psi(kind, q, u, t), q, u) for g in system.groups]
    return by_row(system, blocks) if blocks else jnp.zeros(0)


def rows(system: System, q: Pose, t: Any) -> Any:
    """A as (k, N, 6)."""
    if not system.groups:
        return jnp.zeros((0, system.size, 6))
    u = jnp.zeros((system.size, 6))
    blocks = [over(g, lambda kind, q, u: local_rows(kind, q, t), q, u) for g in system.groups]
    return by_row_and_body(system, blocks)


def drift(system: System, q: Pose, t: Any) -> Any:
    """(k,) ψ at ϑ = 0: what of a row depends on time alone, or moves by itself."""
    if not any(g.kind.rheonomic for g in system.groups):
        return jnp.zeros(system.rows)
    u = jnp.zeros((system.size, 6))
    blocks = [
        over(g, lambda kind, q, u: local_psi(kind, q, u, t), q, u)
        if g.kind.rheonomic
        else jnp.zeros((len(g.first), g.rows))
        for g in system.groups
    ]
    return by_row(system, blocks)


def regular(system: System, q: Pose, t: Any) -> Any:
    """Whether every constraint has a meaning there: no wheel lies flat."""
    u = jnp.zeros((system.size, 6))
    good = jnp.asarray(True)
    for g in system.groups:
        if g.kind.can_be_singular:
            far = over(g, lambda kind, q, u: kind.singular(view_of(kind, q, u, t)), q, u)
            good = good & jnp.all(far > SINGULAR)
    return good


def forces(system: System, q: Pose, u: Motion, t: Any) -> Any:
    """f, (N, 6): force in space axes, torque in body axes."""
    slots = {name: i for i, name in enumerate(system.names)}
    view = View(system.names, slots, q, (u[:, :3], u[:, 3:]), t)
    total: list[Any] = [jnp.zeros(6)] * system.size
    for force in system.forces:
        for body, (push, twist) in zip(force.bodies, force.loads(view), strict=True):
            total[slots[body]] = total[slots[body]] + jnp.concatenate([push, twist])
    return jnp.stack(total)


def singularities(system: System, positions: Any, rotations: Any) -> list[tuple[str, float]]:
    """Each constraint by name with how near its rows are to having no meaning: 0 there, 1 far away."""
    found = []
    for g in system.groups:
        q, u = (jnp.asarray(positions), jnp.asarray(rotations)), jnp.zeros((system.size, 6))
        values = over(g, lambda kind, q, u: kind.singular(view_of(kind, q, u, 0.0)), q, u)
        names = [system.row_names[first].rpartition(".")[0] or system.row_names[first] for first in g.first]
        found += list(zip(names, np.asarray(values).tolist(), strict=True))
    return found
