"""Whether one body kept a promise, told by how far it went: True is certain, False says to look closer.

How far is known of a motion whose steps kept it in mind (`Extremes`), and found in samples that are written.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from polhode.simulation.extremes import LEAST


class Went(Protocol):
    """Numbers, or arrays of one for each member of a batch: see `Extremes`."""

    @property
    def unit(self) -> Any: ...
    @property
    def energy(self) -> Any: ...
    @property
    def momentum(self) -> Any: ...
    @property
    def squared(self) -> Any: ...
    @property
    def start_energy(self) -> Any: ...
    @property
    def start_squared(self) -> Any: ...


@dataclass(frozen=True)
class Few:
    """Samples: arrays of numpy, members of a batch behind; and what is known of the first one of the run."""

    attitude: Any
    body: Any  # momentum, body axes
    energies: np.ndarray
    spatial: np.ndarray
    gauges: Mapping[str, Any]

    @cached_property
    def unit(self) -> Any:
        w, x, y, z = self.attitude
        return _largest(w * w + x * x + y * y + z * z - 1.0)

    @cached_property
    def energy(self) -> Any:
        return _largest(self.energies - self.start_energy)

    @cached_property
    def momentum(self) -> Any:
        return _largest(self.spatial - self.gauges["spatial_momentum.start"]).max(axis=-1)

    @cached_property
    def squared(self) -> Any:
        return _largest(self.body.norm2() - self.start_squared)

    @property
    def start_energy(self) -> Any:
        return self.gauges["energy.start"]

    @cached_property
    def start_squared(self) -> Any:
        start = self.gauges["spatial_momentum.start"]
        return np.einsum("...i,...i->...", start, start)


def _largest(x: np.ndarray) -> Any:
    """|x| over the samples; NaN where there is one."""
    return np.maximum(x.max(axis=0), -x.min(axis=0))


def _all(kept: Any) -> bool:
    return kept if isinstance(kept, bool) else bool(kept.all())


def of_length_1(went: Went, most: float) -> bool:
    return _all(went.unit <= 2.0 * most)


def keeps_energy(went: Went, most: float) -> bool:
    """To less than is promised: relative to the energy alone."""
    return _all((went.energy <= most * went.start_energy) & (went.start_energy >= LEAST))


def keeps_length(went: Went, most: float) -> bool:
    return _all((went.squared <= most * went.start_squared) & (went.start_squared >= LEAST))


def keeps_momentum(went: Went, most: float) -> bool:
    size = went.start_squared
    root = math.sqrt(size) if isinstance(size, float) else np.sqrt(size)
    return _all((went.momentum <= 0.5 * most * root) & (size >= LEAST))  # of each of three components
