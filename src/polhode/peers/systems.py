"""The constraints of the three rolling systems, and how well the bodies of a run keep them."""

from __future__ import annotations

import numpy as np

from polhode.peers.constraint_rows import Constraint, Hinge, RollingWheel, SphereInCylinder
from polhode.references.bicycle_parameters import Bicycle
from polhode.references.rolling_disk import RollingDisk
from polhode.references.rolling_sphere import RollingSphere


def sphere_constraints(sphere: RollingSphere) -> tuple[Constraint, ...]:
    return (SphereInCylinder(sphere.radius, sphere.cylinder_radius),)


def disk_constraints(disk: RollingDisk) -> tuple[Constraint, ...]:
    return (RollingWheel(0, disk.radius, up=1.0),)


def bicycle_constraints(bike: Bicycle) -> tuple[Constraint, ...]:
    """Three hinges and two wheels on rear wheel, rear frame, front frame, front wheel; z down."""
    rear = np.array([0, 0, -bike.rear_radius])
    frame = np.array([bike.frame_position[0], 0, bike.frame_position[1]])
    fork = np.array([bike.fork_position[0], 0, bike.fork_position[1]])
    front = np.array([bike.wheelbase, 0, -bike.front_radius])
    head = np.array([bike.wheelbase + bike.trail, 0, 0])
    x, y, z = np.eye(3)
    c, s = np.cos(bike.tilt), np.sin(bike.tilt)
    return (
        Hinge((1, 0), (rear - frame, 0 * rear), y, np.array([x, z])),
        Hinge((1, 2), (head - frame, head - fork), s * x + c * z, np.array([c * x - s * z, y])),
        Hinge((2, 3), (front - fork, 0 * front), y, np.array([x, z])),
        RollingWheel(0, bike.rear_radius, up=-1.0),
        RollingWheel(3, bike.front_radius, up=-1.0),
    )


def residuals(
    constraints: tuple[Constraint, ...], r: np.ndarray, R: np.ndarray, v: np.ndarray, omega: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Largest |φ| of the holonomic rows and largest |ψ| of the others, over time; v and ω in space axes."""
    gaps, slips = [], []
    for c in constraints:
        parts = [row.T @ v[:, row.body, :, None] + row.Q @ omega[:, row.body, :, None] for row in c.rows(r, R)]
        slips.append(sum(parts)[:, ~np.array(c.holonomic), 0])
        gaps.append(c.gap(r, R))
    return np.abs(np.concatenate(gaps, -1)).max(-1), np.abs(np.concatenate(slips, -1)).max(-1)
