"""What energies came to along a motion: of the samples of a call, by a program of its own that reads them where the
steps left them, so that nobody looks at each of them after. In that of the steps it would change their last bits.

Six numbers in one array: the kinetic and the potential energy where the motion began, and the largest that the energy,
its negative, the potential energy and its negative came to at any sample. One that is NaN makes that NaN.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from polhode._programs import stored


@stored
def energies(system: Any, state: Any, done: Any, t0: Any, h: Any, count: Any, stride: Any, block: Any) -> Any:
    """Of a call with these numbers that gave this `Block`, and of where it began."""

    def seen(j: Any, largest: tuple[Any, ...]) -> tuple[Any, ...]:
        sample = jax.tree.map(lambda x: lax.dynamic_index_in_dim(x, j, keepdims=False), block.samples)
        t = t0 + jnp.minimum(done + (j + 1) * stride, block.done) * h
        return tuple(map(jnp.maximum, largest, _signed(*_of(system, sample, t))))

    start = _of(system, state, t0 + done * h)
    return jnp.stack([*start, *lax.fori_loop(0, count, seen, _signed(*start))])


def _of(system: Any, state: Any, t: Any) -> tuple[Any, Any]:
    kinetic, potential = state.kinetic(system), system.potential(t, state.attitude)
    return jnp.asarray(kinetic, dtype=float), jnp.asarray(potential, dtype=float)


def _signed(kinetic: Any, potential: Any) -> tuple[Any, ...]:
    return kinetic + potential, -(kinetic + potential), potential, -potential


def with_energies(block: Any, energies: Any) -> Any:
    """A `Block` that was just made, with those along it."""
    block.__dict__["energies"] = energies
    return block


def together(before: Any, after: Any) -> Any:
    """Those of a motion that went on; None where those of a part are not known."""
    if before is None or after is None:
        return None
    return np.concatenate([before[:2], np.maximum(before[2:], after[2:])])


def within_what_there_was(energies: Any) -> bool:
    """Whether all of them are finite, and the energy changed by no more than there was to move."""
    kinetic, potential, most, least, highest, lowest = energies.tolist()
    start = kinetic + potential
    change, there = max(most - start, least + start), kinetic + (highest + lowest)
    return math.isfinite(change + there) and change <= there
