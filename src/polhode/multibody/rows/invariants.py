"""What a motion conserves, and how well its constraints hold."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from polhode.algebra.arrays import cross
from polhode.multibody.describe.state import State
from polhode.multibody.rows import assembly
from polhode.multibody.rows.group import Gathered
from polhode.multibody.rows.momenta import in_space, momentum, motion, pose


def energy(system: Gathered, state: State, t: Any = 0.0) -> tuple[Any, Any]:
    """Kinetic and potential energy (J) at time t (s)."""
    u = motion(state)
    return 0.5 * jnp.sum(momentum(system, u) * u), potential_energy(system, state, t)


def potential_energy(system: Gathered, state: State, t: Any = 0.0) -> Any:
    view = system.view(state, t)
    potential = jnp.asarray(0.0)
    for force in system.forces:
        # U = -f · r of a constant force, over all bodies at once: body by body, hundreds take long to compile.
        if force.constant:
            potential = potential - jnp.sum(force.everywhere(system.masses)[:, :3] * state.positions)
        else:
            potential = potential + force.energy(view)
    return potential


def linear_momentum(system: Gathered, state: State) -> Any:
    """Σ m v (kg m/s, space axes)."""
    return jnp.sum(momentum(system, motion(state))[:, :3], axis=0)


def angular_momentum(system: Gathered, state: State, about: Any = (0.0, 0.0, 0.0)) -> Any:
    """Σ (r - about) × m v + R J Ω (kg m²/s, space axes), of a point `about` (m)."""
    p = in_space(state.rotations, momentum(system, motion(state)))
    return jnp.sum(cross(state.positions - jnp.asarray(about, dtype=float), p[:, :3]) + p[:, 3:], axis=0)


def residuals(system: Gathered, state: State, t: Any = 0.0) -> tuple[Any, Any]:
    """ψ (k,) of every row (m/s or rad/s) and φ (k,) (m or rad), 0 on nonholonomic rows, at time t (s);
    `system.row_names` names them."""
    q = pose(state)
    return assembly.psi(system, q, motion(state), t), assembly.phi(system, q, t)
