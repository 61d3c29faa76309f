"""Back onto the constraints after a step: positions, then velocities, in the metric of kinetic energy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax.numpy as jnp

from polhode.multibody.describe.state import State
from polhode.multibody.rows import assembly
from polhode.multibody.rows.momenta import carried, mass_inverse, motion, over_mass, pose
from polhode.multibody.system import System

_TIMES = 2  # Newton steps on positions; a step leaves φ of order h³, so the second reaches round-off


def projected(system: System, state: State, t: Any) -> State:
    """The nearest state with φ = 0 and ψ = 0."""
    hol, n = system.holonomic_rows, 6 * system.size
    per_mass = mass_inverse(system)
    for _ in range(_TIMES if len(hol) else 0):
        A = assembly.rows(system, pose(state), t)[hol]
        d = _least(A, over_mass(per_mass, A), assembly.phi(system, pose(state), t)[hol], n)
        r, q = carried(state, -d)
        state = replace(state, positions=r, quaternions=q)
    A = assembly.rows(system, pose(state), t)
    d = _least(A, over_mass(per_mass, A), assembly.psi(system, pose(state), motion(state), t), n)
    return replace(state, velocities=state.velocities - d[:, :3], omegas=state.omegas - d[:, 3:])


def _least(A: Any, MA: Any, b: Any, n: int) -> Any:
    A, MA = A.reshape(-1, n), MA.reshape(-1, n)
    return (MA.T @ (jnp.linalg.pinv(A @ MA.T, hermitian=True) @ b)).reshape(-1, 6)
