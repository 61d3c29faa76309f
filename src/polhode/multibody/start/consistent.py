"""A start that fulfils its constraints: what was given, projected in the metric of kinetic energy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._programs import stored, unchanged
from polhode.model.checks import InputError, check_unit, double_precision
from polhode.multibody.describe.state import State
from polhode.multibody.rows.group import Gathered
from polhode.multibody.rows.momenta import carried, extent, motion, pose
from polhode.multibody.start.correction import Correction
from polhode.multibody.start.dependent_rows import (
    allowed,
    clashing,
    companions_of,
    unrepaired,
    warn_of_what_nearly_follows,
)
from polhode.multibody.start.least_motion import Least, rows_at, sizes
from polhode.multibody.start.least_multipliers import least
from polhode.multibody.start.moment import moment

ASIDE = 1e-6
CLOSED = 1e-12  # a projected start is closed to this, relative to the terms of each row (m, rad, m/s, rad/s)


@unchanged()
def consistent_start(system: Gathered, t: float = 0.0) -> tuple[State, Correction]:
    """The start of a system at t (s) with φ = 0, ψ = 0 and the multipliers that go with it, and what had to
    be changed. Positions, then velocities, move by the least in the metric of kinetic energy. With hundreds
    of rows, none of which follows from others, this takes linear time; else the cube of their number.

    `simulate` moves a start by a little only; to run from what is found here, however far it is:
    `simulate(system.replaced(start=consistent_start(system)[0]), ...)`."""
    double_precision()
    check_unit("quaternions of the start", system.start.quaternions)
    if np.shape(system.start.positions) != (system.size, 3):
        raise InputError(
            f"the start must have a position of three numbers for each of {system.size} bodies; got an array of shape "
            f"{np.shape(system.start.positions)}"
        )
    system = system.bare()
    given = jax.tree.map(np.asarray, system.start)  # on the host: JAX would compile for each sum and product
    state, shift = _closed(system, given, t)
    state = _moving(system, state, t)
    for force in system.forces:
        force.look(system.seen(pose(state), motion(state), t))
    warn_of_what_nearly_follows(system, state, t)
    state = replace(state, multipliers=_multipliers(system, state, t))
    before = moment(system, given, t)
    change = np.asarray(motion(state) - motion(given))
    return jax.tree.map(jnp.asarray, state), Correction(
        system.names,
        system.row_names,
        shift[:, :3],
        shift[:, 3:],
        change[:, :3],
        change[:, 3:],
        np.asarray(before.phi),
        np.asarray(before.psi),
        tuple(system.row_names[i] for i in system.redundant),
    )


_carried = stored(carried, briefly=True)


def _closed(system: Gathered, state: State, t: float) -> tuple[State, np.ndarray]:
    """Newton's method for φ = 0 from the given positions."""
    hol = system.holonomic_rows
    moved = np.zeros((system.size, 6))
    if not len(hol):
        return state, moved
    for _ in range(30):
        phi = np.asarray(moment(system, state, t).phi)[hol]
        if not np.isfinite(phi).all():
            break
        rows = rows_at(system, state, t, hol)
        if _holds(system, rows, phi, rows.scale(sizes(state)), CLOSED):
            return state, moved
        d = -rows.motion(phi).reshape(system.size, 6)
        d *= min(1.0, 1.0 / max(1e-300, np.abs(d[:, 3:]).max()))  # turn by no more than a radian at once
        r, q = map(np.asarray, _carried(state, d))
        state, moved = replace(state, positions=r, quaternions=q), moved + d
    raise unrepaired(system, state, t, hol, phi)


def _holds(system: Gathered, rows: Least, left: np.ndarray, scale: np.ndarray, closed: float) -> bool:
    """Whether nothing is left of the rows but round-off, and what rows that follow from others may disagree by."""
    if (np.abs(left) <= closed * scale).all():
        return True
    against = rows.against(left)
    return bool(
        (np.abs(left - against) <= closed * scale).all() and (np.abs(against) <= system.tolerance * scale).all()
    )


def _moving(system: Gathered, state: State, t: float) -> State:
    """Velocities with ψ = 0; the rows are affine in them, so one projection is enough."""
    if not system.rows:
        return state
    rows = rows_at(system, state, t)
    given = np.asarray(motion(state))
    psi = np.asarray(moment(system, state, t).psi)
    asked = np.abs(psi)  # a drive asks for a velocity that nothing has yet
    for _ in range(3):  # and twice more against round-off
        du = rows.motion(psi).reshape(system.size, 6)
        state = replace(state, velocities=state.velocities - du[:, :3], omegas=state.omegas - du[:, 3:])
        psi = np.asarray(moment(system, state, t).psi)
    scale = rows.scale(_speeds(given) + _speeds(np.asarray(motion(state)))) + asked
    scale = scale + ASIDE * scale.max()  # a row of what stands still has the round-off of those that move
    if not _holds(system, rows, psi, scale, 1e3 * CLOSED):
        worst = int(np.argmax(np.abs(psi)))
        clash = clashing(system, state, t, np.arange(system.rows), psi) or [
            system.row_names[i] for i in companions_of(system, rows, worst)
        ]
        raise InputError(
            f"these constraints contradict each other at the start: {', '.join(clash)}; no velocities fulfil them all "
            f"({system.row_names[worst]!r} is off by {psi[worst]:.3g}). Remove or change one of them"
            f"{allowed(psi, scale)}"
        )
    return state


def _speeds(u: np.ndarray) -> np.ndarray:
    """The largest component of either velocity of each body, (N, 6)."""
    return np.repeat(np.abs(u).reshape(-1, 2, 3).max(axis=2), 3, axis=1)


def _multipliers(system: Gathered, state: State, t: float) -> np.ndarray:
    """λ of the index-1 equations, A M⁻¹(f + Aᵀλ) + A'ϑ = 0; the least where rows are redundant."""
    if not system.rows:
        return np.zeros(0)
    rows = rows_at(system, state, t)
    now = moment(system, state, t)
    lam = -rows.over(rows.A @ np.asarray(now.free).reshape(-1) + np.asarray(now.rate))
    if not system.redundant:
        return lam
    A = rows.A.toarray().reshape(system.rows, system.size, 6)
    return np.asarray(_least(system, A, lam, state.positions))


@stored(briefly=True)
def _least(system: Gathered, A: Any, lam: Any, positions: Any) -> Any:
    return least(A, lam, extent(system, positions))
