"""A start that fulfils its constraints: what was given, projected in the metric of kinetic energy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._notices import warn
from polhode._programs import stored
from polhode.algebra.arrays import cross
from polhode.model.checks import InputError, double_precision
from polhode.multibody.describe.state import State
from polhode.multibody.rows import assembly
from polhode.multibody.rows.gathered import Gathered
from polhode.multibody.rows.momenta import carried, extent, mass_inverse, momentum, motion, over_mass, pose
from polhode.multibody.rows.rank import companions, weighted
from polhode.multibody.rows.row_blocks import blocks_of, matrix_of, over_masses
from polhode.multibody.start.least_motion import Least
from polhode.multibody.start.least_multipliers import least

_CLOSED = 1e-12  # a projected start is closed to this, relative to the terms of each row (m, rad, m/s, rad/s)
_NEAR = 1e-6  # rows this near to following from others are named when they disagree
_OUT_OF_TRUE = 1e-4  # and those this near, but not within the tolerance, are warned of
_LITTLE = 1e-3  # rows that disagree by less, relative to their terms, may be meant to agree
_MANY = 200  # rows: from here on A M⁻¹Aᵀ is factored as a sparse matrix, unless rows follow from others


@dataclass(frozen=True)
class Correction:
    """What `consistent_start` changed: per body, and what each row was before."""

    names: tuple[str, ...]
    row_names: tuple[str, ...]
    shift: np.ndarray  # (N, 3) m, space axes
    turn: np.ndarray  # (N, 3) rad, body axes
    velocity: np.ndarray  # (N, 3) m/s, space axes
    omega: np.ndarray  # (N, 3) rad/s, body axes
    phi: np.ndarray  # (k,) before
    psi: np.ndarray  # (k,) before
    redundant: tuple[str, ...]  # rows that follow from others

    @property
    def parts(self) -> tuple[np.ndarray, ...]:
        return (self.shift, self.turn, self.velocity, self.omega)

    def __str__(self) -> str:
        lines = []
        kinds = list(zip(self.parts, ("m", "rad", "m/s", "rad/s"), strict=True))
        least = [1e-6 * np.linalg.norm(part, axis=-1).max(initial=0.0) for part, _ in kinds]
        for i, name in enumerate(self.names):
            sizes = [(np.linalg.norm(part[i]), unit) for part, unit in kinds]
            words = [f"{s:.3g} {unit}" for (s, unit), low in zip(sizes, least, strict=True) if s > max(low, 1e-12)]
            if words:
                lines.append(f"{name}: moved by {', '.join(words)}")
        if self.redundant:
            lines.append(f"rows that follow from others: {', '.join(self.redundant)}")
        return "\n".join(lines) or "nothing was changed"


def consistent_start(system: Gathered, t: float = 0.0) -> tuple[State, Correction]:
    """The start of a system with φ = 0, ψ = 0 and the multipliers that go with it, and what had to
    be changed. Positions, then velocities, move by the least in the metric of kinetic energy. With hundreds
    of rows, none of which follows from others, this takes linear time; else the cube of their number.

    `simulate` moves a start by a little only; to run from what is found here, however far it is:
    `simulate(system.replaced(start=consistent_start(system)[0]), ...)`."""
    double_precision()
    system = system.bare()
    given = jax.tree.map(jnp.asarray, system.start)
    state, shift = _closed(system, given, t)
    state = _moving(system, state, t)
    _warn_of_what_nearly_follows(system, state, t)
    state = replace(state, multipliers=jnp.asarray(_multipliers(system, state, t)))
    psi, phi = (np.asarray(x) for x in _levels(system, given, t))
    change = np.asarray(motion(state) - motion(given))
    return state, Correction(
        system.names,
        system.row_names,
        shift[:, :3],
        shift[:, 3:],
        change[:, :3],
        change[:, 3:],
        phi,
        psi,
        tuple(system.row_names[i] for i in system.redundant),
    )


@stored(briefly=True)
def _levels(system: Gathered, state: State, t: Any) -> tuple[Any, Any]:
    q, u = pose(state), motion(state)
    return assembly.psi(system, q, u, t), assembly.phi(system, q, t)


@stored(briefly=True)
def _blocks(system: Gathered, state: State, t: Any) -> tuple[Any, Any]:
    A = blocks_of(system, pose(state), t)
    return A, over_masses(system, mass_inverse(system), A)


_carried = stored(carried, briefly=True)


def _rows(system: Gathered, state: State, t: Any, which: np.ndarray | None = None, cut: float | None = None) -> Least:
    """The rows, all or `which`, where the state is."""
    A, MA = _blocks(system, state, t)
    pair = (matrix_of(system, blocks) for blocks in (A, MA))
    A, MA = (x if which is None else x[which] for x in pair)
    sparse = A.shape[0] >= _MANY and not system.redundant
    cut = system.tolerance if cut is None else cut
    return Least(A, MA, np.asarray(system.masses), np.asarray(system.inertias), cut=cut, sparse=sparse)


def rows_that_follow(system: Gathered, state: State, t: float) -> list[str]:
    """Rows that follow from one another where the state is, with those from which they do."""
    if not 0 < system.rows < _MANY:
        return []
    weights = _rows(system.bare(), jax.tree.map(jnp.asarray, state), t).null
    return [system.row_names[i] for i in np.flatnonzero(np.abs(weights).max(axis=1, initial=0.0) > 1e-3)]


def _closed(system: Gathered, state: State, t: float) -> tuple[State, np.ndarray]:
    """Newton's method for φ = 0 from the given positions."""
    hol = system.holonomic_rows
    moved = np.zeros((system.size, 6))
    if not len(hol):
        return state, moved
    for _ in range(30):
        phi = np.asarray(_levels(system, state, t)[1])[hol]
        if not np.isfinite(phi).all():
            break
        rows = _rows(system, state, t, hol)
        if _holds(system, rows, phi, rows.scale(_sizes(state)), _CLOSED):
            return state, moved
        d = -rows.motion(phi).reshape(system.size, 6)
        d *= min(1.0, 1.0 / max(1e-300, np.abs(d[:, 3:]).max()))  # turn by no more than a radian at once
        r, q = _carried(state, jnp.asarray(d))
        state, moved = replace(state, positions=r, quaternions=q), moved + d
    raise _unrepaired(system, state, t, hol, phi)


def _sizes(state: State) -> np.ndarray:
    """Of what positions and attitudes are made of, (N, 6): m from the origin, rad."""
    far = np.abs(np.asarray(state.positions)).max(axis=1, keepdims=True)
    return np.concatenate([np.repeat(far, 3, axis=1), np.ones((len(far), 3))], axis=1)


def _holds(system: Gathered, rows: Least, left: np.ndarray, scale: np.ndarray, closed: float) -> bool:
    """Whether nothing is left of the rows but round-off, and what rows that follow from others may disagree by."""
    if (np.abs(left) <= closed * scale).all():
        return True
    against = rows.against(left)
    return bool(
        (np.abs(left - against) <= closed * scale).all() and (np.abs(against) <= system.tolerance * scale).all()
    )


def _unrepaired(system: Gathered, state: State, t: float, rows: np.ndarray, left: np.ndarray) -> InputError:
    names = [system.row_names[i] for i in rows]
    if not np.isfinite(left).all():
        return InputError(f"the start does not define {names[int(np.argmin(np.isfinite(left)))]!r}; move the bodies")
    worst = int(np.argmax(np.abs(left)))
    clash = _clash(system, state, t, rows, left)
    if clash:
        scale = _rows(system, state, t, rows).scale(_sizes(state))
        return InputError(
            f"these constraints contradict each other: {', '.join(clash)}; the best that can be done leaves "
            f"{left[worst]:.3g} in {names[worst]!r}. Remove or change one of them{_allowed(left, scale)}"
        )
    return InputError(
        f"the start violates {names[worst]!r} by {left[worst]:.3g} after every attempt to close it; "
        "start the bodies nearer to where the constraint holds"
    )


def _allowed(left: np.ndarray, scale: np.ndarray) -> str:
    """What else can be done where rows disagree by little."""
    part = float((np.abs(left) / np.where(scale > 0, scale, np.inf)).max())
    if part > _LITTLE:
        return ""
    return f"; or, if the system is no truer than that, allow it: System(..., tolerance={2 * part:.1g})"


def _clash(system: Gathered, state: State, t: float, rows: np.ndarray, left: np.ndarray) -> list[str]:
    """Names of rows that depend on each other and do not agree."""
    near = _rows(system, state, t, rows, max(_NEAR, system.tolerance))
    against = near.against(left) * near.unit
    if np.linalg.norm(against) < 0.5 * np.linalg.norm(left * near.unit):
        return []
    clash = np.flatnonzero(np.abs(against) > 1e-3 * np.abs(against).max())
    return [system.row_names[rows[i]] for i in clash] if len(clash) > 1 else []


def _moving(system: Gathered, state: State, t: float) -> State:
    """Velocities with ψ = 0; the rows are affine in them, so one projection is enough."""
    if not system.rows:
        return state
    rows = _rows(system, state, t)
    given = np.asarray(motion(state))
    psi = np.asarray(_levels(system, state, t)[0])
    asked = np.abs(psi)  # a drive asks for a velocity that nothing has yet
    for _ in range(3):  # and twice more against round-off
        du = jnp.asarray(rows.motion(psi).reshape(system.size, 6))
        state = replace(state, velocities=state.velocities - du[:, :3], omegas=state.omegas - du[:, 3:])
        psi = np.asarray(_levels(system, state, t)[0])
    scale = rows.scale(_speeds(given) + _speeds(np.asarray(motion(state)))) + asked
    if not _holds(system, rows, psi, scale, 1e3 * _CLOSED):
        worst = int(np.argmax(np.abs(psi)))
        clash = _clash(system, state, t, np.arange(system.rows), psi) or [
            system.row_names[i] for i in companions_of(system, rows, worst)
        ]
        raise InputError(
            f"these constraints contradict each other at the start: {', '.join(clash)}; no velocities fulfil them all "
            f"({system.row_names[worst]!r} is off by {psi[worst]:.3g}). Remove or change one of them"
            f"{_allowed(psi, scale)}"
        )
    return state


def _speeds(u: np.ndarray) -> np.ndarray:
    """The largest component of either velocity of each body, (N, 6)."""
    return np.repeat(np.abs(u).reshape(-1, 2, 3).max(axis=2), 3, axis=1)


def _warn_of_what_nearly_follows(system: Gathered, state: State, t: float) -> None:
    """Of rows that follow from others nearly enough to be meant to, and not within the tolerance."""
    if not system.rows or system.rows >= _MANY:
        return
    # By geometry alone: bodies of one mass, each with one moment of inertia for all axes. A light link between heavy
    # bodies is nothing out of true.
    masses, inertias = np.asarray(system.masses), np.asarray(system.inertias)
    gyration = np.trace(inertias, axis1=1, axis2=2) / masses / 3
    A = _rows(system, state, t).A
    u, s, _ = np.linalg.svd(weighted(A, np.ones_like(masses), gyration[:, None, None] * np.eye(3)).toarray())
    nearly = np.flatnonzero((s > system.tolerance) & (s < _OUT_OF_TRUE))
    if not len(nearly):
        return
    last = nearly[-1]
    share = np.abs(u[:, last])
    names = [system.row_names[i] for i in np.flatnonzero(share > 0.1 * share.max())]
    warn(
        f"these constraints follow from one another but for {s[nearly[0]]:.2g} of their size: {', '.join(names)}. If "
        "they are meant to, as those of a loop with parallel axes, make them true to more digits, or allow for it: "
        f"System(..., tolerance={2 * s[nearly[0]]:.1g}); as they are, they hold what a true loop would leave free"
    )


def companions_of(system: Gathered, rows: Least, row: int) -> list[int]:
    return companions(weighted(rows.A, system.masses, system.inertias), row)


@stored(briefly=True)
def accelerations(system: Gathered, state: State, t: Any) -> tuple[Any, Any]:
    """(M⁻¹(f + gyroscopic torque), ψ' at constant ϑ)."""
    q, u = pose(state), motion(state)
    p = momentum(system, u)
    push = assembly.forces(system, q, u, t) + jnp.concatenate([jnp.zeros_like(p[:, 3:]), cross(p[:, 3:], u[:, 3:])], -1)
    rate = jax.jvp(
        lambda e: assembly.psi(system, assembly.moved(q, e * u), u, t + e), (jnp.asarray(0.0),), (jnp.asarray(1.0),)
    )[1]
    return over_mass(mass_inverse(system), push), rate


def _multipliers(system: Gathered, state: State, t: float) -> np.ndarray:
    """λ of the index-1 equations, A M⁻¹(f + Aᵀλ) + A'ϑ = 0; the least where rows are redundant."""
    if not system.rows:
        return np.zeros(0)
    rows = _rows(system, state, t)
    a, rate = (np.asarray(x) for x in accelerations(system, state, t))
    lam = -rows.over(rows.A @ a.reshape(-1) + rate)
    if not system.redundant:
        return lam
    A = rows.A.toarray().reshape(system.rows, system.size, 6)
    return np.asarray(least(jnp.asarray(A), jnp.asarray(lam), extent(system, state.positions)))
