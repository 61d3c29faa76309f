"""Runs of one rotating body, or a batch of them: into principal axes and back, loads looked at first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from polhode._notices import warn
from polhode._programs import stored
from polhode._signals import Signals
from polhode.algebra import Quaternion, Vec3
from polhode.methods import Method
from polhode.model import InputError
from polhode.model.checks import numbers
from polhode.model.functions import failures_named
from polhode.rotation import RigidBody, Rotation, State, from_principal, to_principal
from polhode.rotation.loads import Load
from polhode.simulation.driver import Plan, Samples, as_arrays, integrate

LATER = 25  # numbers a sample takes in a dataset and on the way to it; measured 22 to 25
_AT_A_TIME = 4096  # samples
_ENERGIES = {"kinetic energy": 7, "potential energy": 8}  # their places in `Method.kept`
_GIVEN = "called for one body, with R as an array of shape (3, 3) and omega of shape (3,) that JAX traces"


@dataclass(frozen=True)
class Trajectory(Samples):
    """Samples of a run in the user's body frame, and how the run went."""

    @property
    def state(self) -> State:
        """Components of shape (samples, *batch)."""
        return _state_of(self.values)

    @property
    def kinetic(self) -> np.ndarray:
        return self.values[:, _ENERGIES["kinetic energy"]]

    @property
    def potential(self) -> np.ndarray:
        return self.values[:, _ENERGIES["potential energy"]]


def rotate(
    body: RigidBody, load: Load | None, start: State, method: Method, plan: Plan, *, progress: bool | None,
    signals: Signals,
) -> Trajectory:  # fmt: skip
    shape = np.broadcast_shapes(*map(np.shape, jax.tree.leaves(start)))
    if 0 in shape:
        raise InputError(f"the start is an empty batch, of shape {shape}; give at least one member")
    start = jax.tree.map(lambda x: np.broadcast_to(x, shape), as_arrays(start))
    unknown = [x for x in jax.tree.leaves(load) if isinstance(x, Load)]
    if unknown:
        raise InputError(
            f"the load is of the class {type(unknown[0]).__name__}, which JAX cannot take apart; make it a dataclass "
            "and register it with jax.tree_util.register_dataclass"
        )
    with failures_named("the load", _GIVEN):
        now = None if load is None else load.traced(shape)  # what its functions read may have changed
    system = as_arrays(Rotation(body, now).principal)
    method.check_system(system)
    state = as_arrays(method.begin(system, to_principal(body, start)))
    _warn_of_twist(system, state)
    with np.errstate(over="ignore"):
        numbers("the kinetic energy at the start", method.kinetic_energy(system, state))
    _look_at_load(method, system, state)

    def sample(state: State, t: Any) -> Any:
        return _probe(method, system, state, t)[2]

    samples = integrate(
        method, system, state, plan, sample=sample, finite=_ENERGIES, later=LATER, progress=progress, signals=signals
    )
    if body.axes is not None:
        _turn_in_place(body, samples.values)
    return Trajectory(**samples.__dict__)


def _state_of(values: np.ndarray) -> State:
    columns = np.moveaxis(values, 1, 0)
    return State(Quaternion(*columns[:4]), Vec3(*columns[4:7]))


def _turn_in_place(body: RigidBody, values: np.ndarray) -> None:
    """Samples in principal axes into the user's body frame, some at a time: a copy of all would double the memory."""
    for first in range(0, len(values), _AT_A_TIME):
        rows = values[first : first + _AT_A_TIME]
        state = from_principal(body, _state_of(rows))
        for place, column in enumerate((*state.attitude, *state.momentum)):
            rows[:, place] = column


def _warn_of_twist(system: Rotation, state: State) -> None:
    n = system.twist_axis
    if n is None:
        return
    omega = system.omega(state.momentum)
    twist = np.abs(n.dot(omega)).max()
    if twist > 1e-12 * np.max(omega.norm()):
        warn(
            f"the body starts with w∥ = {twist:.3g} rad/s about d3, which the non-twisting frame does not allow: em "
            "will carry it along (the kinetic energy stays exact, Π1 and Π2 oscillate by O(w∥ h²)), dla will drop it "
            "in the first step. Give ω · d3 = 0"
        )


@stored(static=1, briefly=True)
def _probe(method: Method, system: Rotation, state: State, t: Any) -> tuple[Any, Any, Any]:
    """Potential energy, torque and the numbers kept at the start, to look at before a run."""
    q = state.attitude
    potential = system.potential(t, q)
    shape = np.shape(state.momentum.x)
    usable = np.shape(potential) in ((), shape)
    return (
        potential,
        system.torque(t, q, system.omega(state.momentum)),
        method.kept(system, state, t) if usable else 0.0,
    )


def _look_at_load(method: Method, system: Rotation, state: State) -> None:
    """Before the run: does the load give usable numbers?"""
    with failures_named("the load", _GIVEN):
        potential, torque, _ = jax.device_get(_probe(method, system, state, 0.0))
    shape = np.shape(state.momentum.x)
    if np.shape(potential) not in ((), shape):
        raise InputError(
            f"the potential must be one number for each body, shape {shape}; its function returned shape "
            f"{np.shape(potential)}"
        )
    numbers("the potential energy at the start", potential)
    numbers("the torque at the start (body components)", torque.array)
