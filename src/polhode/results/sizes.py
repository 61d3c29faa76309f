"""By what size the change of a quantity that should stay is told: that of its start, where it starts with any.

An energy of nothing, kinetic and potential taking each other's place, is 1e-16 J as it is computed: relative to that,
round-off would look like everything. The one rule of tables, records and pictures is here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.algebra.library import library_of

_NOTHING = 1e-9  # of its largest part: a quantity that starts smaller than this is near its round-off
_FROM = {"slip": ("velocity", "omega"), "gap": ("position",)}
_LEAST = 0.01 * float(np.finfo(float).eps)  # of what it is computed from


def starts_with_something(start: Any, largest: Any) -> Any:
    """Whether the size at the start means something against the largest of its parts."""
    return abs(start) > _NOTHING * library_of(largest).asarray(largest)


def size_of(start: Any, largest: Any) -> Any:
    """The size at the start, or of the largest part where that means nothing; 1 where there is neither."""
    where = library_of(start, largest).where
    size = where(starts_with_something(start, largest), abs(start), largest)
    return where(size == 0, 1.0, size)


def values_and_parts(run: Any, name: str) -> tuple[np.ndarray, Sequence[np.ndarray]]:
    """A quantity of a run, and sizes of what it is the sum of, at every sample."""
    if name == "energy":
        return run["energy"], [run["kinetic"], np.abs(run["potential"])]
    if name == "nonholonomic_momentum":
        return run["momentum"][..., :2], [_length(run["momentum"])]
    if name == "vertical_momentum":
        return run[name], [_length(run["spatial_momentum"])]
    if name == "spatial_momentum" and "position" in run:
        r, v, spin = run["position"], run["velocity"], np.einsum("bij,...bj->...bi", run.known.inertias, run["omega"])
        of_bodies = [_length(r) * np.asarray(run.known.masses) * _length(v), _length(spin)]
        return run[name], [part.max(axis=-1) for part in of_bodies]
    return run[name], [_length(run[name])] if name == "spatial_momentum" else []


def above_round_off(of: Any, name: str) -> np.ndarray:
    """A residual of a run or dataset, as a logarithmic axis can show it: none where it is zero, and no less than a
    hundredth of the round-off of what it is computed from; 1e-98 m/s would leave no room for the rest."""
    values = np.asarray(of[name], dtype=float)
    sizes = [np.fmax.reduce(np.abs(np.asarray(of[part])).ravel(), initial=0.0) for part in _FROM[name] if part in of]
    return np.where(values > 0, np.maximum(values, _LEAST * max(sizes, default=0.0)), np.nan)


def _length(vectors: Any) -> np.ndarray:
    return np.hypot.reduce(np.asarray(vectors), axis=-1)  # `hypot`, for what overflows when squared
