"""The compiled loop: many steps in one call, the state kept after every `stride` of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from polhode._programs import stored
from polhode.model import InputError
from polhode.solve import Report


def numbers_in(state: Any) -> int:
    """Of one sample."""
    return sum(math.prod(jnp.shape(x)) for x in jax.tree.leaves(state))


def capacity_for(numbers: int) -> int:
    """Samples a call can return: fixed by the size of one alone, so that one program
    serves every run, and at most some 32 million numbers."""
    return max(1, min(1024, 2**25 // numbers))


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Tally:
    """How steps went, in all."""

    iterations: Any
    worst: Any  # largest error left in a solved step
    renewals: Any  # solutions that needed the whole Jacobian at every iterate
    halvings: Any  # steps that were taken in parts


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Block:
    """The outcome of a call. Time is a step count, and there is no state but this: a run
    continued from here takes the same steps, bit by bit, as one that never stopped."""

    state: Any  # after the last good step
    done: Any  # steps taken since the start of the run
    tally: Tally
    ok: Any  # per member of a batch; False: the step after `done` failed
    report: Report  # of the last step tried
    samples: Any  # states; the first (steps taken) // stride of them are set


def run_block_of(method: Any, system: Any, state: Any, done: Any, t0: Any, h: Any, count: Any, stride: Any) -> Block:
    """`count` samples, `stride` steps apart, from `state` after `done` steps."""
    shape = state.shape
    report = _broadcast(Report.explicit(), shape)

    def step(carry: Any) -> Any:
        state, n, _, tally, ok, _ = carry
        new, report, ok = step_of(method, system, state, t0 + n * h, h)
        good = jnp.all(ok)
        state = jax.tree.map(lambda a, b: jnp.where(good, a, b), new, state)
        tally = Tally(
            tally.iterations + jnp.max(report.iterations),
            jnp.where(good, jnp.maximum(tally.worst, jnp.max(report.error)), tally.worst),
            tally.renewals + good * jnp.max(report.renewals),
            tally.halvings + good * jnp.max(report.halvings),
        )
        return state, n + good, good, tally, ok, report

    def sample(j: Any, carry: Any) -> Any:
        *inner, buffer = carry
        end = inner[1] + stride
        inner = lax.while_loop(lambda c: (c[1] < end) & c[2], step, tuple(inner))
        keep = lambda rows, x: lax.dynamic_update_index_in_dim(rows, x, j, 0)  # noqa: E731
        return (*inner, jax.tree.map(keep, buffer, inner[0]))

    capacity = capacity_for(numbers_in(state))
    buffer = jax.tree.map(lambda x: jnp.zeros((capacity, *x.shape)), state)
    tally = Tally(jnp.asarray(0), jnp.asarray(0.0), jnp.asarray(0), jnp.asarray(0))
    start = (state, done, jnp.asarray(True), tally, jnp.ones(shape, bool), report, buffer)
    state, done, _, tally, ok, report, buffer = lax.fori_loop(0, count, sample, start)
    return Block(state, done, tally, ok, report, buffer)


run_block = stored(run_block_of, static=1)
# Compiled without optimisation, sooner: for a few steps in a place where the fast way fails.
run_block_briefly = stored(run_block_of, static=1, briefly=True)


def step_of(method: Any, system: Any, state: Any, t: Any, h: Any) -> tuple[Any, Report, Any]:
    """One step: the new state, how it was solved, and whether it is good, for each member of a batch."""
    result = method.step(system, state, t, h)
    if not hasattr(result, "report"):
        raise InputError(f"{method.name}.step must return Step(state, ...); it returned {type(result).__name__}")
    new = method.tidied(result.state)
    report = _broadcast(result.report, state.shape)
    return new, report, report.converged & _finite(new)


def _finite(state: Any) -> Any:
    leaves = jax.tree.leaves(state)
    if all(leaf.shape == leaves[0].shape for leaf in leaves):
        return jnp.isfinite(sum(leaves))
    return jnp.isfinite(sum(jnp.sum(leaf) for leaf in leaves))


def _broadcast(report: Report, shape: tuple[int, ...]) -> Report:
    return jax.tree.map(lambda x: jnp.broadcast_to(x, shape), report)
