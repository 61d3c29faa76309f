"""A start that fulfils its constraints: what was given, projected in the metric of kinetic energy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from polhode._programs import stored
from polhode.mechanics.checks import InputError, double_precision
from polhode.multibody import assembly
from polhode.multibody.arrays import cross
from polhode.multibody.moment import carried, mass_inverse, momentum, motion, over_mass, pose
from polhode.multibody.rank import companions, weighted
from polhode.multibody.sparse_rows import blocks_of, matrix_of, over_masses
from polhode.multibody.state import State
from polhode.multibody.system import System

_CLOSED = 1e-12  # a projected start is closed to this, relative to its size (m, rad, m/s, rad/s)
_CUT = 1e-10  # singular values below this part of the largest count as zero
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
        for i, name in enumerate(self.names):
            sizes = [np.linalg.norm(x[i]) for x in (self.shift, self.turn, self.velocity, self.omega)]
            if max(sizes) > 1e-9:
                words = [
                    f"{s:.3g} {unit}" for s, unit in zip(sizes, ("m", "rad", "m/s", "rad/s"), strict=True) if s > 1e-9
                ]
                lines.append(f"{name}: moved by {', '.join(words)}")
        if self.redundant:
            lines.append(f"rows that follow from others: {', '.join(self.redundant)}")
        return "\n".join(lines) or "nothing was changed"


def consistent_start(system: System, t: float = 0.0) -> tuple[State, Correction]:
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
def _levels(system: System, state: State, t: Any) -> tuple[Any, Any]:
    q, u = pose(state), motion(state)
    return assembly.psi(system, q, u, t), assembly.phi(system, q, t)


def _matrices(system: System, state: State, t: Any) -> tuple[sp.csr_array, sp.csr_array]:
    """A and the transpose of M⁻¹Aᵀ, (k, 6N)."""
    A, MA = _blocks(system, state, t)
    return matrix_of(system, A), matrix_of(system, MA)


@stored(briefly=True)
def _blocks(system: System, state: State, t: Any) -> tuple[Any, Any]:
    A = blocks_of(system, pose(state), t)
    return A, over_masses(system, mass_inverse(system), A)


_carried = stored(carried, briefly=True)


def _least(system: System, A: sp.csr_array, MA: sp.csr_array, b: np.ndarray) -> np.ndarray:
    """The least x in the metric of M with Ax = b, or nearest to it."""
    return MA.T @ _over_rows(system, A, MA, b)


def _over_rows(system: System, A: sp.csr_array, MA: sp.csr_array, b: np.ndarray) -> np.ndarray:
    """(A M⁻¹Aᵀ)⁻¹b; the least such vector, or the nearest, where rows follow from others."""
    if len(b) >= _MANY and not system.redundant:
        try:
            return splu((A @ MA.T).tocsc(), permc_spec="MMD_AT_PLUS_A").solve(b)
        except RuntimeError:  # singular away from the start, where rows were found independent
            pass
    return np.linalg.pinv(A.toarray() @ MA.toarray().T, rcond=_CUT, hermitian=True) @ b


def _closed(system: System, state: State, t: float) -> tuple[State, np.ndarray]:
    """Newton's method for φ = 0 from the given positions."""
    hol = system.holonomic_rows
    moved = np.zeros((system.size, 6))
    if not len(hol):
        return state, moved
    size = 1.0 + float(np.abs(state.positions).max())
    for _ in range(30):
        phi = np.asarray(_levels(system, state, t)[1])[hol]
        if not np.isfinite(phi).all():
            break
        if np.abs(phi).max() <= _CLOSED * size:
            return state, moved
        A, MA = (x[hol] for x in _matrices(system, state, t))
        d = -_least(system, A, MA, phi).reshape(system.size, 6)
        d *= min(1.0, 1.0 / max(1e-300, np.abs(d[:, 3:]).max()))  # turn by no more than a radian at once
        r, q = _carried(state, jnp.asarray(d))
        state, moved = replace(state, positions=r, quaternions=q), moved + d
    raise _unrepaired(system, state, t, hol, phi)


def _unrepaired(system: System, state: State, t: float, rows: np.ndarray, left: np.ndarray) -> InputError:
    names = [system.row_names[i] for i in rows]
    if not np.isfinite(left).all():
        return InputError(f"the start does not define {names[int(np.argmin(np.isfinite(left)))]!r}; move the bodies")
    worst = int(np.argmax(np.abs(left)))
    clash = _clash(system, state, t, rows, left)
    if clash:
        return InputError(
            f"these constraints contradict each other: {', '.join(clash)}; the best that can be done leaves "
            f"{left[worst]:.3g} in {names[worst]!r}. Remove or change one of them"
        )
    return InputError(
        f"the start violates {names[worst]!r} by {left[worst]:.3g} after every attempt to close it; "
        "start the bodies nearer to where the constraint holds"
    )


def _clash(system: System, state: State, t: float, rows: np.ndarray, left: np.ndarray) -> list[str]:
    """Names of rows that depend on each other and do not agree."""
    W = weighted(_matrices(system, state, t)[0][rows], system.masses, system.inertias).toarray()
    u, s, _ = np.linalg.svd(W)
    null = u[:, np.sum(s > 1e-6 * s[0]) :]  # combinations of rows that are zero
    against = null @ (null.T @ left)
    if np.linalg.norm(against) < 0.5 * np.linalg.norm(left):
        return []
    clash = np.flatnonzero(np.abs(against) > 1e-3 * np.abs(against).max())
    return [system.row_names[rows[i]] for i in clash] if len(clash) > 1 else []


def _moving(system: System, state: State, t: float) -> State:
    """Velocities with ψ = 0; the rows are affine in them, so one projection is enough."""
    if not system.rows:
        return state
    scale = 1.0 + float(np.abs(motion(state)).max())
    for _ in range(3):  # and twice more against round-off
        psi = np.asarray(_levels(system, state, t)[0])
        A, MA = _matrices(system, state, t)
        du = jnp.asarray(_least(system, A, MA, psi).reshape(system.size, 6))
        state = replace(state, velocities=state.velocities - du[:, :3], omegas=state.omegas - du[:, 3:])
    psi = np.asarray(_levels(system, state, t)[0])
    if not np.abs(psi).max() <= 1e3 * _CLOSED * scale:
        every = np.arange(system.rows)
        worst = int(np.argmax(np.abs(psi)))
        clash = _clash(system, state, t, every, psi) or [
            system.row_names[i] for i in companions_of(system, state, t, worst)
        ]
        raise InputError(
            f"these constraints contradict each other at the start: {', '.join(clash)}; no velocities fulfil them all "
            f"({system.row_names[worst]!r} is off by {psi[worst]:.3g}). Remove or change one of them"
        )
    return state


def companions_of(system: System, state: State, t: float, row: int) -> list[int]:
    return companions(weighted(_matrices(system, state, t)[0], system.masses, system.inertias), row)


@stored(briefly=True)
def _accelerations(system: System, state: State, t: Any) -> tuple[Any, Any]:
    """(M⁻¹(f + gyroscopic torque), ψ' at constant ϑ)."""
    q, u = pose(state), motion(state)
    p = momentum(system, u)
    push = assembly.forces(system, q, u, t) + jnp.concatenate([jnp.zeros_like(p[:, 3:]), cross(p[:, 3:], u[:, 3:])], -1)
    rate = jax.jvp(
        lambda e: assembly.psi(system, assembly.moved(q, e * u), u, t + e), (jnp.asarray(0.0),), (jnp.asarray(1.0),)
    )[1]
    return over_mass(mass_inverse(system), push), rate


def _multipliers(system: System, state: State, t: float) -> np.ndarray:
    """λ of the index-1 equations, A M⁻¹(f + Aᵀλ) + A'ϑ = 0; of least norm where rows are redundant."""
    if not system.rows:
        return np.zeros(0)
    A, MA = _matrices(system, state, t)
    a, rate = (np.asarray(x) for x in _accelerations(system, state, t))
    return -_over_rows(system, A, MA, A @ a.reshape(-1) + rate)
