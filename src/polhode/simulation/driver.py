"""`integrate`: the one driver for every run; in blocks, so that it can be watched and stopped."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
import psutil

from polhode.algebra import Quaternion, Vec3
from polhode.mechanics import InputError, RigidBody, State, System, from_principal, to_principal
from polhode.mechanics.checks import numbers, positive, whole
from polhode.mechanics.loads import Load
from polhode.methods import Method
from polhode.simulation.loop import KEPT, Block, capacity_for, probe_load, run_block
from polhode.simulation.progress import Progress
from polhode.simulation.status import Status

_BLOCK_SECONDS = 0.1  # between looks at the clock, the progress bar and Ctrl-C
_FIRST_BLOCK = 16_384  # steps


@dataclass(frozen=True)
class Trajectory:
    """Samples of a run in the user's body frame, and how the run went."""

    steps: np.ndarray  # step counts of the samples; t = t0 + steps * step
    state: State  # components of shape (samples, *batch)
    kinetic: np.ndarray
    potential: np.ndarray
    status: Status
    seconds: float
    iterations: float  # a step, on average
    worst: float  # largest relative error left in a solved step
    failure: dict[str, Any] = field(default_factory=dict)


def count_steps(step: float, until: float | None, steps: int | None) -> tuple[int, str | None]:
    """How many steps, and a notice where `until` is not a whole number of them."""
    if (until is None) == (steps is None):
        raise InputError(f"give either until or steps; got until={until!r}, steps={steps!r}")
    if steps is not None:
        return whole("steps", steps, 0), None
    ratio = positive("until", until) / step
    if ratio > 2**62:
        raise InputError(f"until = {until!r} is {ratio:.3g} steps of {step!r}; at most 2**62 are counted")
    count = round(ratio)
    if abs(count - ratio) <= 1e-9 * max(1.0, ratio):
        return count, None
    count = math.floor(ratio)
    if count == 0:
        raise InputError(f"until = {until!r} is shorter than one step of {step!r}; take a smaller step")
    return count, (
        f"until = {until!r} is not a whole number of steps of {step!r}: the run ends at step {count}, "
        f"t = {count * step:.12g}"
    )


def integrate(
    body: RigidBody,
    load: Load | None,
    start: State,
    method: Method,
    *,
    step: float,
    until: float | None,
    steps: int | None,
    every: int,
    progress: bool | None,
) -> Trajectory:
    h = positive("step", step)
    total, notice = count_steps(h, until, steps)
    if notice:
        warnings.warn(notice, stacklevel=3)
    every = whole("every", every, 1)
    system = _arrays(System.of(body, load))
    method.check_system(system)
    state = _arrays(method.begin(system, to_principal(body, start)))
    _warn_of_twist(system, state)
    shape = np.shape(state.momentum.x)
    if 0 in shape:
        raise InputError(f"the start is an empty batch, of shape {shape}; give at least one member")
    saved, capacity = _Saved(total, every, shape), capacity_for(shape)
    with np.errstate(over="ignore"):
        kinetic = numbers("the kinetic energy at the start", method.kinetic_energy(system, state))
    saved.keep(0, state, kinetic, _look_at_load(system, state))
    began = time.perf_counter()
    failure: dict[str, Any] = {}
    status, iterations, worst, done = Status.OK, 0, 0.0, 0
    budget = _FIRST_BLOCK
    fresh = True
    with Progress(total, f"{method.name}  h = {h:g}", progress) as bar:
        try:
            while done < total:
                count, stride = _plan(done, total, every, budget, capacity)
                clock = time.perf_counter()
                block = jax.block_until_ready(
                    run_block(method, system, state, np.int64(done), 0.0, h, np.int64(count), np.int64(stride))
                )
                spent = time.perf_counter() - clock
                now, iterated, worst_now, ok = jax.device_get((block.done, block.iterations, block.worst, block.ok))
                taken = int(now) - done
                saved.take(block, done, taken, stride)
                state, done = block.state, done + taken
                iterations, worst = iterations + int(iterated), max(worst, float(worst_now))
                bar.advance(done)
                if not ok.all():
                    status, failure = _failure(block, done, h)
                    break
                if not fresh:  # the first call may have compiled
                    budget = max(1, int(taken * min(8.0, _BLOCK_SECONDS / max(spent, 1e-6))))
                fresh = False
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        if done and saved.counts[-1] != done:
            saved.keep(done, state, method.kinetic_energy(system, state), probe_load(system, state, done * h)[0])
    return Trajectory(
        np.array(saved.counts),
        from_principal(body, saved.states()),
        *saved.energies(),
        status,
        time.perf_counter() - began,
        iterations / max(done, 1),
        worst,
        failure,
    )


def _plan(done: int, total: int, every: int, budget: int, capacity: int) -> tuple[int, int]:
    """Samples and steps between them for the next call."""
    to_next = min(every - done % every, total - done)
    if to_next < every or budget < every:
        return 1, min(budget, to_next)
    return min(capacity, budget // every, (total - done) // every), every


class _Saved:
    """The samples so far, in arrays that grow no larger than what will be saved."""

    def __init__(self, total: int, every: int, shape: tuple[int, ...]) -> None:
        self.every = every
        room = total // every + 2
        size = 8 * KEPT * room * math.prod(shape)
        if size > 2**28 and size > (memory := psutil.virtual_memory().available):
            raise InputError(
                f"saving every {every} of {total} steps needs {size / 2**30:.3g} GiB and this machine has "
                f"{memory / 2**30:.3g}; save fewer with a larger `every`"
            )
        self.values = np.empty((room, KEPT, *shape))
        self.counts: list[int] = []

    def keep(self, count: int, state: State, kinetic: Any, potential: Any) -> None:
        for i, value in enumerate((*state.attitude, *state.momentum, kinetic, potential)):
            self.values[len(self.counts), i] = value
        self.counts.append(count)

    def take(self, block: Block, before: int, taken: int, stride: int) -> None:
        whole_samples = taken // stride
        if (before + stride) % self.every:
            return
        first = len(self.counts)
        self.values[first : first + whole_samples] = np.asarray(block.samples)[:whole_samples]
        self.counts += [before + stride * (j + 1) for j in range(whole_samples)]

    def states(self) -> State:
        columns = np.moveaxis(self.values[: len(self.counts)], 1, 0)
        return State(Quaternion(*columns[:4]), Vec3(*columns[4:7]))

    def energies(self) -> tuple[np.ndarray, np.ndarray]:
        """Kinetic and potential."""
        return self.values[: len(self.counts), 7], self.values[: len(self.counts), 8]


def _arrays(tree: Any) -> Any:
    """Numbers as float64 arrays, so that every run calls the same compiled program."""
    return jax.tree.map(lambda x: np.asarray(x, dtype=float), tree)


def _warn_of_twist(system: System, state: State) -> None:
    n = system.twist_axis
    if n is None:
        return
    omega = system.omega(state.momentum)
    twist = np.abs(n.dot(omega)).max()
    if twist > 1e-12 * np.max(omega.norm()):
        warnings.warn(
            f"the body starts with w∥ = {twist:.3g} rad/s about d3, which the non-twisting frame does not allow: em "
            "will carry it along (the kinetic energy stays exact, Π1 and Π2 oscillate by O(w∥ h²)), dla will drop it "
            "in the first step. Give ω · d3 = 0",
            stacklevel=4,
        )


def _look_at_load(system: System, state: State) -> Any:
    """The potential at the start, once the load has been seen to give usable numbers there."""
    try:
        potential, torque = jax.device_get(probe_load(system, state, 0.0))
    except InputError:
        raise
    except Exception as error:  # anything the user's function may raise while JAX traces it
        raise InputError(
            f"the function of the load failed: {type(error).__name__}: {str(error).strip().splitlines()[0]}. It is "
            "given R as a Mat3 of JAX numbers (R[2, 2], R[:, 2]; R.array for a matrix): use jax.numpy, not numpy or "
            "math, and jax.numpy.where instead of `if`; a Potential returns one number"
        ) from error
    shape = np.shape(state.momentum.x)
    if np.shape(potential) not in ((), shape):
        raise InputError(
            f"the potential must be one number for each body, shape {shape}; its function returned shape "
            f"{np.shape(potential)}"
        )
    numbers("the potential energy at the start", potential)
    numbers("the torque at the start (body components)", torque.array)
    return potential


def _failure(block: Block, done: int, h: float) -> tuple[Status, dict[str, Any]]:
    bad = ~np.asarray(block.ok)
    converged = np.asarray(block.report.converged)[bad].all()
    detail = {
        "step": done + 1,
        "t": done * h,
        "residual": float(np.asarray(block.report.error)[bad].max()),
        "iterations": int(np.asarray(block.report.iterations)[bad].max()),
        "members": np.argwhere(bad)[:5].tolist() if bad.ndim else [],
    }
    return (Status.NOT_FINITE if converged else Status.NOT_CONVERGED), detail
