"""What can be looked at in the motion of a system. State arrays may have samples in front of their own axes."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np

from polhode.algebra import Quaternion
from polhode.model.functions import is_traced
from polhode.model.quantity import Quantity
from polhode.multibody.rows import assembly
from polhode.multibody.rows.group import Gathered
from polhode.multibody.rows.invariants import potential_energy
from polhode.multibody.rows.momenta import motion, pose

_AT_A_TIME = 4096  # samples


def _kinetic(system: Any, states: Any, t: Any) -> Any:
    parts = (system.masses, system.inertias, states.velocities, states.omegas)
    library: Any = jnp if is_traced(parts) else np
    m, J, v, omega = map(library.asarray, parts)
    moved = library.sum(m[:, None] * v * v, axis=(-1, -2))
    return 0.5 * (moved + library.einsum("...bi,bij,...bj->...", omega, J, omega))


def _momentum(system: Any, states: Any, t: Any) -> Any:
    """About the origin, space axes."""
    mass, J = np.asarray(system.masses), np.asarray(system.inertias)
    r, q, v, omega = (np.asarray(getattr(states, n)) for n in ("positions", "quaternions", "velocities", "omegas"))
    parts = []
    for first in range(0, len(r), _AT_A_TIME):  # the matrices of all samples would take more than the samples
        now = slice(first, first + _AT_A_TIME)
        R = np.asarray(Quaternion.of(q[now]).matrix().array)
        spin = np.einsum("nbij,bjk,nbk->ni", R, J, omega[now])
        parts.append(spin + np.cross(r[now], mass[:, None] * v[now]).sum(axis=1))
    return np.concatenate(parts)


def _slip(system: Gathered, state: Any, t: Any) -> Any:
    rolls = ~np.array(system.holonomic, dtype=bool)
    return _largest(assembly.psi(system, pose(state), motion(state), t)[rolls])


def _gap(system: Gathered, state: Any, t: Any) -> Any:
    return _largest(assembly.phi(system, pose(state), t)[np.array(system.holonomic, dtype=bool)])


def _largest(values: Any) -> Any:
    return jnp.max(jnp.abs(values), initial=0.0)


def _traces(system: Any, state: Any, t: Any) -> Any:
    view = system.view(state, t)
    points = [jnp.asarray(fn(view), dtype=float) for _, fn in system.traces]
    return jnp.stack(points) if points else jnp.zeros((0, 3))


def _observed(number: int, system: Any, state: Any, t: Any) -> Any:
    return system.observables[number].fn(system.view(state, t))


_VECTOR = ("body", "axis")

OF_SYSTEMS = (
    Quantity("position", lambda s, x, t: x.positions, "m", "centre of mass, space axes", _VECTOR, whole=True,
             attribute="positions"),
    Quantity("attitude", lambda s, x, t: x.quaternions, "1", "attitude, body to space, as w, x, y, z",
             ("body", "quaternion"), whole=True, attribute="quaternions"),
    Quantity("velocity", lambda s, x, t: x.velocities, "m/s", "of the centre of mass, space axes", _VECTOR, whole=True,
             attribute="velocities"),
    Quantity("omega", lambda s, x, t: x.omegas, "rad/s", "angular velocity, body axes", _VECTOR, whole=True,
             attribute="omegas"),
    Quantity("force", lambda s, x, t: x.multipliers, "N or N m", "of each row, half a step back; first at the start",
             ("row",), whole=True, attribute="multipliers"),
    Quantity("kinetic", _kinetic, "J", "kinetic energy", whole=True),
    Quantity("potential", lambda s, x, t: potential_energy(s, x, t), "J", "potential energy"),
    Quantity("energy", None, "J", "total energy", made_of=("kinetic", "potential")),
    Quantity("slip", _slip, "m/s or rad/s", "largest residual of nonholonomic rows"),
    Quantity("gap", _gap, "m or rad", "largest residual of holonomic rows"),
    Quantity("spatial_momentum", _momentum, "kg m2/s", "angular momentum about the origin, space axes", ("axis",),
             whole=True, attribute="angular_momentum"),
    Quantity("trace", _traces, "m", "points followed, space axes", ("point", "axis")),
)  # fmt: skip


def observed(names: tuple[str, ...], units: tuple[str, ...]) -> tuple[Quantity, ...]:
    """Those that a user named; one whose name is taken is an `observable_` of it in a dataset."""
    taken = {q.name for q in OF_SYSTEMS} | {"t", "step_count", "body", "row", "point", "axis", "quaternion"}
    return tuple(
        Quantity(f"observable_{name}" if name in taken else name, partial(_observed, i), unit, name, given=name)
        for i, (name, unit) in enumerate(zip(names, units, strict=True))
    )
