"""A run judged: quantities that have no value; an energy that changed though nothing drives the motion."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from polhode.simulation import Status

_NOTICED = 0.02  # of the largest kinetic energy, in a run whose steps were hard to solve


def up_to_what_has_no_value(run: Any) -> Any:
    """The run up to the first sample in which a quantity that must have a value has none; all of it if there is no
    such."""
    values = {name: run[name] for name in run.judged}
    good = {name: np.isfinite(v).all(axis=tuple(range(1, v.ndim))) for name, v in values.items()}
    whole = np.all(list(good.values()), axis=0)
    if whole.all():
        return run
    i = int(whole.argmin())
    what = next(name for name in good if not good[name][i])
    bad = ~np.isfinite(values[what][i])
    failure = {
        "step": int(run.trajectory.steps[i]),
        "t": float(run.t[i]),
        "what": what,
        "value": float(values[what][i][bad].flat[0]),
        "members": np.argwhere(bad)[:5].tolist() if bad.ndim else [],
    }
    return replace(run, trajectory=run.trajectory.cut(i, Status.NOT_FINITE, failure))


def drift_of(values: np.ndarray, *, vector: bool) -> float:
    start, deviation = values[0], values - values[0]
    size = np.hypot.reduce(start, axis=-1) if vector else np.abs(start)  # `hypot`, for what overflows when squared
    far = np.hypot.reduce(deviation, axis=-1) if vector else np.abs(deviation)
    return float(np.max(far / np.where(size == 0, 1.0, size)))


def energy_gone_wrong(run: Any) -> str | None:
    """A sentence where the energy changed though nothing drives the motion."""
    energy, kinetic, potential = run["energy"], run["kinetic"], run["potential"]
    change = np.abs(energy - energy[0]).max(axis=0)
    if run.renewals or run.halvings:
        if not np.any(np.ptp(energy, axis=0) > _NOTICED * kinetic.max()) or "energy" not in run.conserved:
            return None
        return (
            f"the energy changed by {np.ptp(energy, axis=0).max():.3g} J, with at most {kinetic.max():.3g} J of "
            "motion, though nothing drives this system: its steps were solved, but are too long to follow it; take "
            "smaller ones"
        )
    most = kinetic[0] + np.ptp(potential, axis=0)
    if not (change > most).any() or "energy" not in run.conserved:
        return None
    worst = np.unravel_index(np.argmax(change - most), np.shape(change))
    turned = run.step * np.linalg.norm(run["omega"], axis=-1).max()
    return (
        f"{run.method.name}: the energy changed by {change[worst]:.3g} J, more than the {most[worst]:.3g} J there were "
        f"to move, though nothing drives the body: this is not its motion. A step of {run.step:g} s turns it by up to "
        f"{turned:.2g} rad; take one that turns it by less than one"
    )
