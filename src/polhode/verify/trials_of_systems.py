"""The systems on which methods for many bodies are measured: of about 1 kg, 1 m and 1 m/s, and soon compiled.

Their motions are regular: what is measured in 10⁴ steps does not depend on round-off, as it would in chaotic ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from polhode.algebra import Quaternion, exp
from polhode.model.problem import Problem
from polhode.multibody import GROUND, Body, Gravity, Revolute, Spring, System
from polhode.problems import problem
from polhode.references import double_pendulum, rolling_disk
from polhode.results.run import Run

RODS = double_pendulum.DoublePendulum()
ANGLES, RATES = (0.4, 0.3), (0.5, -0.5)
_UNTIL = 1.0  # s


@cache
def pendulum() -> Problem:
    """Two rods on hinges that are not parallel, under gravity: all six degrees of both move."""
    at = double_pendulum.bodies(RODS, ANGLES, RATES)
    upper, lower = (
        Body(
            name,
            RODS.masses[i],
            RODS.moments[i],
            position=at.centres[i],
            attitude=_quaternion(at.rotations[i]),
            velocity=at.velocities[i],
            omega=at.omegas[i],
        )
        for i, name in enumerate(("upper", "lower"))
    )
    hinges = [
        Revolute(GROUND, "upper", at=(0.0, 0.0, 0.0), axis=RODS.axes[0], name="shoulder"),
        Revolute("upper", "lower", at=at.elbow, axis=at.hinge, name="elbow"),
    ]
    return Problem(System([upper, lower], forces=[Gravity((0.0, 0.0, -RODS.gravity))], constraints=hinges))


@cache
def pair() -> Problem:
    """Two bodies adrift, on a hinge and a spring: both momenta are conserved, and the energy."""
    attitude, spin = exp((0.0, 0.0, 0.2)), np.array([0.15, 0.1, 1.0])
    R, joint = attitude.matrix().array, np.array([0.5, 0.0, 0.0])  # the joint from a, m
    centre, turns = R @ np.array([0.4, 0.0, 0.0]), spin + np.array([0.0, 0.0, 0.3])  # b from the joint; its spin
    v = np.array([0.03, -0.02, 0.05])
    v_b = v + np.cross(spin, joint) + np.cross(turns, centre)
    bodies = [
        Body("a", 1.0, (0.1, 0.2, 0.25), position=-joint, velocity=v, omega=spin),
        Body("b", 0.6, (0.03, 0.05, 0.06), position=centre, attitude=attitude, velocity=v_b, omega=R.T @ turns),
    ]
    spring = Spring("a", "b", 3.0, 0.6, at_a=(0.0, 0.3, 0.0), at_b=(0.0, 0.3, 0.0))
    hinge = Revolute("a", "b", at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), name="hinge")
    return Problem(System(bodies, forces=[spring], constraints=[hinge]))


DISK = rolling_disk.DiskStart(theta=0.3, p=0.2, q=0.5, r=-4.0)


@cache
def disk() -> Problem:
    """A disk that rolls, wobbles and turns, fast enough to stay up."""
    return problem("rolling-disk", inclination=DISK.theta, p0=DISK.p, q0=DISK.q, r0=DISK.r)


@dataclass(frozen=True, eq=False)
class SystemTrial:
    """A problem, and where its bodies are at the end by other means."""

    name: str
    problem: Callable[[], Problem]
    reference: Callable[[], tuple[np.ndarray, ...]]  # centres, rotations, velocities and omegas of the bodies
    until: float = _UNTIL
    round_off: float = 1e-10  # errors below are of steps that are solved to 1e-12 of their unknowns
    free: bool = False

    def error(self, run: Run) -> float:
        end = run.last_state
        rotations = Quaternion.of(np.asarray(end.quaternions)).matrix().array
        found = (end.positions, rotations, end.velocities, end.omegas)
        return float(max(np.abs(a - b).max() for a, b in zip(found, self.reference(), strict=True)))


@cache
def _end_of_pendulum() -> tuple[np.ndarray, ...]:
    end = double_pendulum.motion(RODS, [_UNTIL], angles=ANGLES, rates=RATES)[-1]
    return end.centres, end.rotations, end.velocities, end.omegas


@cache
def _end_of_disk() -> tuple[np.ndarray, ...]:
    end = rolling_disk.motion(rolling_disk.RollingDisk(), DISK, [_UNTIL])
    return end.position, end.attitude, end.velocity, end.omega


def _quaternion(R: np.ndarray) -> Quaternion:
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(R).as_quat()
    return Quaternion(float(w), float(x), float(y), float(z))


PENDULUM = SystemTrial("double pendulum", pendulum, _end_of_pendulum)
ROLLING = SystemTrial("rolling disk", disk, _end_of_disk)
