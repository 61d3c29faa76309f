"""`Moment`: all that a start is made from, by one program."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from polhode._programs import stored
from polhode.algebra.arrays import cross
from polhode.model.pytree import tree
from polhode.multibody.describe.state import State
from polhode.multibody.rows import assembly
from polhode.multibody.rows.group import Gathered
from polhode.multibody.rows.momenta import mass_inverse, momentum, motion, over_mass, pose
from polhode.multibody.rows.row_blocks import Blocks, blocks_of, over_masses


@tree
class Moment:
    """Of a system in a state."""

    phi: Any
    psi: Any
    A: Blocks
    MA: Blocks  # M⁻¹aᵀ of every row a
    free: Any  # accelerations that nothing holds back: M⁻¹(f + gyroscopic torque)
    rate: Any  # ψ' at constant ϑ


@stored(briefly=True)
def moment(system: Gathered, state: State, t: Any) -> Moment:
    q, u, per_mass = pose(state), motion(state), mass_inverse(system)
    A, p = blocks_of(system, q, t), momentum(system, u)
    push = assembly.forces(system, q, u, t) + jnp.concatenate([jnp.zeros_like(p[:, 3:]), cross(p[:, 3:], u[:, 3:])], -1)
    psi, rate = jax.jvp(
        lambda e: assembly.psi(system, assembly.moved(q, e * u), u, t + e), (jnp.asarray(0.0),), (jnp.asarray(1.0),)
    )
    MA = over_masses(system, per_mass, A)
    return Moment(assembly.phi(system, q, t), psi, A, MA, over_mass(per_mass, push), rate)
