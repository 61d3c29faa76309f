"""Rows that follow from one another, or nearly do: which they are, and what users are told of them.

Such rows contradict each other where they do not agree; and where they only nearly follow from one another, they hold
what true ones would leave free.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._notices import warn
from polhode.model.checks import InputError
from polhode.model.functions import as_arrays
from polhode.multibody.describe.state import State
from polhode.multibody.rows.group import Gathered
from polhode.multibody.rows.rank import companions, dependent, weighted
from polhode.multibody.rows.row_blocks import matrix_of
from polhode.multibody.start.least_motion import Least, are_many, rows_at, sizes
from polhode.multibody.start.moment import moment

_NEAR = 1e-6  # rows this near to following from others are named when they disagree
OUT_OF_TRUE = 1e-4  # and those this near, but not within the tolerance, are warned of
_LITTLE = 1e-3  # rows that disagree by less, relative to their terms, may be meant to agree


def rows_that_follow(system: Gathered, state: State, t: float) -> list[str]:
    """Rows that follow from one another where the state is, with those from which they do."""
    if not system.rows or are_many(system.rows):
        return []
    weights = rows_at(system.bare(), jax.tree.map(jnp.asarray, state), t).null
    return [system.row_names[i] for i in np.flatnonzero(np.abs(weights).max(axis=1, initial=0.0) > 1e-3)]


def companions_of(system: Gathered, rows: Least, row: int) -> list[int]:
    return companions(weighted(rows.A, system.masses, system.inertias), row)


def clashing(system: Gathered, state: State, t: float, rows: np.ndarray, left: np.ndarray) -> list[str]:
    """Names of rows that depend on each other and do not agree."""
    near = rows_at(system, state, t, rows, max(_NEAR, system.tolerance))
    against = near.against(left) * near.unit
    if np.linalg.norm(against) < 0.5 * np.linalg.norm(left * near.unit):
        return []
    clash = np.flatnonzero(np.abs(against) > 1e-3 * np.abs(against).max())
    return [system.row_names[rows[i]] for i in clash] if len(clash) > 1 else []


def unrepaired(system: Gathered, state: State, t: float, rows: np.ndarray, left: np.ndarray) -> InputError:
    """Why `rows` could not be closed: what is `left` of them."""
    names = [system.row_names[i] for i in rows]
    if not np.isfinite(left).all():
        return InputError(f"the start does not define {names[int(np.argmin(np.isfinite(left)))]!r}; move the bodies")
    worst = int(np.argmax(np.abs(left)))
    clash = clashing(system, state, t, rows, left)
    if clash:
        scale = rows_at(system, state, t, rows).scale(sizes(state))
        return InputError(
            f"these constraints contradict each other: {', '.join(clash)}; the best that can be done leaves "
            f"{left[worst]:.3g} in {names[worst]!r}. Remove or change one of them{allowed(left, scale)}"
        )
    return InputError(
        f"the start violates {names[worst]!r} by {left[worst]:.3g} after every attempt to close it; "
        "start the bodies nearer to where the constraint holds"
    )


def allowed(left: np.ndarray, scale: np.ndarray) -> str:
    """What else can be done where rows disagree by little."""
    part = float((np.abs(left) / np.where(scale > 0, scale, np.inf)).max())
    if part > _LITTLE:
        return ""
    return f"; or, if the system is no truer than that, allow it: System(..., tolerance={2 * part:.1g})"


def warn_of_what_nearly_follows(system: Gathered, state: State, t: float) -> None:
    """Warns of rows that nearly follow from others, probably are meant to, but do not within the tolerance."""
    if not system.rows or are_many(system.rows):
        return
    # Only the geometry is judged: all bodies get the same mass, and each one moment of inertia for all axes. Else a
    # light link between heavy bodies would look as if it nearly followed from others.
    masses, inertias = np.asarray(system.masses), np.asarray(system.inertias)
    gyration = np.trace(inertias, axis1=1, axis2=2) / masses / 3
    A = rows_at(system, state, t).A
    u, s, _ = np.linalg.svd(weighted(A, np.ones_like(masses), gyration[:, None, None] * np.eye(3)).toarray())
    nearly = np.flatnonzero((s > system.tolerance) & (s < OUT_OF_TRUE))
    if not len(nearly):
        return
    last = nearly[-1]
    share = np.abs(u[:, last])
    names = [system.row_names[i] for i in np.flatnonzero(share > 0.1 * share.max())]
    warn(
        f"these constraints follow from one another but for {s[nearly[0]]:.2g} of their size: {', '.join(names)}. If "
        "they are meant to, as those of a loop with parallel axes, make them true to more digits, or allow for it: "
        f"System(..., tolerance={2 * s[nearly[0]]:.1g}); as they are, they hold what a true loop would leave free"
    )


def redundant_rows(system: Any) -> tuple[int, ...]:
    """Numbers of those that follow from the ones before them, where the bodies start."""
    if not system.groups:
        return ()
    A = matrix_of(system, moment(system, as_arrays(system.start), np.zeros(())).A)
    return tuple(dependent(weighted(A, system.masses, system.inertias), system.tolerance))
