"""What a peer's run returns, computed from the states of its bodies in space axes.

Peers know bodies: centres of mass, velocities, rotations and angular velocities. The angles and
rates that the references speak of follow from these alone, so that every peer is read the same way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from polhode.peers.constraint_rows import Constraint
from polhode.peers.systems import bicycle_constraints, disk_constraints, residuals, sphere_constraints
from polhode.references.bicycle_parameters import Bicycle
from polhode.references.rolling_disk import RollingDisk
from polhode.references.rolling_sphere import RollingSphere


class Bodies(NamedTuple):
    """Arrays over n times and N bodies, in the space axes of the references."""

    times: np.ndarray  # (n,), s
    position: np.ndarray  # of the centres of mass, (n, N, 3), m
    velocity: np.ndarray  # (n, N, 3), m/s
    attitude: np.ndarray  # body to space, (n, N, 3, 3)
    omega: np.ndarray  # in space axes, (n, N, 3), rad/s


class Cost(NamedTuple):
    """What the solver took, without building the model or reading its results."""

    steps: int
    seconds: float

    @property
    def seconds_per_step(self) -> float:
        return self.seconds / self.steps


class BicycleRun(NamedTuple):
    times: np.ndarray  # s
    roll: np.ndarray  # rad, positive to the right
    steer: np.ndarray  # rad, positive to the right
    speed: np.ndarray  # forward, m/s
    energy: np.ndarray  # J
    gap: np.ndarray  # largest |φ| of hinges and wheels, m or rad
    slip: np.ndarray  # largest |ψ| of the wheels along the plane, m/s
    cost: Cost


class DiskRun(NamedTuple):
    times: np.ndarray  # s
    theta: np.ndarray  # rad
    p: np.ndarray  # rad/s; p = -θ', q = ψ' cos θ, r = φ' + ψ' sin θ
    q: np.ndarray
    r: np.ndarray
    x: np.ndarray  # contact point, m
    y: np.ndarray
    energy: np.ndarray  # J
    gap: np.ndarray  # distance of the lowest point from the plane, m
    slip: np.ndarray  # largest |ψ| along the plane, m/s
    cost: Cost


class SphereRun(NamedTuple):
    times: np.ndarray  # s
    height: np.ndarray  # of the centre, m
    azimuth: np.ndarray  # of the contact, rad, continuous
    omega: np.ndarray  # (ω1, ω2, ω3) along e1, e2, e3, (n, 3), rad/s
    energy: np.ndarray  # J
    gap: np.ndarray  # distance of the sphere from the wall of the cylinder, m
    slip: np.ndarray  # largest |ψ| along the wall, m/s
    cost: Cost


def energy_error(energy: np.ndarray) -> float:
    """p_E = 100 max|E - E0|/|E0|, percent: the three-field paper, section 5."""
    return float(100 * np.abs(energy - energy[0]).max() / abs(energy[0]))


def energy_of(bodies: Bodies, masses: np.ndarray, inertias: np.ndarray, gravity: np.ndarray) -> np.ndarray:
    """Σ m v²/2 + ω·Iω/2 - m g·r, with the inertias in body axes."""
    Omega = np.einsum("nbji,nbj->nbi", bodies.attitude, bodies.omega)
    kinetic = np.einsum("b,nbk,nbk->n", masses, bodies.velocity, bodies.velocity)
    kinetic += np.einsum("nbi,bij,nbj->n", Omega, inertias, Omega)
    return kinetic / 2 - bodies.position @ gravity @ masses


def _residuals(constraints: tuple[Constraint, ...], bodies: Bodies) -> tuple[np.ndarray, np.ndarray]:
    return residuals(constraints, bodies.position, bodies.attitude, bodies.velocity, bodies.omega)


def bicycle_run(bike: Bicycle, bodies: Bodies, cost: Cost) -> BicycleRun:
    """Roll, steer and speed by R_B = Rz(yaw) Rx(roll) Ry(pitch), R_H = R_B Rot(s, steer); z down."""
    n = bodies.attitude[..., 1]  # the y axes: axles of the wheels, (n, 4, 3)
    c, s = np.cos(bike.tilt), np.sin(bike.tilt)
    tilt = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    turn = tilt.T @ bodies.attitude[:, 1].transpose(0, 2, 1) @ bodies.attitude[:, 2] @ tilt  # Rz(steer)
    spin = np.einsum("nk,nk->n", n[:, 0], bodies.omega[:, 0] - bodies.omega[:, 1])
    gap, slip = _residuals(bicycle_constraints(bike), bodies)
    return BicycleRun(
        times=bodies.times,
        roll=np.arctan2(n[:, 1, 2], np.hypot(n[:, 1, 0], n[:, 1, 1])),
        steer=np.arctan2(turn[:, 1, 0] - turn[:, 0, 1], turn[:, 0, 0] + turn[:, 1, 1]),
        speed=-bike.rear_radius * spin,
        energy=energy_of(bodies, bike.masses, bike.inertias, np.array([0, 0, bike.gravity])),
        gap=gap,
        slip=slip,
        cost=cost,
    )


def disk_run(disk: RollingDisk, bodies: Bodies, cost: Cost) -> DiskRun:
    """θ, p, q, r by R = Rz(ψ) Rx(θ) Ry(φ), ω = -p e_ξ + q e_η + r n; z up."""
    n, omega = bodies.attitude[:, 0, :, 1], bodies.omega[:, 0]
    cos = np.hypot(n[:, 0], n[:, 1])
    forward = np.stack([n[:, 1], -n[:, 0], np.zeros_like(cos)], -1) / cos[:, None]  # e_ξ
    up = np.cross(forward, n)  # e_η, from the contact to the centre
    gap, slip = _residuals(disk_constraints(disk), bodies)
    contact = bodies.position[:, 0] - disk.radius * up
    inertias = np.diag([disk.diametral, disk.polar, disk.diametral])[None]
    return DiskRun(
        times=bodies.times,
        theta=np.arctan2(n[:, 2], cos),
        p=-np.einsum("nk,nk->n", omega, forward),
        q=np.einsum("nk,nk->n", omega, up),
        r=np.einsum("nk,nk->n", omega, n),
        x=contact[:, 0],
        y=contact[:, 1],
        energy=energy_of(bodies, np.array([disk.mass]), inertias, np.array([0, 0, -disk.gravity])),
        gap=gap,
        slip=slip,
        cost=cost,
    )


def sphere_run(sphere: RollingSphere, bodies: Bodies, cost: Cost) -> SphereRun:
    """ω along e1, from the axis through the centre to the contact, e2 = e_z × e1 and e3 = e_z; z up."""
    (x, y, z), omega = bodies.position[:, 0].T, bodies.omega[:, 0]
    rho = np.hypot(x, y)
    e1 = np.stack([x, y, np.zeros_like(x)], -1) / rho[:, None]
    e2 = np.stack([-y, x, np.zeros_like(x)], -1) / rho[:, None]
    inertias = sphere.mass * sphere.gyration * sphere.radius**2 * np.eye(3)[None]
    gap, slip = _residuals(sphere_constraints(sphere), bodies)
    along = np.stack([np.einsum("nk,nk->n", omega, e) for e in (e1, e2)] + [omega[:, 2]], -1)
    return SphereRun(
        times=bodies.times,
        height=z,
        azimuth=np.unwrap(np.arctan2(y, x)),
        omega=along,
        energy=energy_of(bodies, np.array([sphere.mass]), inertias, np.array([0, 0, -sphere.gravity])),
        gap=gap,
        slip=slip,
        cost=cost,
    )
