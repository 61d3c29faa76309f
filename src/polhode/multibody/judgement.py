"""What a motion of a system conserves, and why a step of it failed."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._programs import stored
from polhode.multibody.describe.potential import Potential
from polhode.multibody.describe.state import State
from polhode.multibody.rows import assembly
from polhode.multibody.rows.group import Gathered

_FLAT = 0.05  # rad: a wheel this near to flat, or so at the end of the step that failed, is why it failed
_ROUND_OFF = 1e-12


def conserved_in(system: Gathered, states: State, t: np.ndarray) -> tuple[str, ...]:
    """Energy, where every force has one that does not depend on time, and no constraint moves by itself."""
    if not all(force.conservative for force in system.forces):
        return ()
    timed = any(isinstance(force, Potential) for force in system.forces)
    if not timed and not any(group.rheonomic for group in system.groups):
        return ("energy",)
    found = _moves(system, t, states.positions, np.asarray(states.rotations))
    return ("energy",) if np.abs(np.asarray(found)).max(initial=0.0) < _ROUND_OFF else ()


@stored(briefly=True)
def _moves(system: Gathered, t: Any, r: Any, R: Any) -> Any:
    """∂U/∂t of each potential, and ψ at rest of each row, at each sample: what does work by itself."""
    potentials = [force for force in system.forces if isinstance(force, Potential)]

    def of_one(t: Any, r: Any, R: Any) -> Any:
        view = lambda t: system.seen((r, R), jnp.zeros((system.size, 6)), t)  # noqa: E731
        rates = [jax.grad(lambda t, force=force: force.energy(view(t)))(t) for force in potentials]
        return jnp.concatenate([jnp.array(rates), assembly.drift(system, (r, R), t)])

    return jax.vmap(of_one)(t, r, R)


def why_it_failed(system: Gathered, state: State, h: float) -> str | None:
    """A wheel that falls flat is looked for first: the flatter it lies, the faster its contact runs around it, so
    that it may turn by π in a step as well."""
    u = jnp.concatenate([state.velocities, state.omegas], axis=-1)
    for name, nearness, rate in assembly.singularities(system, (jnp.asarray(state.positions), state.rotations), u):
        if min(nearness, nearness + rate * h) < _FLAT:
            return (
                f"{name!r} comes to where its contact has no meaning: the axis of the wheel is {nearness:.2g} rad "
                "from the normal of the plane, so the wheel lies flat. The motion up to there is kept; for a wheel "
                "that spins and only comes near to flat, take a smaller step"
            )
    turned = np.linalg.norm(np.asarray(state.omegas), axis=-1) * h
    if turned.max() > 0.9 * np.pi:
        name = system.names[int(turned.argmax())]
        return (
            f"{name!r} turns by {turned.max():.3g} rad in a step, and a step can turn a body by less than π; take "
            f"a step below {h * np.pi / turned.max() / 2:.2g}"
        )
    return None
