"""What is kept of a moment of a system, in one row of numbers, and where each stands in it."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from polhode.multibody.describe.state import State
from polhode.multibody.step.invariants import energy, residuals
from polhode.multibody.system import System


def layout(system: System) -> dict[str, tuple[slice, tuple[int, ...]]]:
    """Name -> (place in the row, shape)."""
    n, k = system.size, system.rows
    shapes: dict[str, tuple[int, ...]] = {
        "positions": (n, 3),
        "quaternions": (n, 4),
        "velocities": (n, 3),
        "omegas": (n, 3),
        "multipliers": (k,),
        "kinetic": (),
        "potential": (),
        "slip": (),
        "gap": (),
        "halvings": (),
        "renewals": (),
        "observables": (len(system.observables),),
        "traces": (len(system.traces), 3),
    }
    found, first = {}, 0
    for name, shape in shapes.items():
        size = math.prod(shape)
        found[name] = (slice(first, first + size), shape)
        first += size
    return found


def row_of(system: System, state: State, t: Any) -> Any:
    kinetic, potential = energy(system, state, t)
    psi, phi = residuals(system, state, t)
    holonomic = np.array(system.holonomic, dtype=bool)
    view = system.view(state, t)
    parts = {
        "kinetic": kinetic,
        "potential": potential,
        "slip": _largest(psi[~holonomic]),
        "gap": _largest(phi[holonomic]),
        "observables": _stacked([fn(view) for _, fn in system.observables]),
        "traces": _stacked([fn(view) for _, fn in system.traces]),
    }
    row = [jnp.ravel(jnp.asarray(parts[name] if name in parts else getattr(state, name))) for name in layout(system)]
    return jnp.concatenate([part.astype(float) for part in row])


def _largest(values: Any) -> Any:
    return jnp.max(jnp.abs(values), initial=0.0)


def _stacked(values: list[Any]) -> Any:
    return jnp.stack([jnp.asarray(v, dtype=float) for v in values]) if values else jnp.zeros(0)
