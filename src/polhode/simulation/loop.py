"""The compiled loop: many steps in one call, a sample kept after every `stride` of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from polhode.mechanics import State, System
from polhode.methods import Method
from polhode.solve import Report



def capacity_for(shape: tuple[int, ...]) -> int:
    """Samples a call can return: fixed by the batch shape alone, so that one program
    serves every run, and at most some 4 million numbers of a kind."""
    return max(1, min(1024, 2**22 // math.prod(shape)))


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Sample:
    """What is kept of a moment: the state, and the potential energy there."""

    state: State
    potential: Any


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Block:
    """The outcome of a call. Time is a step count, and there is no state but this: a run
    continued from here takes the same steps, bit by bit, as one that never stopped."""

    state: State  # after the last good step
    done: Any  # steps taken since the start of the run
    iterations: Any  # in all
    worst: Any  # largest last correction of a solved step
    ok: Any  # per member of a batch; False: the step after `done` failed
    report: Report  # of the last step tried
    samples: Sample  # `capacity_for(shape)` of them; the first (done - start) // stride are set


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
        # Round-off in the length of the quaternion would add up, and not at random.
        new = replace(result.state, attitude=result.state.attitude.renormalized())
        report = _broadcast(result.report, shape)
        ok = report.converged & _finite(new)
        good = jnp.all(ok)
        state = jax.tree.map(lambda a, b: jnp.where(good, a, b), new, state)
        worst = jnp.where(good, jnp.maximum(worst, jnp.max(report.correction)), worst)
        return state, n + good, good, iterations + jnp.max(report.iterations), worst, ok, report

    def sample(j: Any, carry: Any) -> Any:
        *inner, buffer = carry
        end = inner[1] + stride
        inner = lax.while_loop(lambda c: (c[1] < end) & c[2], step, tuple(inner))
        state = inner[0]
        kept = Sample(state, _potential(system, t0 + inner[1] * h, state, shape))
        buffer = jax.tree.map(lambda b, x: lax.dynamic_update_index_in_dim(b, x, j, 0), buffer, kept)
        return (*inner, buffer)

    room = jnp.zeros((capacity_for(shape), *shape))
    buffer = Sample(jax.tree.map(lambda _: room, state), room)
    start = (state, done, jnp.asarray(True), jnp.asarray(0), jnp.asarray(0.0), jnp.ones(shape, bool), report, buffer)
    state, done, _, iterations, worst, ok, report, buffer = lax.fori_loop(0, count, sample, start)
    return Block(state, done, iterations, worst, ok, report, buffer)


def _potential(system: System, t: Any, state: State, shape: tuple[int, ...]) -> Any:
    return jnp.broadcast_to(jnp.asarray(system.potential(t, state.attitude), dtype=float), shape)


def _finite(state: State) -> Any:
    return jnp.isfinite(sum(jax.tree.leaves(state)))


def _broadcast(report: Report, shape: tuple[int, ...]) -> Report:
    return jax.tree.map(lambda x: jnp.broadcast_to(x, shape), report)


@jax.jit
def probe_load(system: System, state: State, t: Any) -> tuple[Any, Any]:
    """Potential energy and torque at a state, to look at before a run."""
    q = state.attitude
    return system.potential(t, q), system.torque(t, q, system.omega(state.momentum))
