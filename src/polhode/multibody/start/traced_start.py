"""A consistent start as a pure function, for numbers that JAX traces."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp

from polhode.multibody.describe.state import State
from polhode.multibody.rows import assembly
from polhode.multibody.rows.group import Gathered
from polhode.multibody.rows.momenta import carried, extent, mass_inverse, motion, over_mass, pose
from polhode.multibody.start.least_multipliers import least
from polhode.multibody.start.moment import moment

_TIMES = 3  # Newton steps on positions: a start as far off as `simulate` would mend is closed to round-off
_CUT = 1e-12  # eigenvalues of A M⁻¹Aᵀ, its diagonal 1, that count as zero where rows follow from others
_OPEN = 1e-8  # of the size of the system (m), or rad: a start that is left open by more is none


def traced_start(system: Gathered, t: Any = 0.0) -> State:
    """What `consistent_start` gives, in so many operations however far the start is off, and differentiable: along
    what the constraints do not allow, derivatives vanish. NaN where that does not close it."""
    state = jax.tree.map(lambda x: jnp.asarray(x, dtype=float), system.start)
    if not system.rows:
        return state
    hol = system.holonomic_rows

    def moves(A: Any, b: Any) -> Any:
        """The least motion with A(motion) = b, in the metric of kinetic energy."""
        return over_mass(mass_inverse(system), jnp.einsum("kbi,k->bi", A, _solved(system, A, b)))

    for _ in range(_TIMES if len(hol) else 0):
        q = pose(state)
        r, quaternions = carried(state, -moves(assembly.rows(system, q, t)[hol], assembly.phi(system, q, t)[hol]))
        state = replace(state, positions=r, quaternions=quaternions)
    q = pose(state)
    A = assembly.rows(system, q, t)
    du = moves(A, assembly.psi(system, q, motion(state), t))
    state = replace(state, velocities=state.velocities - du[:, :3], omegas=state.omegas - du[:, 3:])
    lam = multipliers_at(system, state, t)
    left = jnp.max(jnp.abs(assembly.phi(system, q, t)[hol]), initial=0.0)
    mark = jnp.where(left <= _OPEN * (1.0 + extent(system, q[0])), 1.0, jnp.nan)
    return jax.tree.map(lambda x: x * mark, replace(state, multipliers=lam))


def _solved(system: Gathered, A: Any, b: Any) -> Any:
    """λ with A M⁻¹Aᵀλ = b."""
    n = 6 * system.size
    S = A.reshape(-1, n) @ over_mass(mass_inverse(system), A).reshape(-1, n).T
    size = jnp.diagonal(S)
    d = 1.0 / jnp.sqrt(jnp.where(size > 0.0, size, 1.0))
    S, b = S * d * d[:, None], d * b
    x = jnp.linalg.pinv(S, rtol=_CUT, hermitian=True) @ b if system.redundant else jnp.linalg.solve(S, b)
    return d * x


def multipliers_at(system: Gathered, state: State, t: Any) -> Any:
    """λ in a state, by the index-1 equations A M⁻¹(f + Aᵀλ) + A'ϑ = 0; the least where rows follow from others."""
    A, now = assembly.rows(system, pose(state), t), moment(system, state, t)
    lam = -_solved(system, A, jnp.einsum("kbi,bi->k", A, now.free) + now.rate)
    return least(A, lam, extent(system, state.positions)) if system.redundant else lam
