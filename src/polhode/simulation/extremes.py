"""How far quantities of one body went along its motion: in the samples of a call, by a program of its own that reads
them where the steps left them, so that nobody looks at each of them after. In that of the steps it would change their
last bits.

All samples of so many lie beside each other, so that a processor takes several at a time. A number that is NaN makes
that NaN which it went to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from polhode._programs import stored
from polhode.rotation.loads import Free

_BESIDE = 64  # samples


class Extremes(NamedTuple):
    """Where the motion began, and how far it went from there at most; momenta of a free body alone."""

    kinetic: float  # J, at the start
    potential: float
    x: float  # spatial momentum (kg m²/s) at the start
    y: float
    z: float
    energy: float  # J, its largest change
    highest: float  # J, of the potential energy, at any sample
    lowest: float  # J, its negative
    unit: float  # how much the squared length of the attitude is off 1
    momentum: float  # the largest change of any component of the spatial momentum
    squared: float  # and of the squared length of the momentum

    @property
    def start_energy(self) -> float:
        return self.kinetic + self.potential

    @property
    def start_squared(self) -> float:
        return self.x * self.x + self.y * self.y + self.z * self.z


@stored
def extremes(system: Any, state: Any, done: Any, t0: Any, h: Any, count: Any, stride: Any, block: Any) -> Any:
    """Of a call with these numbers that gave this `Block`, from where it began: `Extremes`, as one array."""
    beside = jnp.arange(min(_BESIDE, len(block.samples.momentum.x)))
    first = jax.tree.map(lambda x: jnp.asarray(x)[None], state)
    start = _Seen(system, first, (t0 + done * h)[None])

    def seen(j: Any, most: tuple[Any, ...]) -> tuple[Any, ...]:
        which = j * len(beside) + beside
        some = jax.tree.map(lambda x: lax.dynamic_slice_in_dim(x, j * len(beside), len(beside)), block.samples)
        t = t0 + jnp.minimum(done + (which + 1) * stride, block.done) * h
        new = _Seen(system, some, t).since(start)
        return tuple(jnp.maximum(a, jnp.where(which < count, b, a)) for a, b in zip(most, new, strict=True))

    none = tuple(jnp.broadcast_to(x, beside.shape) for x in start.since(start))
    found = lax.fori_loop(0, (count + len(beside) - 1) // len(beside), seen, none)
    return jnp.concatenate([*start.values, jnp.stack([x.max() for x in found])])


class _Seen:
    """Samples side by side."""

    def __init__(self, system: Any, states: Any, t: Any) -> None:
        self._states, self._free, zero = states, isinstance(system.load, Free), 0.0 * states.momentum.x
        self.kinetic, self.potential = states.kinetic(system), zero
        self.squared, self.spatial = zero, (zero, zero, zero)
        if self._free:
            self.squared, self.spatial = states.momentum.norm2(), tuple(states.attitude.rotate(states.momentum))
        else:
            self.potential = jax.vmap(partial(_potential, system))(t, states.attitude)

    @property
    def values(self) -> tuple[Any, ...]:
        return self.kinetic, self.potential, *self.spatial

    def since(self, start: _Seen) -> tuple[Any, ...]:
        w, x, y, z = self._states.attitude
        change = abs(self.kinetic + self.potential - (start.kinetic + start.potential))
        off = [abs(a - b) for a, b in zip(self.spatial, start.spatial, strict=True)]
        momentum = jnp.maximum(jnp.maximum(off[0], off[1]), off[2])
        unit = abs(w * w + x * x + y * y + z * z - 1.0)
        return change, self.potential, -self.potential, unit, momentum, abs(self.squared - start.squared)


def _potential(system: Any, t: Any, attitude: Any) -> Any:
    return jnp.asarray(system.potential(t, attitude), dtype=float)


def with_extremes(block: Any, extremes: Any) -> Any:
    """A `Block` that was just made, with those along it."""
    block.__dict__["extremes"] = extremes
    return block


def together(parts: Sequence[Any]) -> Extremes:
    """Of a motion, from those of its parts, one after the other: no less than they are."""
    found = np.asarray(parts)
    if len(found) == 1:
        return Extremes(*found[0].tolist())
    start = found[0]
    with np.errstate(over="ignore", invalid="ignore"):
        energy = abs(found[:, 0] + found[:, 1] - (start[0] + start[1])) + found[:, 5]
        spatial = abs(found[:, 2:5] - start[2:5]).max(axis=1) + found[:, 9]
        squared = (found[:, 2:5] ** 2).sum(axis=1)
        squared = abs(squared - squared[0]) + found[:, 10]
    return Extremes(*start[:5].tolist(), *np.max([energy, *found[:, 6:9].T, spatial, squared], axis=1).tolist())


def within_what_there_was(found: Extremes) -> bool:
    """Whether all energies are finite, and the energy changed by no more than there was to move."""
    there = found.kinetic + (found.highest + found.lowest)
    return math.isfinite(found.energy + there) and found.energy <= there
