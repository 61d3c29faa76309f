"""Bricard's linkage of six right-angled links in one coordinate; gravity along -y.

Six equal links on six revolute joints, each axis perpendicular to the next: the ground from (0, 0, L) to the
origin and five rods P1 P2 ... P6, which start on the edges of a cube. All joints move in two sets of three: the links
at P1, P3, P5 are bent by θ, those at P2, P4, P6 by φ, where 0 is stretched, with

    cos θ + cos φ + cos θ cos φ = 0

(Chen, You, Tarnai, Int. J. Solids Structures 42 (2005) 2287-2301, for twists of 90°). From rest at θ = φ = 90° the
linkage swings to θ = -90° and back, φ between 90° and 120°, and θ determines all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from polhode.references import one_freedom
from polhode.references.one_freedom import OneFreedom, Places


@dataclass(frozen=True)
class Bricard:
    length: float = 1.0  # L of each link, m
    mass: float = 1.0  # of each rod, kg
    width: float = 0.1  # of the square section, m
    gravity: float = 9.81  # m/s²


class BricardMotion(NamedTuple):
    """Arrays over the times."""

    angle: np.ndarray  # θ, rad
    rate: np.ndarray  # rad/s
    joint: np.ndarray  # P3, (n, 3), m
    energy: np.ndarray  # kinetic and m g y, J
    joints: np.ndarray  # P1 to P6 by going round from P1, (n, 6, 3), m
    axes: np.ndarray  # of these joints, unit vectors, (n, 6, 3)


RODS = 5
_GROUND = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]])  # columns x, y, z as below
_TWIST = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # by 90° about x


def frames(theta: Any) -> np.ndarray:
    """Of the ground and the rods, (6, 3, 3): x along the link, z along the axis at its foot. Each link is twisted
    against the one before by 90°, forth and back in turn, and then bent about its z."""
    c = np.cos(theta)
    bent = -c / (1 + c)
    bends = [(c, np.sin(theta)), (bent, np.sqrt(1 - bent**2))]
    made = [_GROUND]
    for i in range(RODS):
        cos, sin = bends[i % 2]
        twist = np.eye(3) if i == 0 else _TWIST if i % 2 else _TWIST.T  # the ground has the axis of P1 already
        made.append(made[-1] @ twist @ np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]]))
    return np.array(made)


def mechanism(bricard: Bricard) -> OneFreedom:
    L, m, b = bricard.length, bricard.mass, bricard.width
    across = m * (L**2 + b**2) / 12
    inertias = np.tile(np.diag([m * b**2 / 6, across, across]), (RODS, 1, 1))

    def places(theta: Any) -> Places:
        rods = frames(theta)[1:]
        ends = L * np.cumsum(rods[:, :, 0], 0)
        return Places(ends - L / 2 * rods[:, :, 0], rods)

    def potential(theta: Any, at: Places) -> Any:
        return m * bricard.gravity * at.centres[:, 1].sum()

    return OneFreedom(np.full(RODS, m), inertias, places, potential)


def motion(bricard: Bricard, times: Any, *, angle: float = np.pi / 2, rate: float = 0.0) -> BricardMotion:
    """The motion at `times`, s, from θ = `angle`, rad, and `rate`, rad/s, at t = 0."""
    m = one_freedom.motion(mechanism(bricard), times, coordinate=angle, rate=rate)
    ends = bricard.length * np.cumsum(m.rotations[:, :, :, 0], 1)
    joints = np.concatenate([np.zeros_like(ends[:, :1]), ends], 1)
    last = m.rotations[:, -1] @ _TWIST.T  # of the ground again, bent back about its z, the axis of P6
    axes = np.concatenate([m.rotations[:, :, :, 2], last[:, None, :, 2]], 1)
    return BricardMotion(m.coordinate, m.rate, joints[:, 2], m.energy, joints, axes)
