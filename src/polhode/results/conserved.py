"""What nature conserves in a motion, so that what a method changes of it is drift and nothing else is called so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._programs import stored
from polhode.algebra import Quaternion, Vec3
from polhode.multibody import Potential, View
from polhode.multibody.describe.views import frame_of
from polhode.multibody.rows import assembly
from polhode.rotation.loads import Free, Load
from polhode.simulation.driver import as_arrays

if TYPE_CHECKING:
    from polhode.results.run import Run
    from polhode.results.system_run import SystemRun

_NOTICED = 0.02  # of the largest kinetic energy of a system
_ROUND_OFF = 1e-12
_LOOKED_AT = 256  # samples


def conserved_by_body(run: Run) -> tuple[str, ...]:
    """Of energy, kinetic, spatial_momentum, vertical_momentum and (of a non-twisting body) nonholonomic_momentum."""
    free, rigid = run.load is None or isinstance(run.load, Free), run.body.twist_axis is None
    if free:
        momenta = ("spatial_momentum", "vertical_momentum") if rigid else ("nonholonomic_momentum",)
        return ("energy", "kinetic", *momenta)
    load: Any = run.load
    energy = ("energy",) if load.conservative else ()
    return (*energy, "vertical_momentum") if rigid and not _pushes_about_the_vertical(run, load) else energy


def grown_energy(run: Run) -> str | None:
    """A sentence where a motion that conserves energy changed it by more than all of it that moves."""
    if run.load is not None and not run.load.conservative:
        return None
    most = run.kinetic[0] + np.ptp(run.potential, axis=0)
    change = np.abs(run.energy - run.energy[0]).max(axis=0)
    if not (change > most).any():
        return None
    worst = np.unravel_index(np.argmax(change - most), np.shape(change))
    turned = run.step * np.linalg.norm(np.moveaxis(run.omega, 0, -2)[worst], axis=-1).max()
    return (
        f"{run.method.name}: the energy changed by {change[worst]:.3g} J, more than the {most[worst]:.3g} J there were "
        f"to move, though nothing drives the body: this is not its motion. A step of {run.step:g} s turns it by up to "
        f"{turned:.2g} rad; take one that turns it by less than one"
    )


def _pushes_about_the_vertical(run: Run, load: Load) -> bool:
    """Whether the torque has a vertical component at any of the samples looked at."""
    which = _spread(len(run.t))
    state = run.state
    attitude, omega = (np.stack([*part])[:, which] for part in (state.attitude, Vec3.of(run.omega)))
    now = load.traced(run.potential.shape[1:])
    found = np.asarray(_torques(as_arrays(now), run.t[which], Quaternion(*attitude), Vec3(*omega)))
    return not np.abs(found[..., 2]).max() <= _ROUND_OFF * np.abs(found).max()  # so that NaN does


@stored(briefly=True)
def _torques(load: Load, t: Any, q: Any, omega: Any) -> Any:
    """In space axes, (samples, *batch, 3)."""

    def of_one(t: Any, q: Any, omega: Any) -> Any:
        R = q.matrix()
        return (R @ load.torque(t, R, omega)).array

    return jax.vmap(of_one)(t, q, omega)


def conserved_by_system(run: SystemRun) -> tuple[str, ...]:
    """Energy, where every force has one that does not depend on time, and no constraint moves by itself."""
    system = run.system
    if not all(force.conservative for force in system.forces):
        return ()
    timed = any(isinstance(force, Potential) for force in system.forces)
    if not timed and not any(group.kind.rheonomic for group in system.groups):
        return ("energy",)
    which = _spread(len(run.t))
    found = _moves(as_arrays(system.bare()), run.t[which], run.positions[which], run.attitude[which])
    return ("energy",) if np.abs(np.asarray(found)).max(initial=0.0) < _ROUND_OFF else ()


@stored(briefly=True)
def _moves(system: Any, t: Any, r: Any, R: Any) -> Any:
    """∂U/∂t of each potential, and ψ at rest of each row, at each sample: what does work by itself."""
    potentials = [force for force in system.forces if isinstance(force, Potential)]

    def of_one(t: Any, r: Any, R: Any) -> Any:
        view = lambda t: View(system.names, lambda i: frame_of(r[i], R[i], jnp.zeros(6)), t, numbered=True)  # noqa: E731
        rates = [jax.grad(lambda t, force=force: force.energy(view(t)))(t) for force in potentials]
        return jnp.concatenate([jnp.array(rates), assembly.drift(system, (r, R), t)])

    return jax.vmap(of_one)(t, r, R)


def _spread(count: int) -> np.ndarray:
    """Samples spread evenly over a run, always as many, twice where there are fewer: one program serves all runs."""
    return np.linspace(0, count - 1, _LOOKED_AT).round().astype(int)


def lost_energy(run: SystemRun) -> str | None:
    """A sentence where the energy of a system changed though nothing moves it but what has an energy, and some of its
    steps were hard to solve: too long to follow the motion, whatever solved them."""
    change, most = float(np.ptp(run.energy)), float(run.kinetic.max())
    if not (run.renewals or run.halvings) or not change > _NOTICED * most or "energy" not in run.conserved:
        return None
    return (
        f"the energy changed by {change:.3g} J, with at most {most:.3g} J of motion, though nothing drives this "
        "system: its steps were solved, but are too long to follow it; take smaller ones"
    )
