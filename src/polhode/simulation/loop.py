"""The compiled loop: many steps in one call, a sample kept after every `stride` of them."""

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


def capacity_for(row: tuple[int, ...]) -> int:
    """Samples a call can return: fixed by the shape of one alone, so that one program
    serves every run, and at most some 32 million numbers."""
    return max(1, min(1024, 2**25 // math.prod(row)))


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Block:
    """The outcome of a call. Time is a step count, and there is no state but this: a run
    continued from here takes the same steps, bit by bit, as one that never stopped."""

    state: Any  # after the last good step
    done: Any  # steps taken since the start of the run
    iterations: Any  # in all
    worst: Any  # largest error left in a solved step
    ok: Any  # per member of a batch; False: the step after `done` failed
    report: Report  # of the last step tried
    samples: Any  # rows of `method.kept`; the first (steps taken) // stride of them are set


def run_block_of(method: Any, system: Any, state: Any, done: Any, t0: Any, h: Any, count: Any, stride: Any) -> Block:
    """`count` samples, `stride` steps apart, from `state` after `done` steps."""
    shape = method.shape(state)
    report = Report(jnp.ones(shape, bool), jnp.zeros(shape, int), jnp.zeros(shape))

    def step(carry: Any) -> Any:
        state, n, _, iterations, worst, ok, _ = carry
        result = method.step(system, state, t0 + n * h, h)
        if not hasattr(result, "report"):
            raise InputError(f"{method.name}.step must return Step(state, ...); it returned {type(result).__name__}")
        new = method.tidied(result.state)
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
        kept = method.kept(system, state, t0 + inner[1] * h)
        return (*inner, lax.dynamic_update_index_in_dim(buffer, kept, j, 0))

    row = jax.eval_shape(method.kept, system, state, t0).shape
    buffer = jnp.zeros((capacity_for(row), *row))
    start = (state, done, jnp.asarray(True), jnp.asarray(0), jnp.asarray(0.0), jnp.ones(shape, bool), report, buffer)
    state, done, _, iterations, worst, ok, report, buffer = lax.fori_loop(0, count, sample, start)
    return Block(state, done, iterations, worst, ok, report, buffer)


run_block = stored(run_block_of, static=1)
# Compiled without optimisation, sooner: for a few steps in a place where the fast way fails.
run_block_briefly = stored(run_block_of, static=1, briefly=True)


def _finite(state: Any) -> Any:
    leaves = jax.tree.leaves(state)
    if all(leaf.shape == leaves[0].shape for leaf in leaves):
        return jnp.isfinite(sum(leaves))
    return jnp.isfinite(sum(jnp.sum(leaf) for leaf in leaves))


def _broadcast(report: Report, shape: tuple[int, ...]) -> Report:
    return jax.tree.map(lambda x: jnp.broadcast_to(x, shape), report)
