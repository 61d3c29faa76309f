"""The compiled loop: many steps in one call, the state kept after every `stride` of them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from polhode._programs import stored
from polhode.model import InputError
from polhode.solve import Report


def numbers_in(state: Any) -> int:
    """Of one sample."""
    return sum([x.size for x in jax.tree.leaves(state)])


def capacity_for(numbers: int) -> int:
    """Samples a call can return: fixed by the size of one alone, so that one program
    serves every run, and at most some 32 million numbers."""
    return max(1, min(1024, 2**25 // numbers))


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Tally:
    """How steps went, in all; `packed`, one array, where it leaves a program: each array that does takes time."""

    iterations: Any
    worst: Any  # largest error left in a solved step
    renewals: Any  # solutions that needed the whole Jacobian at every iterate
    halvings: Any  # steps that were taken in parts

    @property
    def packed(self) -> Any:
        return jnp.stack([jnp.asarray(getattr(self, f.name), dtype=float) for f in fields(self)])

    def with_packed(self, more: Any) -> Tally:
        """Both together."""
        iterations, worst, renewals, halvings = np.asarray(more).tolist()
        return Tally(
            self.iterations + int(iterations),
            max(self.worst, worst),
            self.renewals + int(renewals),
            self.halvings + int(halvings),
        )


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Block:
    """The outcome of a call. Time is a step count, and there is no state but this: a run
    continued from here takes the same steps, bit by bit, as one that never stopped."""

    state: Any  # after the last good step
    done: Any  # steps taken since the start of the run
    tally: Any  # of these steps, packed
    ok: Any  # per member of a batch: whether it goes on; False: the step after `done` failed, or one before
    report: Report  # of the last step tried; of a lost member, of the step that failed
    samples: Any  # states; the first (steps taken) // stride of them are set
    failed: Any = None  # per member of a batch: in which step of this call it was lost, from 1 on; -1 if it was not
    extremes: Any = None  # along this call, see `extremes`


def run_block_of(method: Any, system: Any, state: Any, done: Any, t0: Any, h: Any, count: Any, stride: Any) -> Block:
    """`count` samples, `stride` steps apart, from `state` after `done` steps."""
    report = _broadcast(Report.explicit(), ())

    def step(carry: Any) -> Any:
        state, n, _, tally, ok, _ = carry
        new, report, ok = step_of(method, system, state, t0 + n * h, h)
        state = jax.tree.map(lambda a, b: jnp.where(ok, a, b), new, state)
        tally = Tally(
            tally.iterations + report.iterations,
            jnp.where(ok, jnp.maximum(tally.worst, report.error), tally.worst),
            tally.renewals + ok * report.renewals,
            tally.halvings + ok * report.halvings,
        )
        return state, n + ok, ok, tally, ok, report

    start = (state, done, jnp.asarray(True), _none_yet(()), jnp.asarray(True), report)
    capacity = capacity_for(numbers_in(state))
    state, done, _, tally, ok, report, buffer = _sampled(step, start, count, stride, capacity)
    return Block(state, done, tally.packed, ok, report, buffer)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Ended:
    """Of each member of a batch: whether it goes on; if not, in which step of this call it was lost, from 1 on, and
    how that ended. `packed`, one array, in front."""

    here: Any
    failed: Any
    converged: Any
    error: Any
    iterations: Any

    @property
    def packed(self) -> Any:
        return jnp.stack([jnp.asarray(getattr(self, f.name), dtype=float) for f in fields(self)])


def run_members(
    method: Any, system: Any, state: Any, begun: Any, t0: Any, h: Any, count: Any, stride: Any, capacity: int
) -> tuple[Any, Any, Any, Any]:
    """The same for members of a batch, each by itself: none waits for another, and nothing is asked of all of them but
    by a solver. One whose step fails is lost: its numbers are NaN from there on. Their states, `Ended`, the tally of
    whoever has most of it, and samples."""
    shape = state.shape

    def step(carry: Any) -> Any:
        state, n, go, tally, ended = carry
        new, report, ok = step_of(method, system, state, t0 + n * h, h)
        on = ended.here & ok
        lost = ended.here & ~on
        tally = Tally(
            tally.iterations + jnp.where(on, report.iterations, 0),
            jnp.maximum(tally.worst, jnp.where(on, report.error, 0.0)),
            tally.renewals + on * report.renewals,
            tally.halvings + on * report.halvings,
        )

        def without(state: Any, ended: Ended) -> Any:
            state = jax.tree.map(lambda x: jnp.where(_wide(on, x), x, jnp.nan), state)
            now = Ended(on, n - begun + 1, report.converged, report.error, report.iterations)
            return state, replace(jax.tree.map(lambda a, b: jnp.where(lost, a, b), now, ended), here=on)

        # Few steps lose anyone; what was lost stays so by itself: a step from NaN is NaN.
        state, ended = lax.cond(jnp.any(lost), without, lambda *same: same, new, ended)
        return state, n + 1, go, tally, ended

    here = jnp.broadcast_to(_finite(state, shape), shape)
    none = jnp.zeros(shape, begun.dtype)
    ended = Ended(here, none, here, jnp.zeros(shape), jnp.zeros(shape, int))
    start = (state, begun, jnp.asarray(True), _none_yet(shape), ended)
    state, _, _, tally, ended, buffer = _sampled(step, start, count, stride, capacity)
    return state, ended.packed, jax.tree.map(jnp.max, tally).packed, buffer


def _none_yet(shape: tuple[int, ...]) -> Tally:
    return Tally(jnp.zeros(shape, int), jnp.zeros(shape), jnp.zeros(shape, int), jnp.zeros(shape, int))


def _sampled(step: Any, start: Any, count: Any, stride: Any, capacity: int) -> Any:
    """Steps with a sample after every so many: the first of what they carry, the second is their count, the third
    whether to go on."""

    def sample(j: Any, carry: Any) -> Any:
        *inner, buffer = carry
        end = inner[1] + stride
        inner = lax.while_loop(lambda c: (c[1] < end) & c[2], step, tuple(inner))
        keep = lambda rows, x: lax.dynamic_update_index_in_dim(rows, x, j, 0)  # noqa: E731
        return (*inner, jax.tree.map(keep, buffer, inner[0]))

    buffer = jax.tree.map(lambda x: jnp.zeros((capacity, *x.shape)), start[0])
    return lax.fori_loop(0, count, sample, (*start, buffer))


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
    return new, report, report.converged & _finite(new, state.shape)


def _finite(state: Any, shape: tuple[int, ...]) -> Any:
    """For each member of a batch of this shape."""
    leaves = jax.tree.leaves(state)
    if all(leaf.shape == leaves[0].shape for leaf in leaves):
        return jnp.isfinite(sum(leaves))
    own = [tuple(range(len(shape), jnp.ndim(leaf))) for leaf in leaves]  # axes that are not the batch's
    return jnp.isfinite(sum(jnp.sum(leaf, axis=axes) for leaf, axes in zip(leaves, own, strict=True)))


def _wide(flag: Any, x: Any) -> Any:
    """A flag of each member, for an array that may have axes of its own behind those of the batch."""
    return flag.reshape(flag.shape + (1,) * (jnp.ndim(x) - flag.ndim))


def _broadcast(report: Report, shape: tuple[int, ...]) -> Report:
    return jax.tree.map(lambda x: jnp.broadcast_to(x, shape), report)
