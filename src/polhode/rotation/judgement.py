"""Of one rotating body: which methods fit it, whether its load can be used, what its motion conserves."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from polhode._notices import warn
from polhode._programs import stored
from polhode.model.checks import InputError, numbers
from polhode.model.functions import failures_named
from polhode.rotation.loads import Free
from polhode.rotation.state import State

GIVEN = "called for one body, with R as an array of shape (3, 3) and omega of shape (3,) that JAX traces"
_ROUND_OFF = 1e-12


def check_fit(system: Any, method: Any) -> None:
    """An InputError if the method cannot move the body, or take its load."""
    if system.twist_axis is not None and not method.traits.non_twisting:
        raise InputError(
            f"{method.name} does not keep the non-twisting constraint of a NonTwistingBody; use em or dla "
            "(`polhode methods` marks those that do)"
        )
    takes = method.traits.loads
    if takes == "none" and not isinstance(system.load, Free):
        raise InputError(
            f"{method.name} moves free bodies only; with a load use strang-{method.name} (order 2) or "
            f"nystrom4-{method.name} (order 4)"
        )
    if takes == "attitude" and system.load.uses_omega:
        raise InputError(
            f"{method.name} takes loads that depend on attitude and time; this one depends on the angular velocity "
            "too. Use imidm, or another method whose loads are 'any' (`polhode methods NAME` tells)"
        )


def look_at(system: Any, state: State, t0: float) -> None:
    """Before a run: whether its load gives numbers there that can be used."""
    _look_at_twist(system, state)
    with np.errstate(over="ignore"):
        numbers("the kinetic energy at the start", state.kinetic(system))
    if isinstance(system.load, Free):
        return
    with failures_named("the load", GIVEN):
        potential, torque = _probe(system, state, t0)
    if np.shape(potential) not in ((), state.shape):
        raise InputError(
            f"the potential must be one number for each body, shape {state.shape}; its function returned shape "
            f"{np.shape(potential)}"
        )
    numbers("the potential energy at the start", potential)
    numbers("the torque at the start (body components)", torque.array)


def _look_at_twist(system: Any, state: State) -> None:
    if system.twist_axis is None:
        return
    omega = system.omega(state.momentum)
    twist = np.abs(system.twist_axis.dot(omega)).max()
    if twist > _ROUND_OFF * np.max(omega.norm()):
        warn(
            f"the body starts with w∥ = {twist:.3g} rad/s about d3, which the non-twisting frame does not allow: "
            "em will carry it along (the kinetic energy stays exact, Π1 and Π2 oscillate by O(w∥ h²)), dla will "
            "drop it in the first step. Give ω · d3 = 0"
        )


def conserved_in(system: Any, states: State, t: np.ndarray) -> tuple[str, ...]:
    """Of energy, kinetic, spatial_momentum, vertical_momentum and (of a non-twisting body)
    nonholonomic_momentum."""
    rigid = system.twist_axis is None
    if isinstance(system.load, Free):
        momenta = ("spatial_momentum", "vertical_momentum") if rigid else ("nonholonomic_momentum",)
        return ("energy", "kinetic", *momenta)
    energy = ("energy",) if system.load.conservative else ()
    if not rigid:
        return energy
    found = np.asarray(_torques(system, states, t))[np.isfinite(states.momentum.x)]  # NaN: of a member that is lost
    pushed = not np.abs(found[..., 2]).max() <= _ROUND_OFF * np.abs(found).max()  # so that NaN does
    return energy if pushed else (*energy, "vertical_momentum")


@stored(briefly=True)
def _probe(system: Any, state: State, t: Any) -> tuple[Any, Any]:
    """Potential energy and torque, to look at before a run."""
    q = state.attitude
    return system.potential(t, q), system.torque(t, q, system.omega(state.momentum))


@stored(briefly=True)
def _torques(system: Any, states: State, t: Any) -> Any:
    """In space axes, (samples, *batch, 3)."""

    def of_one(state: State, t: Any) -> Any:
        R = state.attitude.matrix()
        return (R @ system.load.torque(t, R, system.omega(state.momentum))).array

    return jax.vmap(of_one)(State(states.attitude, states.momentum), t)
