"""Poses, momenta and masses as a step handles them."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from polhode.algebra import Quaternion, Vec3, exp
from polhode.algebra.arrays import dot, inverse3, matrices, turn
from polhode.algebra.computed_once import computed_once
from polhode.multibody.describe.state import State
from polhode.multibody.rows.group import Gathered


def motion(state: State) -> Any:
    """ϑ, (N, 6): v in space axes, Ω in body axes; numpy of numpy."""
    both = state.velocities, state.omegas
    library: Any = np if all(isinstance(x, np.ndarray) for x in both) else jnp
    return library.concatenate(both, axis=-1)


def pose(state: State) -> tuple[Any, Any]:
    return jnp.asarray(state.positions), state.rotations


@computed_once
def carried(state: State, d: Any) -> tuple[Any, Any]:
    """(27): r + d and q ∘ exp(d) for a displacement d, (N, 6)."""
    q = Quaternion(*(state.quaternions[..., i] for i in range(4)))
    e = exp(Vec3(d[..., 3], d[..., 4], d[..., 5]))
    turned = (q * e).renormalized()
    return state.positions + d[..., :3], jnp.stack(list(turned), axis=-1)


@computed_once
def posed(place: tuple[Any, Any]) -> tuple[Any, Any]:
    """Positions and quaternions as positions and rotations."""
    return place[0], matrices(place[1])


def in_space(R: Any, g: Any) -> Any:
    """𝒜g: the last three of each six from body to space axes."""
    return jnp.concatenate([g[..., :3], turn(R, g[..., 3:])], axis=-1)


def as_torques(s: Any) -> Any:
    """(N, 3) as the last three of each six."""
    return jnp.pad(s, ((0, 0), (3, 0)))


def momentum(system: Gathered, u: Any) -> Any:
    """Mϑ, (N, 6)."""
    return jnp.concatenate([system.masses[:, None] * u[..., :3], turn(system.inertias, u[..., 3:])], axis=-1)


def mass_inverse(system: Gathered) -> tuple[Any, Any]:
    """1/m and J⁻¹."""
    return 1.0 / jnp.asarray(system.masses), inverse3(jnp.asarray(system.inertias))


def over_mass(inverse: tuple[Any, Any], p: Any) -> Any:
    """M⁻¹p, (..., N, 6)."""
    per_mass, per_inertia = inverse
    return jnp.concatenate([per_mass[:, None] * p[..., :3], turn(per_inertia, p[..., 3:])], axis=-1)


def gyration(system: Gathered) -> Any:
    """The largest radius of gyration of a body."""
    J = jnp.asarray(system.inertias)
    return jnp.max(jnp.sqrt((J[:, 0, 0] + J[:, 1, 1] + J[:, 2, 2]) / system.masses))


def extent(system: Gathered, r: Any) -> Any:
    """How large a system is, by where its bodies are and by their own size."""
    d = r - r[0]
    return jnp.max(jnp.sqrt(dot(d, d))) + gyration(system)
