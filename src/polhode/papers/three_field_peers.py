"""The same motions by tools people use today, for the figures, where they are installed (`polhode[peers]`)."""

from __future__ import annotations

import numpy as np

from polhode.papers.three_field_figures import Line
from polhode.peers import available
from polhode.references.bicycle import BicycleStart
from polhode.references.bicycle_parameters import Bicycle
from polhode.references.rolling_disk import DiskStart, RollingDisk

_SOLVERS = {"generalized-alpha": "Exudyn, generalized-α", "trapezoidal-index2": "Exudyn, index 2"}


def note() -> str:
    """For captions: which peers are in the figure, or why there are none."""
    found = [f"{name} {version}" for name, version in available().items() if version]
    return f"With {', '.join(found)}." if found else "Peers are left out: `pip install polhode[peers]` adds them."


def bicycle_lines(speed: float, roll_rate: float, step: float, until: float) -> dict[str, list[Line]]:
    """Roll, steer and forward speed, and the change of energy, by Exudyn's two solvers."""
    lines: dict[str, list[Line]] = {"roll": [], "steer": [], "forward_speed": [], "energy": []}
    if available()["exudyn"] is None:
        return lines
    from polhode.peers import exudyn

    for solver, label in _SOLVERS.items():
        m = exudyn.bicycle_motion(Bicycle(), BicycleStart(speed, roll_rate), step=step, until=until, solver=solver)
        lines["roll"].append((label, m.times, m.roll))
        lines["steer"].append((label, m.times, m.steer))
        lines["forward_speed"].append((label, m.times, m.speed))
        lines["energy"].append((label, m.times, m.energy - m.energy[0]))
    return lines


def disk_lines(start: DiskStart, step: float, until: float) -> dict[str, list[Line]]:
    """θ, r and the change of energy of a rolling disk, by Exudyn and by SUNDIALS IDA."""
    lines: dict[str, list[Line]] = {"theta": [], "r": [], "energy": []}
    runs = {}
    if available()["exudyn"]:
        from polhode.peers import exudyn

        for solver, label in _SOLVERS.items():
            runs[label] = exudyn.disk_motion(RollingDisk(), start, step=step, until=until, solver=solver)
    if available()["scikit-sundae"]:
        from polhode.peers import sundials

        times = np.linspace(0.0, until, 501)
        runs["SUNDIALS IDA, 1e-6"] = sundials.disk_motion(RollingDisk(), start, times, rtol=1e-6, atol=1e-6)
    for label, m in runs.items():
        lines["theta"].append((label, m.times, m.theta))
        lines["r"].append((label, m.times, m.r))
        lines["energy"].append((label, m.times, m.energy - m.energy[0]))
    return lines
