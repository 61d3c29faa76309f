"""How far quantities of bodies went along their motion, found in the samples of a call where the steps left them, so
that nobody looks at each of them after.

Of one body, samples lie beside each other, so that a processor takes several at a time, by a program of its own: in
that of the steps it would change their last bits. Of a batch, members do, and each tile is looked at while it is in
cache, by the one program that moves all batches. A number that is NaN makes that NaN which it went to.
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
# J, and (kg m²/s)²: from there on changes by round-off are numbers that XLA does not take for nothing, as it does those
# below 2e-308. Of less nothing is certain here.
LEAST = 1e-290


class Extremes(NamedTuple):
    """Where a motion began, and how far it went from there at most; momenta of a free body alone."""

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

    @property
    def within_what_there_was(self) -> bool:
        """Whether all energies are finite, and the energy changed by no more than there was to move."""
        there = self.kinetic + (self.highest + self.lowest)
        return there >= LEAST and math.isfinite(self.energy + there) and self.energy <= there


class OfMembers(NamedTuple):
    """The same of a batch: the most of any member, each relative to where it started, which has this mark."""

    start: object
    energy: float
    unit: float
    momentum: float
    squared: float
    beyond: float  # how much more the energy changed than there was to move in samples of one call, of the latter

    @property
    def start_energy(self) -> float:
        return 1.0

    @property
    def start_squared(self) -> float:
        return 1.0

    @property
    def within_what_there_was(self) -> bool:
        return self.beyond <= 0.0


@stored
def extremes(system: Any, state: Any, done: Any, t0: Any, h: Any, count: Any, stride: Any, block: Any) -> Any:
    """Of a call with these numbers that gave this `Block`, from where it began: `Extremes`, as one array."""
    beside = jnp.arange(min(_BESIDE, len(block.samples.momentum.x)))
    potential = jax.vmap(partial(_potential, system))

    def seen(t: Any, states: Any) -> _Seen:
        return _Seen(system, states, None if isinstance(system.load, Free) else potential(t, states.attitude))

    start = seen((t0 + done * h)[None], jax.tree.map(lambda x: jnp.asarray(x)[None], state))

    def more(j: Any, most: tuple[Any, ...]) -> tuple[Any, ...]:
        which = j * len(beside) + beside
        some = jax.tree.map(lambda x: lax.dynamic_slice_in_dim(x, j * len(beside), len(beside)), block.samples)
        new = seen(t0 + jnp.minimum(done + (which + 1) * stride, block.done) * h, some).since(start)
        return tuple(jnp.maximum(a, jnp.where(which < count, b, a)) for a, b in zip(most, new, strict=True))

    none = tuple(jnp.broadcast_to(x, beside.shape) for x in start.since(start))
    found = lax.fori_loop(0, (count + len(beside) - 1) // len(beside), more, none)
    return jnp.concatenate([*start.values, jnp.stack([x.max() for x in start.all_of(found)])])


def extremes_of_members(system: Any, t_begun: Any, begun: Any, t: Any, count: Any, samples: Any) -> Any:
    """`OfMembers`, as one array, of a batch that began like this at that time; sample j is at t(j)."""
    start = _of_members(system, t_begun, begun)

    def more(j: Any, most: tuple[Any, ...]) -> tuple[Any, ...]:
        states = jax.tree.map(lambda x: lax.dynamic_index_in_dim(x, j, keepdims=False), samples)
        return tuple(map(jnp.maximum, most, _of_members(system, t(j), states).since(start)))

    found = lax.fori_loop(0, count, more, start.since(start))
    return jnp.stack([x.max() for x in start.relative(found)])


class _Seen:
    """States side by side, and their potential energy if they are not free."""

    def __init__(self, system: Any, states: Any, potential: Any) -> None:
        self._states, self._free, zero = states, potential is None, 0.0 * states.momentum.x
        self.kinetic, self.potential = states.kinetic(system), zero
        self.squared, self.spatial = zero, (zero, zero, zero)
        if potential is None:
            self.squared, self.spatial = states.momentum.norm2(), tuple(states.attitude.rotate(states.momentum))
        else:
            self.potential = potential + zero  # of a function of time alone one for all

    @property
    def values(self) -> tuple[Any, ...]:
        return self.kinetic, self.potential, *self.spatial

    def since(self, start: _Seen) -> tuple[Any, ...]:
        """How far it is from there, in what there is to follow."""
        w, x, y, z = self._states.attitude
        unit = abs(w * w + x * x + y * y + z * z - 1.0)
        if not self._free:
            change = abs(self.kinetic + self.potential - (start.kinetic + start.potential))
            return change, unit, self.potential, -self.potential
        a, b, c = (abs(x - y) for x, y in zip(self.spatial, start.spatial, strict=True))
        momentum = jnp.maximum(jnp.maximum(a, b), c)
        return abs(self.kinetic - start.kinetic), unit, momentum, abs(self.squared - start.squared)

    def all_of(self, found: tuple[Any, ...]) -> tuple[Any, ...]:
        """As the last numbers of `Extremes`, of what these went to."""
        change, unit, *others = found
        zero = jnp.zeros_like(unit)
        return (change, zero, zero, unit, *others) if self._free else (change, *others, unit, zero, zero)

    def relative(self, found: tuple[Any, ...]) -> tuple[Any, ...]:
        """And as `OfMembers` has it; NaN where there is too little to tell, but of a member that stays at rest."""
        change, highest, lowest, unit, momentum, squared = self.all_of(found)
        there = self.kinetic + (highest + lowest)
        if not self._free:
            return self._to(change, there, False), unit, momentum, squared, self._to(change - there, there, False, 1.0)
        still = (momentum == 0.0) & (sum(map(abs, self.spatial)) == 0.0)
        energy, squared = (self._to(x, size, still) for x, size in ((change, there), (squared, self.squared)))
        return energy, unit, self._to(momentum, self.squared, still, jnp.sqrt(self.squared)), squared, energy - 1.0

    @staticmethod
    def _to(x: Any, size: Any, still: Any, unit: Any = None) -> Any:
        """x in these units, the size itself if there are none, where it is large enough."""
        return jnp.where(size >= LEAST, x / (size if unit is None else unit), jnp.where(still, 0.0, jnp.nan))


def _potential(system: Any, t: Any, attitude: Any) -> Any:
    return jnp.asarray(system.potential(t, attitude), dtype=float)


def _of_members(system: Any, t: Any, states: Any) -> _Seen:
    return _Seen(system, states, None if isinstance(system.load, Free) else _potential(system, t, states.attitude))


def with_extremes(block: Any, extremes: Any) -> Any:
    """A `Block` that was just made, with those along it."""
    block.__dict__["extremes"] = extremes
    return block


def together(parts: Sequence[Any]) -> Any:
    """Of a motion, from those of its parts, one after the other: no less than they are. None where that is not known,
    as of members of a batch that started again."""
    first = parts[0]
    if isinstance(first, OfMembers) or any(x is None for x in parts):
        again = any(x is None or x.start is not first.start for x in parts)
        return None if again else OfMembers(first.start, *np.max([x[1:] for x in parts], axis=0).tolist())
    if len(parts) == 1:
        return Extremes(*np.asarray(first).tolist())
    found = np.array(parts)
    start = found[0]
    with np.errstate(over="ignore", invalid="ignore"):
        energy = abs(found[:, 0] + found[:, 1] - (start[0] + start[1])) + found[:, 5]
        spatial = abs(found[:, 2:5] - start[2:5]).max(axis=1) + found[:, 9]
        squared = (found[:, 2:5] ** 2).sum(axis=1)
        squared = abs(squared - squared[0]) + found[:, 10]
    return Extremes(*start[:5].tolist(), *np.max([energy, *found[:, 6:9].T, spatial, squared], axis=1).tolist())
