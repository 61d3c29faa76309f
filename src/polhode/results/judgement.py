"""A run judged: quantities that have no value; an energy that changed though nothing drives the motion."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import numpy as np

from polhode.model.checks import double_precision
from polhode.results.ended import words
from polhode.results.sizes import size_of, values_and_parts
from polhode.simulation import LostMember, Status
from polhode.simulation.extremes import Extremes, OfMembers
from polhode.simulation.lost import without

SPREAD = 256  # samples
_NOTICED = 0.02  # of the largest kinetic energy, in a run whose steps were hard to solve


def went(run: Any) -> Extremes | OfMembers | None:
    """How far all of the motion went, if that came with the steps."""
    kept = run.trajectory
    if not run.every or run.changes or kept.renewals or kept.halvings or kept.events:
        return None
    return kept.extremes


def well(run: Any) -> bool:
    """Whether the steps themselves tell that all energies have a value, and grew by no more than there was to move.
    False says nothing: then it is looked at sample by sample."""
    found = went(run)
    return found is not None and found.within_what_there_was


def up_to_what_has_no_value(run: Any) -> Any:
    """The run up to the first sample in which a quantity that must have a value has none; all of it if there is no
    such. Members of a batch are judged each for itself: one without a value is lost from there on."""
    if well(run) or run.nothing_wrong:
        return run
    values = {name: run[name] for name in run.judged}
    if all(np.isfinite(v).all() for v in values.values()):
        return run
    count = 1 + len(run.members)
    good = {name: np.isfinite(v).all(axis=tuple(range(count, v.ndim))) for name, v in values.items()}
    whole = np.all(list(good.values()), axis=0)
    if run.members:
        run, there = _without_members(run, values, good, whole)
        whole = there.any(axis=tuple(range(1, there.ndim)))
        if whole.all():
            return run
    i = int(whole.argmin())
    what = next(name for name in good if not good[name][i].any())
    bad = ~np.isfinite(values[what][i])
    if run.members and i:
        bad = bad & there[i - 1]  # those that were left
    failure = {
        "step": int(run.trajectory.steps[i]),
        "t": float(run.t[i]),
        "what": what,
        "value": float(values[what][i][bad].flat[0]),
        "members": np.argwhere(bad)[:5].tolist() if bad.ndim else [],
    }
    return replace(run, trajectory=run.trajectory.cut(i, Status.NOT_FINITE, failure))


def _without_members(run: Any, values: dict[str, Any], good: dict[str, Any], whole: Any) -> tuple[Any, Any]:
    """The run with NaN in the place of members from where they have no value on, and where members are whole. Samples
    of those that a step has lost are NaN already."""
    steps, lost = run.trajectory.steps, {record.member: record for record in run.lost}
    there = np.isfinite(jax.tree.leaves(run.state)[0])
    for member in map(tuple, np.argwhere((there & ~whole).any(axis=0)).tolist()):
        at = (slice(None), *member)
        i = int(np.argmax(there[at] & ~whole[at]))
        what = next(name for name in good if not good[name][i][member])
        value = float(np.ravel(values[what][i][member])[0])
        why = f"the {words(what)} is {value}"
        lost[member] = LostMember(member, int(steps[i]), float(run.t[i]), Status.NOT_FINITE, why=why)
    gone = np.logical_or.accumulate(~whole, axis=0)
    end = run.trajectory.end
    trajectory = replace(
        run.trajectory,
        states=without(run.state, gone),
        end=None if end is None else replace(end, state=without(end.state, gone[-1])),
        lost=tuple(sorted(lost.values(), key=lambda record: record.step)),
    )
    return replace(run, trajectory=trajectory), ~gone


def conserved_along(run: Any) -> tuple[str, ...]:
    """What its motion conserves, by name."""
    double_precision()
    if any(event.acted for event in run.events):
        return ()
    # Always as many samples, twice where there are fewer: one program serves all runs.
    which = np.linspace(0, len(run.t) - 1, SPREAD).round().astype(int)
    return run.now.conserved(jax.tree.map(lambda x: x[which], run.state), run.t[which])


def left(run: Any, values: np.ndarray) -> np.ndarray:
    """Values along a run, of a batch those of members that are not lost, in one axis; of all of them where none is
    left but some came to the end."""
    if not run.lost:
        return values
    return values[:, np.isfinite(jax.tree.leaves(run.last_state)[0])]


def drift_of(run: Any, what: str | np.ndarray) -> float:
    """Largest deviation from the start over the samples, relative to the size at the start; of a batch, of members
    that are not lost. Of a quantity by name, "energy", relative to the largest of its parts, kinetic and potential, if
    it starts with next to nothing against those."""
    values, parts = values_and_parts(run, what) if isinstance(what, str) else (what, ())
    largest: Any = np.max([left(run, part).max(axis=0) for part in parts], axis=0) if parts else 0.0
    vector, values = values.ndim > 1 + len(run.members), left(run, values)
    start, deviation = values[0], values - values[0]
    size = np.hypot.reduce(start, axis=-1) if vector else np.abs(start)  # `hypot`, for what overflows when squared
    far = np.hypot.reduce(deviation, axis=-1) if vector else np.abs(deviation)
    return float(np.max(far / size_of(size, largest)))


def _of_energy(kinetic: Any, potential: Any) -> tuple[Any, Any]:
    """How far the energy of each member went, and how much there was to move."""
    energy = kinetic + potential
    change = abs(energy - energy[0]).max(axis=0)
    return change, kinetic[0] + (potential.max(axis=0) - potential.min(axis=0))


def grew(run: Any) -> Any:
    """Whether the energy of any member changed by more than there was to move."""
    change, most = _of_energy(run["kinetic"], run["potential"])
    return (change > most).any()


def energy_gone_wrong(run: Any) -> str | None:
    """A sentence where the energy changed though nothing drives the motion."""
    if well(run) or run.nothing_wrong:
        return None
    kinetic, potential = left(run, run["kinetic"]), left(run, run["potential"])
    energy = kinetic + potential
    if run.renewals or run.halvings:
        if not np.any(np.ptp(energy, axis=0) > _NOTICED * kinetic.max()) or "energy" not in run.conserved:
            return None
        return (
            f"the energy changed by {np.ptp(energy, axis=0).max():.3g} J, with at most {kinetic.max():.3g} J of "
            "motion, though nothing drives this system: its steps were solved, but are too long to follow it; take "
            "smaller ones"
        )
    change, most = _of_energy(kinetic, potential)
    if not (change > most).any() or "energy" not in run.conserved:
        return None
    worst = np.unravel_index(np.argmax(change - most), np.shape(change))
    turned = run.step * np.linalg.norm(left(run, run["omega"]), axis=-1).max()
    return (
        f"{run.method.name}: the energy changed by {change[worst]:.3g} J, more than the {most[worst]:.3g} J there were "
        f"to move, though nothing drives the body: this is not its motion. A step of {run.step:g} s turns it by up to "
        f"{turned:.2g} rad; take one that turns it by less than one"
    )
