"""A system without some of its constraints, and how its states are those of the whole one."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.model.checks import InputError, unknown
from polhode.multibody.describe.state import State
from polhode.multibody.rows.gathered import gathered
from polhode.multibody.start.dependent_rows import redundant_rows


def made_of(system: Any, same: Any) -> Any:
    """The same system, put together by JAX, with what it was made of."""
    for name in ("_given", "_constraints"):
        if hasattr(system, name):
            object.__setattr__(same, name, getattr(system, name))
    return same


def released(system: Any, *names: str) -> Any:
    """The system without these constraints, by name, as in "hinge" for the rows "hinge.x", ...: what they held is
    free."""
    given = getattr(system, "_given", None)
    if given is None:
        raise InputError("this system was put together by JAX, without what it was made of; release where it was made")
    bound, held = given
    known = [c.name for c in bound]
    for name in names:
        if name not in known:
            raise unknown("constraint", name, known)
    kept = [(c, anchored) for c, anchored in zip(bound, held, strict=True) if c.name not in names]
    bound, held = [c for c, _ in kept], [anchored for _, anchored in kept]
    labels, holonomic, groups = gathered(bound, held, system.names)
    made = system.replaced(groups=groups, row_names=labels, holonomic=holonomic, redundant=())
    made = made.replaced(start=matched(made, system.start, system))
    object.__setattr__(made, "_given", (bound, held))
    object.__setattr__(made, "_constraints", tuple(bound))
    return made.replaced(redundant=redundant_rows(made.bare()))


def difference(system: Any, other: Any) -> str | None:
    """In words, why a run of a system cannot go on with another; None if it can."""
    if system.names != other.names:
        return f"the run is of the bodies {', '.join(system.names)}, and the new system of {', '.join(other.names)}"
    if new := [row for row in other.row_names if row not in system.row_names]:
        return f"a run can go on without some of its constraints, not with new ones; {new[0]!r} is new"
    if [name for name, _ in system.observables] != [name for name, _ in other.observables]:
        return "the new system has other observables"
    if [name for name, _ in system.traces] != [name for name, _ in other.traces]:
        return "the new system has other traces"
    return None


def matched(system: Any, states: State, of: Any) -> State:
    """States `of` a system with some of the same rows, as states of this one. Rows are told by name; one that is not
    there has no force. Samples may be in front."""
    rows, force = list(of.row_names), states.multipliers
    if rows != list(system.row_names):
        there = [rows.index(row) if row in rows else len(rows) for row in system.row_names]
        none = np.zeros((*np.shape(force)[:-1], 1))
        force = np.concatenate([np.asarray(force), none], axis=-1)[..., there]
    return State(states.positions, states.quaternions, states.velocities, states.omegas, force)
