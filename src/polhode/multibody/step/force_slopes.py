"""Derivatives of applied forces, each among the bodies that it acts on and those that it reads."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.multibody.describe.views import View, bodies_used, frame_of
from polhode.multibody.rows import assembly
from polhode.multibody.rows.momenta import in_space
from polhode.multibody.system import System


def force_slopes(system: System, q: Any, u: Any, t: Any) -> list[tuple[np.ndarray, np.ndarray, Any, Any]]:
    """Of each force that is not constant: the bodies it acts on, those it reads, and ∂f/∂q and ∂f/∂ϑ,
    (acts, 6, reads, 6), in the body axes of q."""
    return [_slopes(system, force, q, u, t) for force in system.forces if not force.constant]


def _slopes(system: System, force: Any, q: Any, u: Any, t: Any) -> tuple[np.ndarray, np.ndarray, Any, Any]:
    def loads(view: View) -> Any:
        return jnp.stack([jnp.concatenate(load) for load in force.loads(view)])

    names, _ = bodies_used(loads, system.names, "a force")
    names = tuple(dict.fromkeys((*force.bodies, *names)))
    reads = np.array([system.names.index(name) for name in names])
    acts = len(force.bodies)
    at = (q[0][reads], q[1][reads])
    back = jnp.swapaxes(at[1][:acts], -1, -2)

    def f(d: Any, u: Any) -> Any:
        r, R = assembly.moved(at, d)
        found = loads(View(names, lambda i: frame_of(r[i], R[i], u[i]), t))
        return in_space(back, in_space(R[:acts], found))

    by_q, by_u = jax.jacfwd(f, argnums=(0, 1))(jnp.zeros((len(reads), 6)), u[reads])
    return reads[:acts], reads, by_q, by_u
