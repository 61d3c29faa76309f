"""The parts of a system that a row holds to the ground, or makes roll: where the work of rows is made good."""

from __future__ import annotations

import numpy as np

from polhode.multibody.places import rows_of
from polhode.multibody.system import System


def anchored(system: System) -> tuple[np.ndarray, np.ndarray]:
    """Bodies (m, N) and rows (m, k) of each part of the system that is held or rolls: what a row ties
    together is one part. A part that floats keeps its linear momentum instead, and its energy to order h⁴."""
    part = np.arange(system.size)
    held = set()
    for g in system.groups:
        for bodies in g.bodies:
            part[np.isin(part, part[list(bodies)])] = part[bodies[0]]
    for g in system.groups:
        held |= {part[bodies[0]] for bodies in g.bodies if len(bodies) == 1 or g.kind.nonholonomic}
    bodies_of = np.array([part == label for label in sorted(held)], dtype=float).reshape(len(held), system.size)
    owner = np.zeros(system.rows, dtype=int)
    for g in system.groups:
        for rows, bodies in zip(rows_of(g), g.bodies, strict=True):
            owner[rows] = part[bodies[0]]
    rows_in = np.array([owner == label for label in sorted(held)], dtype=float).reshape(len(held), system.rows)
    return bodies_of, rows_in
