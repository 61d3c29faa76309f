"""The compiled loop: many steps in one call, a sample kept after every `stride` of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from polhode.mechanics import InputError, State, System
from polhode.methods import Method, Step
from polhode.solve import Report


def capacity_for(shape: tuple[int, ...]) -> int:
    """Samples a call can return: fixed by the batch shape alone, so that one program
    serves every run, and at most some 4 million numbers of a kind."""
    return max(1, min(1024, 2**22 // math.prod(shape)))


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Block:
    """The outcome of a call. Time is a step count, and there is no state but this: a run
    continued from here takes the same steps, bit by bit, as one that never stopped."""

    state: State  # after the last good step
    done: Any  # steps taken since the start of the run
    iterations: Any  # in all
    worst: Any  # largest error left in a solved step
    ok: Any  # per member of a batch; False: the step after `done` failed
    report: Report  # of the last step tried
    samples: Any  # rows of `numbers_of`; the first (steps taken) // stride of them are set


@partial(jax.jit, static_argnames=("method",))
def run_block(
    method: Method, system: System, state: State, done: Any, t0: Any, h: Any, count: Any, stride: Any
) -> Block:
    """`count` samples, `stride` steps apart, from `state` after `done` steps."""
    shape = jnp.shape(state.momentum.x)
    report = Report(jnp.ones(shape, bool), jnp.zeros(shape, int), jnp.zeros(shape))

    def step(carry: Any) -> Any:
        state, n, _, iterations, worst, ok, _ = carry
        result = method.step(system, state, t0 + n * h, h)
        if not isinstance(result, Step):
            raise InputError(f"{method.name}.step must return Step(state, ...); it returned {type(result).__name__}")
        # Round-off in the length of the quaternion would add up, and not at random.
        new = replace(result.state, attitude=result.state.attitude.renormalized())
        report = _broadcast(result.report, shape)
        ok = report.converged & _finite(new)
        good = jnp.all(ok)
        state = jax.tree.map(lambda a, b: jnp.where(good, a, b), new, state)
        worst = jnp.where(good, jnp.maximum(worst, jnp.max(report.error)), worst)
        return state, n + good, good, iterations + jnp.max(report.iterations), worst, ok, report

    def sample(j: Any, carry: Any) -> Any:
        *inner, buffer = carry
        end = inner[1] + stride
        inner = lax.while_loop(lambda c: (c[1] < end) & c[2], step, tuple(inner))
        state = inner[0]
        kept = numbers_of(method, system, state, system.potential(t0 + inner[1] * h, state.attitude))
        return (*inner, lax.dynamic_update_index_in_dim(buffer, kept, j, 0))

    buffer = jnp.zeros((capacity_for(shape), KEPT, *shape))
    start = (state, done, jnp.asarray(True), jnp.asarray(0), jnp.asarray(0.0), jnp.ones(shape, bool), report, buffer)
    state, done, _, iterations, worst, ok, report, buffer = lax.fori_loop(0, count, sample, start)
    return Block(state, done, iterations, worst, ok, report, buffer)


KEPT = 9  # numbers of a moment


def numbers_of(method: Method, system: System, state: State, potential: Any) -> Any:
    """What is kept of a moment: quaternion, momentum, kinetic and potential energy, in one array."""
    components = (*state.attitude, *state.momentum)
    shape = jnp.shape(components[0])
    energies = (jnp.broadcast_to(e, shape) for e in (method.kinetic_energy(system, state), potential))
    return jnp.stack([*components, *energies])


def _finite(state: State) -> Any:
    return jnp.isfinite(sum(jax.tree.leaves(state)))


def _broadcast(report: Report, shape: tuple[int, ...]) -> Report:
    return jax.tree.map(lambda x: jnp.broadcast_to(x, shape), report)


@jax.jit
def probe_load(system: System, state: State, t: Any) -> tuple[Any, Any]:
    """Potential energy and torque at a state, to look at before a run."""
    q = state.attitude
    return system.potential(t, q), system.torque(t, q, system.omega(state.momentum))
