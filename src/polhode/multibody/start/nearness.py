"""How large a system is and how fast it moves, to judge by what a start had to be changed."""

from __future__ import annotations

import numpy as np

from polhode.multibody.rows.group import Gathered
from polhode.multibody.start.correction import Correction

_SHIFT, _TURN, _SPEED = 1e-3, 1e-2, 1e-3  # of the extent; rad; of the speeds


TOLD = 1e-9  # of the size and the speeds of a system: corrections of a start below this are round-off
_REST = 1e-6  # 1/s: what moves by less than this of its size is at rest


def extent(system: Gathered) -> float:
    """The largest length in a system (m), wherever in space it is: between bodies, from a body to a joint or a
    contact, or its radius of gyration."""
    r = np.asarray(system.start.positions)
    gyration = np.sqrt(np.trace(np.asarray(system.inertias), axis1=-2, axis2=-1) / 2 / np.asarray(system.masses))
    lengths = [*gyration, float(np.linalg.norm(r - r[0], axis=-1).max())]
    lengths += [length for group in system.groups for length in group.lengths()]
    return max(lengths)


def is_round_off(system: Gathered, change: Correction) -> bool:
    """Whether a start was as good as consistent: nothing was changed but round-off in what the user gave."""
    size = extent(system)
    v, omega, shift, turn, dv, domega = (
        float(np.abs(x).max(initial=0.0))  # a norm of 1e200 is none
        for x in (system.start.velocities, system.start.omegas, *change.parts)
    )
    speed = max(v, size * omega, _REST * size)
    return shift <= TOLD * size and turn <= TOLD and max(dv, size * domega) <= TOLD * speed


def too_far_away(system: Gathered, change: Correction) -> bool:
    """Whether bodies were moved or turned by more than a little."""
    return _longest(change.shift) > _SHIFT * extent(system) or _longest(change.turn) > _TURN


def too_far(system: Gathered, change: Correction) -> str | None:
    """Why a start is too far from its constraints to be mended without being asked for; None if it is near."""
    size = extent(system)
    v, omega = np.asarray(system.start.velocities), np.asarray(system.start.omegas)
    speed = max(_longest(v), size * _longest(omega))
    changed = max(_longest(change.velocity), size * _longest(change.omega))
    if not too_far_away(system, change) and changed <= _SPEED * speed:
        return None
    return (
        f"the start does not fulfil its constraints, and is too far from that to be mended without being asked:\n"
        f"{change}\nNo body is moved by more than {_SHIFT:g} of the size of the system, {size:.3g} m, turned by more "
        f"than {_TURN:g} rad or given a velocity other by {_SPEED:g} of the speeds, {speed:.3g} m/s. Start the "
        "bodies where the constraints hold, with velocities that fulfil them; or accept the changes above: "
        "simulate(system.replaced(start=mb.consistent_start(system)[0]), ...)"
    )


def _longest(vectors: np.ndarray) -> float:
    return float(np.linalg.norm(vectors, axis=-1).max())
