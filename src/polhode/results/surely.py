"""Whether samples of one body keep a promise, told by few operations: True is certain, False says to look closer.

Where every step is saved, what sentinels look for is the most that is done with a sample; so they look at it in this
way first, in arrays that stay near the processor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Few:
    """Samples of one body: arrays of numpy, members of a batch behind; and where its energy and momentum started."""

    attitude: Any
    momentum: Any
    energy: np.ndarray
    gauges: Mapping[str, Any]
    spatial: np.ndarray | None = None  # R Π, where it is known


def within(x: Any, most: Any) -> bool:
    """Whether |x| is at most this everywhere, a number or one for each member: not where it is NaN."""
    samples = tuple(range(x.ndim - np.ndim(most)))
    return bool((x.max(axis=samples) <= most).all() and (x.min(axis=samples) >= -most).all())


def of_length_1(few: Few, most: float) -> bool:
    w, x, y, z = few.attitude
    return within(w * w + x * x + y * y + z * z - 1.0, 2.0 * most)


def keeps_energy(few: Few, most: float) -> bool:
    """To less than is promised: relative to the energy alone."""
    start = few.gauges["energy.start"]
    return within(few.energy - start, most * start)


def keeps_length(few: Few, most: float) -> bool:
    start = few.gauges["spatial_momentum.start"]
    return within(few.momentum.norm2() / np.einsum("...i,...i->...", start, start) - 1.0, most)


def keeps_momentum(few: Few, most: float) -> bool:
    """R Π = π, as the quaternions q Π and π q: they differ by w (Π - π) + v x (Π + π) and by v · (Π - π), v the vector
    part of q, and have the length of R Π - π together."""
    start = few.gauges["spatial_momentum.start"]
    half = 0.5 * most * np.hypot.reduce(start, axis=-1)  # of each of up to four components
    if few.spatial is not None:
        return within(few.spatial - start, half[..., None] if np.ndim(half) else half)
    a, b, c = (start[..., i] for i in range(3))
    w, x, y, z = few.attitude
    Pi = few.momentum
    less = Pi.x - a, Pi.y - b, Pi.z - c
    more = Pi.x + a, Pi.y + b, Pi.z + c
    return (
        within(x * less[0] + y * less[1] + z * less[2], half)
        and within(w * less[0] + y * more[2] - z * more[1], half)
        and within(w * less[1] + z * more[0] - x * more[2], half)
        and within(w * less[2] + x * more[1] - y * more[0], half)
    )


def ends_as_it_began(states: Any, most: float) -> bool:
    """Whether the last two samples of one body have the spatial momentum of the first, by single numbers: of a short
    run, arrays would take a part of its time. Two, as what turns around in every step is back in every other."""
    q, Pi, found = states.attitude, states.momentum, []
    for i in (0, -2, -1) if len(Pi.x) > 1 else ():
        w, x, y, z, a, b, c = q.w[i], q.x[i], q.y[i], q.z[i], Pi.x[i], Pi.y[i], Pi.z[i]
        u, v, r = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
        found += [a + w * u + y * r - z * v, b + w * v + z * u - x * r, c + w * r + x * v - y * u]
    if not found:
        return True
    f, g, h, *others = found
    size = most * (abs(f) + abs(g) + abs(h))
    return not [None for x, start in zip(others, (f, g, h, f, g, h), strict=True) if not -size <= x - start <= size]
