"""What energies came to along a motion, found by the program that takes its steps: nobody looks at its samples after.

Six numbers in one array: the kinetic and the potential energy where it began, and the largest that the energy, its
negative, the potential energy and its negative came to at any sample. One that is NaN makes that NaN.
"""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np


def at_start(system: Any, state: Any, t: Any) -> tuple[Any, ...]:
    """Before all samples, inside of a program, one by one; none where they are not told."""
    found = system.energies(state, t)
    if found is None:
        return ()
    kinetic, potential = (jnp.asarray(x, dtype=float) for x in found)
    return kinetic, potential, *_signed(kinetic, potential)


def seen(energies: tuple[Any, ...], system: Any, state: Any, t: Any) -> tuple[Any, ...]:
    """With one sample more, inside of a program."""
    if not energies:
        return ()
    kinetic, potential = (jnp.asarray(x, dtype=float) for x in system.energies(state, t))
    return *energies[:2], *map(jnp.maximum, energies[2:], _signed(kinetic, potential))


def packed(energies: tuple[Any, ...]) -> Any:
    """In one array, as they leave a program: each array that does takes time."""
    return jnp.stack(energies) if energies else None


def _signed(kinetic: Any, potential: Any) -> tuple[Any, ...]:
    return kinetic + potential, -(kinetic + potential), potential, -potential


def together(before: Any, after: Any) -> Any:
    """Those of a motion that went on; None where those of a part are not known."""
    if before is None or after is None:
        return None
    return np.concatenate([before[:2], np.maximum(before[2:], after[2:])])


def within_what_there_was(energies: Any) -> bool:
    """Whether all of them are finite, and the energy changed by no more than there was to move."""
    kinetic, potential, most, least, highest, lowest = energies.tolist()
    start = kinetic + potential
    change, there = max(most - start, least + start), kinetic + (highest + lowest)
    return math.isfinite(change + there) and change <= there
