"""What a multibody code is told of a mechanism: parts, joints, springs, where everything is at the start.

All in SI units and space axes unless said otherwise; the ground is `None`. Which code runs it, and how, is the matter
of `polhode.peers.exudyn` and `polhode.peers.mujoco`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polhode.peers.runs import Bodies, energy_of


@dataclass(frozen=True)
class Part:
    name: str
    mass: float
    inertia: np.ndarray  # 3x3, body axes, about the centre of mass
    position: np.ndarray  # of the centre of mass
    attitude: np.ndarray  # body to space, 3x3
    velocity: np.ndarray
    omega: np.ndarray


@dataclass(frozen=True)
class Joint:
    """A hinge about `axis` through `at`, or a slide along it."""

    a: int | None
    b: int
    at: np.ndarray
    axis: np.ndarray
    slides: bool = False


@dataclass(frozen=True)
class Between:
    """A line from a point of a to a point of b, in their axes and from their centres of mass: a spring with a damper
    or, where `stiff`, a massless bar."""

    a: int | None
    b: int
    at_a: np.ndarray
    at_b: np.ndarray
    stiffness: float = 0.0
    damping: float = 0.0
    length: float = 0.0
    stiff: bool = False


@dataclass(frozen=True)
class Mechanism:
    parts: tuple[Part, ...]
    joints: tuple[Joint, ...]
    lines: tuple[Between, ...]
    gravity: np.ndarray
    torques: tuple[tuple[int, np.ndarray], ...] = ()  # constant, on parts

    @property
    def planar(self) -> bool:
        """All joints are hinges with parallel axes."""
        first = self.joints[0].axis if self.joints else np.zeros(3)
        return all(not j.slides and np.abs(np.cross(j.axis, first)).max() < 1e-12 for j in self.joints)

    def energy(self, bodies: Bodies) -> np.ndarray:
        """Kinetic, of weight and springs, over the times."""
        masses, inertias = np.array([p.mass for p in self.parts]), np.array([p.inertia for p in self.parts])
        total = energy_of(bodies, masses, inertias, self.gravity)
        for line in self.lines:
            ends = []
            for body, s in ((line.a, line.at_a), (line.b, line.at_b)):
                ends.append(s if body is None else bodies.position[:, body] + bodies.attitude[:, body] @ s)
            apart = np.linalg.norm(ends[1] - ends[0], axis=-1)
            total = total + 0.5 * line.stiffness * (apart - line.length) ** 2
        return total
