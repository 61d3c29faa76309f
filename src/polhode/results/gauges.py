"""`Gauges`: what is known of all samples of a run whose samples are not kept: where quantities started, how far they
went from there, and how large their parts were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from polhode.results.sizes import size_of, values_and_parts

_KEPT = ("energy", "spatial_momentum", "vertical_momentum", "nonholonomic_momentum")
_MOST = ("slip", "gap")


def gauged_in(run: Any) -> tuple[str, ...]:
    """Names of quantities whose drift is followed."""
    fits = {"vertical_momentum": "vertical_momentum" in run, "nonholonomic_momentum": "twist_rate" in run}
    return tuple(name for name in _KEPT if fits.get(name, name in run))


def started(run: Any) -> dict[str, Any]:
    """The gauges that are known from the first sample of a run of one body: where quantities started."""
    return {f"{name}.start": run[name][0] for name in ("energy", "spatial_momentum")}


def gauged(
    before: Mapping[str, np.ndarray], run: Any, rows: slice, names: Sequence[str] | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The gauges with these samples of a run; and by name the drift as it was at each of them, members behind. Of
    these quantities, or of all that are followed."""
    after, drifts = dict(before), {}
    for name in gauged_in(run) if names is None else names:
        values, parts = values_and_parts(run, name)
        vector = values.ndim > 1 + len(run.members)
        new = values[rows]
        start = before.get(f"{name}.start", new[0])
        far = _length(new - start, vector)
        zero = np.zeros(np.shape(far)[1:])
        fars = np.fmax.accumulate(np.concatenate([before.get(f"{name}.far", zero)[None], far]), axis=0)[1:]
        largest = [before.get(f"{name}.largest", zero)[None]]
        largest.append(np.fmax.reduce([part[rows] for part in parts]) if parts else np.zeros_like(far))
        sizes = np.fmax.accumulate(np.concatenate(largest), axis=0)[1:]
        with np.errstate(invalid="ignore"):
            drifts[name] = far / size_of(_length(start, vector), sizes)
        after |= {f"{name}.start": start, f"{name}.far": fars[-1], f"{name}.largest": sizes[-1]}
    for name in _MOST:
        if name in run and names is None:
            after[f"{name}.most"] = np.fmax(before.get(f"{name}.most", 0.0), run[name][rows].max())
    return {name: np.asarray(x, dtype=float) for name, x in after.items()}, drifts


def drift_in(gauges: Mapping[str, np.ndarray], name: str, lost: Any = ()) -> float:
    """The largest over the samples so far, as `run.drift` gives it; of a batch, of members that are not lost."""
    start, far, largest = (gauges[f"{name}.{of}"] for of in ("start", "far", "largest"))
    found = np.array(far / size_of(_length(start, start.ndim > far.ndim), largest))
    for record in lost:
        found[record.member] = 0.0
    return float(np.max(found))


def _length(x: Any, vector: bool) -> Any:
    return np.hypot.reduce(x, axis=-1) if vector else np.abs(x)  # `hypot`, for what overflows when squared
