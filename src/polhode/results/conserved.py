"""What nature conserves in a motion, so that what a method changes of it is drift and nothing else is called so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.algebra import Quaternion, Vec3
from polhode.mechanics.loads import Free, Load
from polhode.multibody import Potential, View, assembly
from polhode.multibody.view import frame_of

if TYPE_CHECKING:
    from polhode.results.run import Run
    from polhode.results.system_run import SystemRun

_ROUND_OFF = 1e-12
_LOOKED_AT = 500  # samples, spread evenly over the run


def conserved_by_body(run: Run) -> tuple[str, ...]:
    """Of energy, kinetic, spatial_momentum, vertical_momentum and (of a non-twisting body) nonholonomic_momentum."""
    free, rigid = run.load is None or isinstance(run.load, Free), run.body.twist_axis is None
    if free:
        momenta = ("spatial_momentum", "vertical_momentum") if rigid else ("nonholonomic_momentum",)
        return ("energy", "kinetic", *momenta)
    load: Any = run.load
    energy = ("energy",) if load.conservative else ()
    return (*energy, "vertical_momentum") if rigid and not _pushes_about_the_vertical(run, load) else energy


def _pushes_about_the_vertical(run: Run, load: Load) -> bool:
    """Whether the torque has a vertical component at any of the samples."""
    which = _spread(len(run.t))
    batch = run.potential.shape[1:]
    t = np.broadcast_to(run.t[which].reshape(-1, *(1 for _ in batch)), (len(which), *batch)).ravel()
    attitude = run.state.attitude.array[which].reshape(-1, 4)
    omega = run.omega[which].reshape(-1, 3)

    def torque(t: Any, q: Any, omega: Any) -> Any:
        R = Quaternion(*q).matrix()
        return (R @ load.torque(t, R, Vec3(*omega))).array

    found = np.asarray(jax.jit(jax.vmap(torque))(t, attitude, omega))
    return not np.abs(found[:, 2]).max() <= _ROUND_OFF * np.abs(found).max()  # so that NaN does


def conserved_by_system(run: SystemRun) -> tuple[str, ...]:
    """Energy, where every force has one that does not depend on time, and no constraint moves by itself."""
    system = run.system
    if not all(force.conservative for force in system.forces):
        return ()
    potentials = [force for force in system.forces if isinstance(force, Potential)]
    if not potentials and not any(group.kind.rheonomic for group in system.groups):
        return ("energy",)
    bare = system.bare()
    which = _spread(len(run.t))

    def moves(t: Any, r: Any, R: Any) -> Any:
        """∂U/∂t of each potential, and ψ at rest of each row: what does work by itself."""
        view = lambda t: View(system.names, lambda i: frame_of(r[i], R[i], jnp.zeros(6)), t)  # noqa: E731
        rates = [jax.grad(lambda t, force=force: force.energy(view(t)))(t) for force in potentials]
        return jnp.concatenate([jnp.array(rates), assembly.drift(bare, (r, R), t)])

    found = jax.jit(jax.vmap(moves))(run.t[which], run.positions[which], run.attitude[which])
    return ("energy",) if np.abs(np.asarray(found)).max(initial=0.0) < _ROUND_OFF else ()


def _spread(count: int) -> np.ndarray:
    return np.unique(np.linspace(0, count - 1, min(count, _LOOKED_AT)).round().astype(int))
