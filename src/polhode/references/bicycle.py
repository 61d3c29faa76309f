"""The benchmark bicycle, nonlinear: seven coordinates, three speeds, pitch from the front contact.

Meijaard, Papadopoulos, Ruina, Schwab, Proc. R. Soc. A 463 (2007) 1955-1982: four rigid bodies
(rear wheel R, rear frame with rider B, front frame H, front wheel F), three hinges, two
knife-thin wheels that roll on z = 0. Space axes: x forward, y to the right, z down.

Upright and straight, the rear contact is at the origin. From there the rear frame turns by
R_B = Rz(yaw) Rx(roll) Ry(pitch), the front frame by R_H = R_B Rot(s, steer) about the steer axis
s = (sin λ, 0, cos λ) through (w + c, 0, 0), the wheels by their angles about their y axes.

The coordinates q = (x, y, yaw, roll, pitch, steer, rear, front), with (x, y) the rear contact,
move by q' = B(q) u with u = (roll', steer', rear'): B solves the five rolling conditions. With
v_b = P_b u, ω_b = Q_b u the equations of Maggi and Kane are

    Σ_b P_bᵀ m_b (P_b u' + P_b' u - g) + Q_bᵀ (I_b (Q_b u' + Q_b' u) + ω_b × I_b ω_b) = 0,

where P', Q', B' along q' come by a complex step, so to round-off.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, sin, sqrt
from typing import Any, NamedTuple

import numpy as np

from polhode.model.checks import InputError, numbers
from polhode.references.bicycle_parameters import BODIES, Bicycle
from polhode.references.ode import solve

__all__ = ["BODIES", "COORDINATES", "Bicycle", "BicycleMotion", "BicycleStart", "accelerations", "motion", "pitch_of"]

COORDINATES = ("x", "y", "yaw", "roll", "pitch", "steer", "rear", "front")
_FREE, _BOUND = [3, 5, 6], [0, 1, 2, 4, 7]  # u are the rates of roll, steer, rear; the others follow

# Which turns (yaw, roll, pitch, steer, rear, front) carry the centres of R, B, H, F and the two contact points.
_CARRIES = np.array([[1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 0, 0],
                     [1, 1, 1, 0, 1, 0], [1, 1, 1, 1, 0, 1]])[..., None]  # fmt: skip
_TURNS = np.array([[1, 1, 1, 0, 1, 0], [1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 0, 1]])[..., None]
_EX, _EY, _EZ = np.eye(3)
_STEP = 1e-30
_FLAT = sin(np.pi / 180)  # of the angle between a wheel and the ground
_JAMMED = 100.0  # in q' per u: rear' is no independent speed where the front wheel stands across the path


@dataclass(frozen=True)
class BicycleStart:
    """State at t = 0, rear contact at the origin: speed = -rear_radius rear', m/s; angles rad, rates rad/s."""

    speed: float
    roll_rate: float = 0.0
    steer_rate: float = 0.0
    roll: float = 0.0
    steer: float = 0.0
    yaw: float = 0.0

    def __post_init__(self) -> None:
        numbers("start", (self.speed, self.roll_rate, self.steer_rate, self.roll, self.steer, self.yaw))


class BicycleMotion(NamedTuple):
    """Arrays over the times; bodies in the order of `BODIES`, vectors in space axes on the last axis."""

    coordinates: dict[str, np.ndarray]  # by the names in `COORDINATES`; m and rad
    rates: dict[str, np.ndarray]  # of the same
    speed: np.ndarray  # forward speed -rear_radius rear', m/s
    position: np.ndarray  # of the centres of mass, (n, 4, 3), m
    velocity: np.ndarray  # of the centres of mass, (n, 4, 3), m/s
    omega: np.ndarray  # (n, 4, 3), rad/s
    attitude: np.ndarray  # body to space, (n, 4, 3, 3), the identity in the upright bicycle with wheel angles 0
    kinetic: np.ndarray  # J
    potential: np.ndarray  # -Σ m g z, J
    energy: np.ndarray  # J


class _Kinematics(NamedTuple):
    B: np.ndarray  # q' = B u, (8, 3)
    P: np.ndarray  # v_b = u @ P[b], (4, 3, 3)
    Q: np.ndarray  # ω_b = u @ Q[b], (4, 3, 3)
    frames: np.ndarray  # R_B and R_H, body to space, (2, 3, 3)
    centres: np.ndarray  # from the rear contact, (4, 3)


def _turn(axis: int, angle: Any) -> np.ndarray:
    c, s, i, j = np.cos(angle), np.sin(angle), (axis + 1) % 3, (axis + 2) % 3
    R = np.zeros((3, 3), dtype=np.result_type(angle))
    R[axis, axis], R[i, i], R[j, j], R[i, j], R[j, i] = 1, c, c, -s, s
    return R


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    ax, ay, az, bx, by, bz = *np.moveaxis(a, -1, 0), *np.moveaxis(b, -1, 0)
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], -1)


def _kinematics(bike: Bicycle, yaw: Any, roll: Any, pitch: Any, steer: Any) -> _Kinematics:
    """Everything that depends on the position alone; analytic in the angles, so that they may be complex."""
    heading = _turn(2, yaw)
    plane = heading @ _turn(0, roll)
    R_B = plane @ _turn(1, pitch)
    tilt = _turn(1, bike.tilt)
    R_H = R_B @ tilt @ _turn(2, steer) @ tilt.T

    rear = np.array([0, 0, -bike.rear_radius])
    axis = np.array([bike.wheelbase + bike.trail, 0, 0])
    (xB, zB), (xH, zH) = bike.frame_position, bike.fork_position
    hub = plane @ rear
    head = hub + R_B @ (axis - rear)
    frame = hub + R_B @ (np.array([xB, 0, zB]) - rear)
    fork = head + R_H @ (np.array([xH, 0, zH]) - axis)
    front = head + R_H @ (np.array([bike.wheelbase, 0, -bike.front_radius]) - axis)
    n = R_H[:, 1]
    touch = front + bike.front_radius * (_EZ - n * n[2]) / np.sqrt(1 - n[2] ** 2)

    zero = np.zeros(3)
    axes = np.array([_EZ, heading[:, 0], plane[:, 1], R_B @ tilt[:, 2], plane[:, 1], n])
    origins = np.array([zero, zero, hub, head, hub, front])
    points = np.array([hub, frame, fork, front, zero, touch])
    by_turns = _cross(axes, (points[:, None] - origins) * _CARRIES)  # (6 points, 6 turns, 3)
    by_shift = np.broadcast_to(np.array([_EX, _EY]), (6, 2, 3))
    J = np.concatenate([by_shift, by_turns], 1)  # (6 points, 8 coordinates, 3)

    rolling = np.concatenate([J[4, :, :2], J[5]], 1).T  # (5, 8): the rear contact cannot leave z = 0
    B = np.zeros((8, 3), dtype=J.dtype)
    B[_FREE] = np.eye(3)
    B[_BOUND] = -np.linalg.solve(rolling[:, _BOUND], rolling[:, _FREE])
    return _Kinematics(B, B.T @ J[:4], B[2:].T @ (axes * _TURNS), np.array([R_B, R_H]), points[:4])


def pitch_of(bike: Bicycle, roll: float, steer: float) -> float:
    """The pitch, rad, at which the front wheel touches the plane: Newton from 0 on the height of its lowest point."""
    tilt = _turn(1, bike.tilt)
    turn = tilt @ _turn(2, steer) @ tilt.T
    reach = turn @ [-bike.trail, 0, -bike.front_radius] + [bike.wheelbase + bike.trail, 0, bike.rear_radius]
    (lx, ly, lz), (nx, ny, nz), r = reach.tolist(), turn[:, 1].tolist(), bike.front_radius
    cr, sr = cos(roll), sin(roll)
    theta = 0.0
    for _ in range(50):
        if cr < _FLAT:
            break
        ct, st = cos(theta), sin(theta)
        nose = -cr * st * nx + sr * ny + cr * ct * nz  # vertical component of the front axle
        slope = cr * (-ct * nx - st * nz)
        lean = sqrt(max(1 - nose**2, 0.0))
        if lean < _FLAT:
            break
        height = -bike.rear_radius * cr - cr * st * lx + sr * ly + cr * ct * lz + r * lean
        change = height / (cr * (-ct * lx - st * lz) - r * nose * slope / lean)
        theta -= change
        if abs(change) < 1e-14:
            return theta
    raise InputError(
        f"no pitch puts both wheels on the ground at roll = {roll:.4g} rad, steer = {steer:.4g} rad; "
        "or a wheel lies flat (within 1°): the bicycle has fallen; ask for earlier times, or start closer to upright"
    )


def accelerations(
    bike: Bicycle, angles: tuple[float, float, float], u: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(q', q'', u') at angles (yaw, roll, steer) and speeds u = (roll', steer', rear'); q as in `COORDINATES`."""
    yaw, roll, steer = angles
    position = np.array([yaw, roll, pitch_of(bike, roll, steer), steer])
    k = _kinematics(bike, *position)
    if np.abs(k.B).max() > _JAMMED:
        raise InputError(
            f"at roll = {roll:.4g} rad, steer = {steer:.4g} rad the front wheel stands across the path and the rear "
            "wheel cannot turn; the bicycle has fallen: ask for earlier times, or start closer to straight"
        )
    rate = k.B @ u
    dB, dP, dQ = (part.imag / _STEP for part in _kinematics(bike, *(position + 1j * _STEP * rate[2:6]))[:3])

    m, R = bike.masses, k.frames[[0, 0, 1, 1]]
    I = R @ bike.inertias @ R.transpose(0, 2, 1)
    omega, QI = u @ k.Q, k.Q @ I
    gyro = np.cross(omega, (I @ omega[..., None])[..., 0])
    mass = np.einsum("b,bik,bjk->ij", m, k.P, k.P) + np.einsum("bik,bjk->ij", QI, k.Q)
    weight = bike.gravity * _EZ - u @ dP
    force = np.einsum("b,bik,bk->i", m, k.P, weight) - np.einsum("bik,bk->i", QI, u @ dQ)
    du = np.linalg.solve(mass, force - np.einsum("bik,bk->i", k.Q, gyro))
    return rate, k.B @ du + dB @ u, du


def motion(bike: Bicycle, start: BicycleStart, times: Any) -> BicycleMotion:
    """The motion at `times`, s."""

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        velocity, _unused, du = accelerations(bike, (y[2], y[3], y[4]), y[7:])
        return np.concatenate([np.delete(velocity, 4), du])

    s = start
    q0 = [0, 0, s.yaw, s.roll, s.steer, 0, 0]
    y = solve(rate, [*q0, s.roll_rate, s.steer_rate, -s.speed / bike.rear_radius], times)
    pitch = np.array([pitch_of(bike, roll, steer) for roll, steer in y[3:5].T])
    q, u = np.insert(y[:7], 4, pitch, 0), y[7:].T
    return _describe(bike, q, u)


def _describe(bike: Bicycle, q: np.ndarray, u: np.ndarray) -> BicycleMotion:
    rows = [_kinematics(bike, *angles) for angles in q[2:6].T]
    B, P, Q, frames, centres = (np.array(part) for part in zip(*rows, strict=True))
    position = centres + np.stack([q[0], q[1], 0 * q[0]], -1)[:, None]
    velocity, omega = (np.einsum("ni,nbik->nbk", u, part) for part in (P, Q))
    R = frames[:, [0, 0, 1, 1]]
    momentum = np.einsum("nbij,bjk,nblk,nbl->nbi", R, bike.inertias, R, omega)
    kinetic = 0.5 * (np.einsum("b,nbk,nbk->n", bike.masses, velocity, velocity) + (omega * momentum).sum((1, 2)))
    potential = -bike.gravity * position[..., 2] @ bike.masses
    attitude = R.copy()
    for body, angle in ((0, q[6]), (3, q[7])):
        attitude[:, body] = R[:, body] @ np.array([_turn(1, a) for a in angle])
    rates = dict(zip(COORDINATES, np.einsum("nij,nj->in", B, u), strict=True))
    return BicycleMotion(
        dict(zip(COORDINATES, q, strict=True)), rates, -bike.rear_radius * rates["rear"],
        position, velocity, omega, attitude, kinetic, potential, kinetic + potential,
    )  # fmt: skip
