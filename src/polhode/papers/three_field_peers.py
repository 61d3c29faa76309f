"""The same motions by tools people use today, for the figures, where they are installed (`polhode[peers]`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from polhode.papers.three_field_runs import STEP, Track
from polhode.peers import available, exudyn, sundials
from polhode.references.bicycle import BicycleStart
from polhode.references.bicycle_parameters import Bicycle
from polhode.references.rolling_disk import DiskStart, RollingDisk
from polhode.references.rolling_sphere import RollingSphere

_SOLVERS = {"generalized-alpha": "Exudyn, generalized-α", "trapezoidal-index2": "Exudyn, index 2"}
_DISK = {name: name for name in ("theta", "p", "q", "r", "x", "y")}
_BICYCLE = {"roll": "roll", "steer": "steer", "forward_speed": "speed"}


def note() -> str:
    """For captions: which peers are in the figure, or why there are none."""
    found = [f"{name} {version}" for name, version in available().items() if version]
    return f"With {', '.join(found)}." if found else "Peers are left out: `pip install polhode[peers]` adds them."


def sphere_peers(until: float, *tolerances: float) -> list[Track]:
    """By SUNDIALS IDA alone: Exudyn has no such contact."""
    return _ida(lambda ida, t, **tol: ida.sphere_motion(RollingSphere(), t, **tol), until, {"z": "height"}, *tolerances)


def disk_peers(start: DiskStart, until: float, *, step: float = STEP) -> list[Track]:
    return _exudyn(
        lambda exu, **how: exu.disk_motion(RollingDisk(), start, until=until, step=step, **how), _DISK
    ) + _ida(lambda ida, t, **tol: ida.disk_motion(RollingDisk(), start, t, **tol), until, _DISK)


def bicycle_peers(speed: float, roll_rate: float, until: float) -> list[Track]:
    start = BicycleStart(speed, roll_rate)
    return _exudyn(
        lambda exu, **how: exu.bicycle_motion(Bicycle(), start, until=until, step=STEP, **how), _BICYCLE
    ) + _ida(lambda ida, t, **tol: ida.bicycle_motion(Bicycle(), start, t, **tol), until, _BICYCLE)


def _exudyn(move: Callable[..., Any], names: Mapping[str, str]) -> list[Track]:
    if available()["exudyn"] is None:
        return []
    return [_track(label, move(exudyn, solver=solver), names) for solver, label in _SOLVERS.items()]


def _ida(move: Callable[..., Any], until: float, names: Mapping[str, str], *tolerances: float) -> list[Track]:
    """Steps of its own size; sampled every `STEP`."""
    if available()["scikit-sundae"] is None:
        return []
    t = STEP * np.arange(round(until / STEP) + 1)
    return [
        _track(f"SUNDIALS IDA, {tol:.0e}".replace("e-0", "e-"), move(sundials, t, rtol=tol, atol=tol), names)
        for tol in tolerances or (1e-6,)
    ]


def _track(label: str, m: Any, names: Mapping[str, str]) -> Track:
    values = {ours: getattr(m, theirs) for ours, theirs in names.items()}
    return Track(label, m.times, values, m.energy, m.gap, m.slip)
