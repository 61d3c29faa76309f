"""The reference solutions of rolling bodies against Newton and Euler in space axes, closed forms and invariants."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from reference_checks import UP, below, roll_in_space, spread

from polhode.model.checks import InputError
from polhode.references import attitude, chaplygin_ball, rattleback, rolling_disk, rolling_sphere

# Sphere in a cylinder


def test_sphere_has_the_printed_start() -> None:
    sphere = rolling_sphere.RollingSphere()
    start = rolling_sphere.motion(sphere, [0.0])
    assert start.omega[0, 0] == pytest.approx(-20.265, abs=5e-4)
    assert start.position[0] == pytest.approx([0.6, 0, 1.224])


def test_sphere_obeys_newton_and_euler() -> None:
    sphere = rolling_sphere.RollingSphere(phase=0.3, gyration=0.5, mass=2.0)
    t = np.linspace(0, 10, 101)
    exact = rolling_sphere.motion(sphere, t)
    a = sphere.radius

    def arm(_: np.ndarray, r: np.ndarray) -> np.ndarray:
        return a * np.array([r[0], r[1], 0]) / np.sqrt(r[0] ** 2 + r[1] ** 2)

    start = exact.position[0], np.eye(3), exact.omega_space[0]
    r, _, w = roll_in_space(2.0, np.eye(3) * 2.0 * 0.5 * a**2, 9.81, arm, start, t)
    below(5e-12, r - exact.position)  # 1.0e-12
    below(5e-10, w - exact.omega_space)  # 2.7e-11, of 16
    below(1e-13, spread(exact.energy))  # 7.1e-15


def test_sphere_refuses_what_does_not_fit() -> None:
    with pytest.raises(InputError, match="does not fit"):
        rolling_sphere.RollingSphere(radius=2.0)
    with pytest.raises(InputError, match="spin is 0"):
        rolling_sphere.RollingSphere(spin=0.0)


# Disk on a plane

DISK = rolling_disk.RollingDisk()
WOBBLES = [rolling_disk.DiskStart(theta=np.radians(1), r=r0) for r0 in (-2.25, -1.5, -0.75)]


def test_disk_obeys_newton_and_euler() -> None:
    disk = rolling_disk.RollingDisk(mass=2.0, radius=0.7, diametral=0.3, polar=0.4)
    start = rolling_disk.DiskStart(theta=0.3, psi=0.4, phi=0.5, p=0.2, q=1.0, r=-3.0, x=0.1, y=0.2)
    t = np.linspace(0, 5, 51)
    reduced = rolling_disk.motion(disk, start, t)

    def arm(R: np.ndarray, _: np.ndarray) -> np.ndarray:
        u = UP - R[:, 1] * R[2, 1]
        return -0.7 * u / np.sqrt(u @ u)

    R = reduced.attitude[0]
    xi, zeta = np.array([np.cos(0.4), np.sin(0.4), 0]), R[:, 1]
    w = -0.2 * xi + 1.0 * np.cross(xi, zeta) - 3.0 * zeta
    r, R, w = roll_in_space(2.0, np.diag([0.3, 0.4, 0.3]), 9.81, arm, (reduced.position[0], R, w), t)
    below(2e-11, r - reduced.position)  # 1.0e-12
    below(2e-12, R - reduced.attitude)  # 3.3e-13
    below(1e-11, w - np.einsum("nij,nj->ni", reduced.attitude, reduced.omega))  # 1.1e-12
    below(5e-12, np.cross([arm(x, x) for x in R], w) - reduced.velocity)  # 7.0e-13


@pytest.mark.parametrize("start", WOBBLES, ids=lambda s: f"r0={s.r}")
def test_disk_conserves_and_follows_legendre(start: rolling_disk.DiskStart) -> None:
    m = rolling_disk.motion(DISK, start, np.linspace(0, 20, 401))
    below(5e-13, spread(m.energy))  # 8.2e-14
    q, r = rolling_disk.spin_of_inclination(DISK, start, m.theta)
    below(2e-13, m.q - q)  # 3.0e-14
    below(1e-13, m.r - r)  # 1.9e-14


@pytest.mark.parametrize("product", [-4 / 3, -0.1, 2.0])
def test_legendre_series(product: float) -> None:
    n = (-1 + mpmath.sqrt(1 + 4 * product)) / 2
    s = [-0.95, -0.3, 0.0, 0.4, 1.0]
    P, slope = rolling_disk.legendre(product, s)
    for i, x in enumerate(s):
        assert P[i] == pytest.approx(float(mpmath.legenp(n, 0, x).real), rel=1e-14)
        if x < 1:
            exact = mpmath.diff(lambda x: mpmath.legenp(n, 0, x).real, x)
            assert slope[i] == pytest.approx(float(exact), rel=1e-12)


def test_disk_steady_circle() -> None:
    theta, q = 0.4, -1.2
    r = rolling_disk.steady_spin(DISK, theta, q)
    m = rolling_disk.motion(DISK, rolling_disk.DiskStart(theta=theta, q=q, r=r), np.linspace(0, 10, 101))
    below(1e-13, spread(m.theta))  # 0
    radius = abs((r - q * np.tan(theta)) * np.cos(theta) / q)
    centre = np.array([-np.sin(m.psi), np.cos(m.psi)]) * (r - q * np.tan(theta)) * np.cos(theta) / q
    below(1e-13, np.hypot(m.x - m.x[0] - centre[0, 0], m.y - m.y[0] - centre[1, 0]) - radius)  # 1.8e-14


def test_disk_refuses_what_it_cannot_do() -> None:
    with pytest.raises(InputError, match="lies flat"):
        rolling_disk.DiskStart(theta=2.0)
    with pytest.raises(InputError, match="straight rolling"):
        rolling_disk.steady_spin(DISK, 0.1, 0.0)
    with pytest.raises(InputError, match="4° or more from flat"):
        rolling_disk.legendre(-4 / 3, -1.0)


def test_disk_critical_speed() -> None:
    assert pytest.approx(1.808, abs=5e-4) == DISK.critical_speed
    growth = []
    for factor in (0.98, 1.02):
        start = rolling_disk.DiskStart(r=factor * DISK.critical_speed, p=1e-6)
        growth.append(np.abs(rolling_disk.motion(DISK, start, np.linspace(0, 30, 301)).theta).max())
    assert growth[0] > 1e4 * growth[1], growth  # 0.22 rad and 1.8e-6 rad


# Rattleback and Chaplygin's ball


def test_quaternions() -> None:
    q, omega = np.array([0.1, -0.5, 0.7, 0.2]), np.array([0.3, -0.2, 0.9])
    R = attitude.matrix(q)
    below(2e-15, R @ R.T - np.eye(3))  # 2.2e-16
    step = (
        attitude.matrix(q + 1e-5 * attitude.rate(q, omega)) - attitude.matrix(q - 1e-5 * attitude.rate(q, omega))
    ) / 2e-5
    below(2e-10, step - R @ attitude.cross_matrix(omega))  # 2.1e-11
    below(1e-16, attitude.matrix(np.array([q, -q]))[1] - R)  # 0


def test_rattleback_obeys_newton_and_euler() -> None:
    stone = rattleback.Rattleback()
    start = rattleback.RattlebackStart(omega=(0.2, 0.1, -4.0), quaternion=(1.0, 0.02, 0.02, 0.3), x=0.1)
    t = np.linspace(0, 0.5, 11)
    m = rattleback.motion(stone, start, t)
    D, centre = np.square(stone.semi_axes), np.array([0, 0, stone.offset])

    def arm(R: np.ndarray, _: np.ndarray) -> np.ndarray:
        gamma = R[2]
        return R @ (centre - D * gamma / np.sqrt(gamma @ (D * gamma)))

    begin = m.position[0], m.attitude[0], m.attitude[0] @ m.omega[0]
    r, R, w = roll_in_space(stone.mass, stone.inertia, stone.gravity, arm, begin, t)
    below(1e-14, r - m.position)  # 9.4e-16
    below(5e-13, R - m.attitude)  # 9.1e-14
    below(3e-11, w - np.einsum("nij,nj->ni", m.attitude, m.omega))  # 4.2e-12
    below(1e-17, m.contact[:, 2])  # 0


@pytest.mark.parametrize(("spin", "reverses"), [pytest.param(-5.0, True, marks=pytest.mark.long), (5.0, False)])
def test_rattleback_reverses_one_spin_only(spin: float, reverses: bool) -> None:
    start = rattleback.RattlebackStart(omega=(0.0, 0.0, spin), quaternion=(np.cos(0.02), np.sin(0.02), 0.0, 0.0))
    m = rattleback.motion(rattleback.Rattleback(), start, np.linspace(0, 4, 41))
    assert (m.spin[-1] * spin < 0) == reverses
    assert m.force[:, 2].min() > 0
    below(1e-12, spread(m.energy) / m.energy[0])  # 1.4e-13


def test_chaplygin_ball_obeys_newton_and_euler() -> None:
    ball = chaplygin_ball.ChaplyginBall()
    start = chaplygin_ball.BallStart(quaternion=(0.7, 0.1, -0.5, 0.3), omega=(4.0, -2.0, 3.0))
    t = np.linspace(0, 5, 21)
    m = chaplygin_ball.motion(ball, start, t)
    below(2e-14, spread(m.energy))  # 2.7e-15
    below(2e-13, spread(m.contact_momentum))  # 3.6e-14

    def arm(R: np.ndarray, _: np.ndarray) -> np.ndarray:
        return -ball.radius * UP + 0 * R[0]

    begin = m.position[0], m.attitude[0], m.attitude[0] @ m.omega[0]
    r, R, _ = roll_in_space(ball.mass, np.diag(ball.moments), 9.81, arm, begin, t)
    below(1e-12, r - m.position)  # 1.8e-13
    below(2e-12, R - m.attitude)  # 2.3e-13


def test_a_ball_of_equal_moments_rolls_straight() -> None:
    ball = chaplygin_ball.ChaplyginBall(moments=(0.03, 0.03, 0.03))
    t = np.linspace(0, 10, 11)
    m = chaplygin_ball.motion(ball, chaplygin_ball.BallStart(omega=(1.0, 2.0, 3.0)), t)
    below(5e-12, m.position - np.outer(t, [0.6, -0.3, 0]) - [0, 0, 0.3])  # 6.5e-13


def test_impossible_inertias_are_refused() -> None:
    with pytest.raises(InputError, match="at most the sum"):
        chaplygin_ball.ChaplyginBall(moments=(1.0, 1.0, 3.0))
    with pytest.raises(InputError, match="no body has the inertia"):
        rattleback.Rattleback(product=1e-3)
