"""Sentinels: what a method promises by its traits is looked for in every sample of a run.

Finite numbers may be wrong all the same: by a mistake in a method, a load that is not the gradient it claims to be, a
bit that memory lost. Looked for is what holds for certain: traits that say "exact", where the motion is one for which
they say it. How much may be round-off grows with the steps: one rounding in each of them, all in one direction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

import jax
import numpy as np

from polhode._programs import stored
from polhode.algebra.library import library_of
from polhode.model.functions import is_traced
from polhode.results.halt import Halt
from polhode.results.look import Look
from polhode.results.surely import Went, keeps_energy, keeps_length, keeps_momentum, of_length_1
from polhode.rotation.loads import Free, torque_of
from polhode.rotation.state import State
from polhode.simulation import Status

_ROUNDING = 1.2e-16  # of one operation
_BODY = 1e-11  # of one body: what a few steps may come to; measured up to 4e-13 in 10⁵
_UNIT = 1e-12  # of the length of quaternions, which every step sees to
_SYSTEM = 0.02  # of the energy of a system: what steps that hardly resolve the motion come to, and are warned of
_GAP = 1e-8  # of sizes of about one, m and m/s
_GRADIENT = 1e-8
_SPREAD = 128  # samples of a part in which loads are looked at


@dataclass(frozen=True)
class Promise:
    """In words; how far it is broken at each new sample, members behind; what of that may be round-off after so many
    steps; and whether it is kept, told in a cheaper way that may say no where it is."""

    words: str
    broken: Callable[[Look], Any]
    most: Callable[[np.ndarray], np.ndarray]
    surely: Callable[[Went, Any], bool] | None = None

    def seen(self, look: Look) -> tuple[Any, Any, Any]:
        """Where it is broken, by how much, and how much may be round-off."""
        far = self.broken(look)
        steps = look.run.trajectory.steps[look.rows]
        most = self.most(steps * 1.0)
        return far > most.reshape(-1, *[1] * (far.ndim - 1)), far, most  # not of NaN, of a member that is lost

    def __call__(self, look: Look) -> Halt | None:
        steps = look.run.trajectory.steps[look.rows]
        with np.errstate(all="ignore"):
            if self.surely is not None and len(steps) and self.surely(look.few, self.most(steps[0])):
                return None
            bad, far, most = self.seen(look)
        if not bad.any():
            return None
        i = int(bad.reshape(len(bad), -1).any(axis=1).argmax())
        t, run = float(look.run.t[look.rows][i]), look.run
        members = np.argwhere(bad[i])[:5].tolist() if bad.ndim > 1 else []
        where = f"step {steps[i]}{f' (members {members} of the batch)' if members else ''}"
        why = (
            f"{run.method.name}: {self.words}; at t = {t:.9g}, {where}, it is off by {np.nanmax(far[i]):.3g}, "
            f"where at most {most[i]:.1e} is explained. The samples up to there are kept. Something is wrong: with "
            "the method, a load that is not what it claims, or the machine. To go on all the same: sentinels=False, or "
            "--no-sentinels"
        )
        return Halt(Status.BROKEN, look.at(i), why, {"why": why, "members": members})


def promises_of(run: Any, *, thorough: bool) -> Sequence[Promise]:
    """What holds in this run; `thorough`: also what takes a program of its own to look at."""
    if run.kind != "rotation":
        return _of_system(run)
    now, traits = run.now, run.method.traits
    free = isinstance(now.load, Free)
    conserved = (traits.energy, traits.spatial_momentum, traits.momentum_length)
    return _of_body(free and now.twist_axis is None, thorough and not free and now.load.conservative, *conserved)


def surely_kept(went: Went, promises: Iterable[Any]) -> bool:
    """Whether all of them are, told by how far a motion went. False says to look closer."""
    return all(p.surely is not None and p.surely(went, p.most(0.0)) for p in promises)


@lru_cache(maxsize=64)
def _of_body(free: bool, sloped: bool, energy: str, spatial_momentum: str, momentum_length: str) -> Sequence[Promise]:
    """Of one that is free and may twist, or has a load whose gradient is looked at, and what the method keeps."""
    unit = "the attitude is a rotation, a quaternion of length 1"
    found = [Promise(unit, _length_of_attitude, _always(_UNIT), of_length_1)]
    if free and energy == "exact":
        words = "it keeps the energy of a free body to round-off"
        found.append(Promise(words, _energy, _growing(_BODY), keeps_energy))
    if free and spatial_momentum == "exact":
        words = "it keeps the spatial momentum of a free body to round-off"
        found.append(Promise(words, _momentum, _growing(_BODY), keeps_momentum))
    elif free and momentum_length == "exact":
        words = "it keeps the length of the momentum of a free body"
        found.append(Promise(words, _length, _growing(_BODY), keeps_length))
    if sloped:
        found.append(Promise("the torque of its load is the gradient of its energy", _gradient, _always(_GRADIENT)))
    return tuple(found)


def _of_system(run: Any) -> list[Promise]:
    traits, now = run.method.traits, run.now
    found = [Promise("attitudes are rotations, quaternions of length 1", _lengths_of_attitudes, _always(_GAP))]
    if traits.joints == "exact":
        found.append(Promise("it keeps joints and contacts closed", _gap, _always(_GAP)))
    if traits.slip == "exact":
        found.append(Promise("what rolls does not slip", _slip, _always(_GAP)))
    fixed = all(force.constant for force in now.forces) and not any(group.rheonomic for group in now.groups)
    if traits.energy == "exact" and fixed and not now.slender:  # those afloat: to order of the step
        words = "it keeps the energy of a system under gravity"
        found.append(Promise(words, _energy_of_system, _always(_SYSTEM)))
    return found


def _always(bound: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda steps: 0.0 * steps + bound


def _growing(bound: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda steps: bound + _ROUNDING * steps


def _size(vectors: Any) -> Any:
    squares = [
        vectors[..., i] * vectors[..., i] for i in range(vectors.shape[-1])
    ]  # XLA then makes no array of vectors
    return library_of(vectors).sqrt(sum(squares[1:], squares[0]))


def _length_of_attitude(look: Look) -> Any:
    w, x, y, z = (c[look.rows] for c in look.run.state.attitude)
    return 0.5 * abs(w * w + x * x + y * y + z * z - 1.0)


def _energy(look: Look) -> Any:
    """Relative to |Π||Ω|, the twofold energy or more: so much a relative error of the momentum makes of it."""
    run, rows = look.run, look.rows
    if look.acted:
        return np.zeros(rows.stop - rows.start)
    size, start = _size(run["momentum"][rows]) * _size(run["omega"][rows]), look.gauges["energy.start"]
    return abs(run["energy"][rows] - start) / library_of(size).maximum(size, start)


def _momentum(look: Look) -> Any:
    start = look.gauges["spatial_momentum.start"]
    if look.acted:
        return np.zeros(look.rows.stop - look.rows.start)
    return _size(look.run["spatial_momentum"][look.rows] - start) / _size(start)


def _length(look: Look) -> Any:
    start = _size(look.gauges["spatial_momentum.start"])
    if look.acted:
        return np.zeros(look.rows.stop - look.rows.start)
    return abs(_size(look.run["momentum"][look.rows]) - start) / start


def _gradient(look: Look) -> Any:
    """Of as many samples always, the first where it is worst: relative to the torque."""
    count = look.rows.stop - look.rows.start
    which = _spread(count)
    states = State(*jax.tree.map(lambda x: x[which], (look.few.attitude, look.few.body)))
    off, size = (np.asarray(x) for x in _defects(look.run.now, states, look.run.t[look.rows][which]))
    found = np.zeros((count, *off.shape[1:]))
    np.fmax.at(found, which, off / np.maximum(np.fmax.reduce(size, axis=None), 1e-300))
    return found


@lru_cache(maxsize=16)
def _spread(count: int) -> np.ndarray:
    """Numbers of that many samples, over all of so many."""
    return np.linspace(0, count - 1, _SPREAD).round().astype(int)


@stored(briefly=True)
def _defects(system: Any, states: State, t: Any) -> tuple[Any, Any]:
    """Between the torque and the gradient of the energy; and their size."""

    def of_one(state: State, t: Any) -> Any:
        R, load = state.attitude.matrix(), system.load
        torque = load.torque(t, R, system.omega(state.momentum))
        slope = torque_of(lambda R: load.energy(t, R), R)
        return (torque - slope).norm(), torque.norm() + slope.norm()

    return jax.vmap(of_one)(states, t)


def _lengths_of_attitudes(look: Look) -> Any:
    return abs(_size(look.run["attitude"][look.rows]) - 1.0)


def _gap(look: Look) -> Any:
    return _to_sizes(look, "gap", "position")


def _slip(look: Look) -> Any:
    return _to_sizes(look, "slip", "velocity", "omega")


def _to_sizes(look: Look, name: str, *names: str) -> Any:
    """To the largest number of these, where that is more than one and makes a difference."""
    values = look.run[name][look.rows]
    if not is_traced(values) and (values <= _GAP).all():
        return values
    sizes = [abs(look.run[of][look.rows]).reshape(len(values), -1).max(axis=-1) for of in names]
    return values / reduce(library_of(values).maximum, sizes, 1.0)


def _energy_of_system(look: Look) -> Any:
    return look.drifts["energy"] * (not look.acted)
