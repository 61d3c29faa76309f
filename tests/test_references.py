"""The reference solutions, each against something that does not share its derivation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.linalg import expm

from polhode.mechanics.checks import InputError
from polhode.references import (
    attitude,
    bicycle,
    bicycle_linear,
    chaplygin_ball,
    chaplygin_sleigh,
    four_bar,
    knife_edge,
    pendulum,
    rattleback,
    rolling_disk,
    rolling_sphere,
)
from polhode.references.ode import solve

UP = np.array([0.0, 0.0, 1.0])


def skew(v: np.ndarray) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def roll_in_space(
    mass: float,
    inertia: np.ndarray,
    gravity: float,
    arm: Callable[[np.ndarray, np.ndarray], np.ndarray],
    start: tuple[np.ndarray, np.ndarray, np.ndarray],
    times: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Newton and Euler in space axes for any rolling body: position, attitude and spin ω at `times`.

    `arm(R, r)` leads from the centre of mass to the contact, so v = arm × ω; the contact force
    F = m v' + m g e_z is put into (I ω)' = arm × F, and arm' comes by a complex step.
    """

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        r, R, w = y[:3], y[3:12].reshape(3, 3), y[12:]
        rho = arm(R, r)
        v = np.cross(rho, w)
        rho_rate = arm(R + 1e-30j * skew(w) @ R, r + 1e-30j * v).imag / 1e-30
        I, S = R @ inertia @ R.T, skew(rho)
        force = mass * (np.cross(rho_rate, w) + gravity * UP)
        alpha = np.linalg.solve(I - mass * S @ S, np.cross(rho, force) - np.cross(w, I @ w))
        return np.concatenate([v, (skew(w) @ R).ravel(), alpha])

    r, R, w = start
    y = solve(rate, np.concatenate([r, R.ravel(), w]), times)
    return y[:3].T, y[3:12].T.reshape(-1, 3, 3), y[12:].T


def below(bound: float, error: Any) -> None:
    """All of `error` is smaller than `bound`; the value measured stands beside each bound."""
    assert np.abs(error).max() < bound, f"{np.abs(error).max():.2e} is not below {bound:.0e}"


def spread(values: np.ndarray) -> np.ndarray:
    return values - values[0]


# The solver itself


def test_solver_meets_its_tolerance() -> None:
    t = np.linspace(0, 20, 301)
    y = solve(lambda _, y: [y[1], -y[0]], [0, 1], t)
    below(1e-14, y - [np.sin(t), np.cos(t)])  # 1.4e-15
    assert np.array_equal(solve(lambda _, y: -y, [1.0], [0.0, 0.0])[0], [1, 1])


def test_solver_says_what_is_wrong() -> None:
    with pytest.raises(InputError, match="never decreases"):
        solve(lambda _, y: y, [1.0], [0.0, 2.0, 1.0])
    with pytest.raises(InputError, match="beyond t = 1 s"):
        solve(lambda _, y: y**2, [1.0], [2.0])


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


# Bicycle

BIKE = bicycle.Bicycle()


def test_bicycle_has_the_published_coefficients() -> None:
    """Meijaard et al. (2007): the four matrices, and table 2 for the eigenvalues at 0 and 5 m/s."""
    M, C1, K0, K2 = bicycle_linear.coefficients(BIKE)
    below(1e-13, M - [[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])  # 4.6e-15
    below(1e-13, C1 - [[0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])  # 4.6e-15
    below(1e-13, K0 - [[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])  # 1.4e-14
    below(1e-13, K2 - [[0, 76.59734589573222], [0, 2.65431523794604]])  # 4.4e-16
    rest, five = bicycle_linear.eigenvalues(BIKE, [0.0, 5.0])
    below(1e-13, rest - [5.53094371765393, 3.13164324790656, -3.13164324790656, -5.53094371765393])  # 9.8e-15
    weave = -0.77534188219585 + 4.46486771378823j
    below(1e-13, five - [-0.32286642900409, weave, weave.conjugate(), -14.07838969279822])  # 1.9e-14


def test_bicycle_is_stable_between_the_published_speeds() -> None:
    assert bicycle_linear.stable_speeds(BIKE) == pytest.approx((4.2924, 6.0243), abs=5e-5)
    with pytest.raises(InputError, match="not self-stable"):
        bicycle_linear.stable_speeds(bicycle.Bicycle(trail=-0.3))


def test_nonlinear_bicycle_has_the_published_accelerations() -> None:
    """Basu-Mandal, Chatterjee, Papadopoulos, Proc. R. Soc. A 463 (2007) 1983-2003, table 1.

    In their angles roll = π/2 - ψ, pitch = π - φ, yaw = -θ, steer = -ψ_f, and the wheels turn by -β_r and -β_f.
    """
    roll, steer = np.pi / 2 - 0.9501292851472, -0.2311385135743
    u = -np.array([0.6068425835418, 0.4859824687093, 8.9129896614890])
    q1, q2, _ = bicycle.accelerations(BIKE, (0.0, roll, steer), u)
    below(2e-13, np.array(bicycle.pitch_of(BIKE, roll, steer) - (np.pi - 3.1257073014894)))  # 5.1e-14, printed to 1e-13
    printed = 0.7830033527065, 0.6068425835418, -0.0119185528069, 0.4859824687093, 8.9129896614890, 8.0133620584155
    below(2e-13, np.subtract(-q1[2:], printed))  # 4.6e-14
    printed = 0.8353281706379, -7.8555281128244, 0.1205543897884, -4.6198904039403, 1.8472554144217, 2.4548072904550
    below(2e-12, np.subtract(-q2[2:], printed))  # 5.2e-13, and the input is printed to 1e-13


@pytest.mark.parametrize("speed", [0.5, 4.0, 8.0])
def test_nonlinear_bicycle_linearises_to_the_published_one(speed: float) -> None:
    rear = -speed / BIKE.rear_radius

    def rate(y: np.ndarray) -> np.ndarray:
        return bicycle.accelerations(BIKE, (0.0, y[0], y[1]), np.array([y[2], y[3], rear]))[2][:2]

    d = 1e-3
    slopes = [(8 * (rate(e) - rate(-e)) - (rate(2 * e) - rate(-2 * e))) / (12 * d) for e in d * np.eye(4)]
    below(2e-9, np.array(slopes).T - bicycle_linear.state_matrix(BIKE, speed)[2:])  # 3.5e-10


def test_small_motion_of_the_bicycle() -> None:
    t = np.linspace(0, 3, 7)
    m = bicycle.motion(BIKE, bicycle.BicycleStart(5.0, roll_rate=1e-4), t)
    S = bicycle_linear.state_matrix(BIKE, 5.0)
    linear = np.array([expm(S * x) @ [0, 0, 1e-4, 0] for x in t])
    below(3e-13, m.coordinates["roll"] - linear[:, 0])  # 5.6e-14
    below(3e-13, m.coordinates["steer"] - linear[:, 1])  # 4.1e-14
    below(1e-12, m.rates["steer"] - linear[:, 3])  # 2.2e-13


@pytest.mark.parametrize(("speed", "roll_rate"), [(4.0, 0.05), (4.6, 0.5), (8.0, 0.05)])
def test_bicycle_conserves_energy_and_rolls(speed: float, roll_rate: float) -> None:
    m = bicycle.motion(BIKE, bicycle.BicycleStart(speed, roll_rate), np.linspace(0, 20, 21))
    below(1e-14, spread(m.energy) / m.energy[0])  # 2.0e-15
    for wheel, radius in ((0, 0.3), (3, 0.35)):
        n = m.attitude[:, wheel, :, 1]
        down = UP - n * n[:, 2:]
        arm = radius * down / np.linalg.norm(down, axis=1)[:, None]
        below(3e-14, m.velocity[:, wheel] + np.cross(m.omega[:, wheel], arm))  # 2.7e-15
        below(1e-15, m.position[:, wheel, 2] + arm[:, 2])  # 1.1e-16


def test_bicycle_outputs_belong_together() -> None:
    """Velocity is the rate of position, ω that of attitude, each rate that of its coordinate."""
    d = 2e-4
    m = bicycle.motion(BIKE, bicycle.BicycleStart(4.6, 0.5, roll=0.2, steer=-0.3, yaw=0.7), 0.1 + d * np.arange(5))

    def slope(x: np.ndarray) -> np.ndarray:
        return (8 * (x[3] - x[1]) - (x[4] - x[0])) / (12 * d)

    below(1e-11, slope(m.position) - m.velocity[2])  # 7.3e-13
    spin = slope(m.attitude) @ m.attitude[2].transpose(0, 2, 1)
    below(2e-10, spin - [skew(w) for w in m.omega[2]])  # 3.6e-11
    for name in bicycle.COORDINATES:
        below(5e-12, slope(m.coordinates[name]) - m.rates[name][2])  # 6.8e-13


def test_bicycle_says_when_it_has_fallen() -> None:
    with pytest.raises(InputError, match="has fallen"):
        bicycle.pitch_of(BIKE, np.pi / 2, 0.5)
    with pytest.raises(InputError, match="has fallen"):
        bicycle.motion(BIKE, bicycle.BicycleStart(1.0, roll_rate=0.5), [20.0])


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


@pytest.mark.parametrize(("spin", "reverses"), [(-5.0, True), (5.0, False)])
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


# Sleigh and knife edge


@pytest.mark.parametrize(("speed", "omega"), [(-1.0, 0.5), (-1.0, -1e-3), (2.0, 3.0), (-1.0, 0.0)])
def test_sleigh_obeys_newton(speed: float, omega: float) -> None:
    """The centre of mass under the force λ n of the blade: m v' = λ n, J ω' = -a λ, n·v = a ω."""
    sleigh = chaplygin_sleigh.ChaplyginSleigh()
    mass, J, a = sleigh.mass, sleigh.inertia, sleigh.offset
    t = np.linspace(0, 20, 41)
    m = chaplygin_sleigh.motion(sleigh, chaplygin_sleigh.SleighStart(speed, omega, heading=0.3, x=1.0), t)

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        _x, _y, theta, vx, vy, w = y
        e, n = np.array([np.cos(theta), np.sin(theta)]), np.array([-np.sin(theta), np.cos(theta)])
        force = w * (e @ [vx, vy]) / (1 / mass + a**2 / J)
        return np.array([vx, vy, w, *(force * n / mass), -a * force / J])

    e, n = np.array([np.cos(0.3), np.sin(0.3)]), np.array([-np.sin(0.3), np.cos(0.3)])
    y = solve(rate, [*([1.0, 0.0] + a * e), 0.3, *(speed * e + a * omega * n), omega], t)
    below(2e-12, y[:2].T - m.position)  # 3.3e-13
    below(2e-12, y[2] - m.heading)  # 3.0e-13
    below(1e-12, y[5] - m.omega)  # 2.1e-13
    below(4e-15, spread(m.energy))  # 4.4e-16


@pytest.mark.parametrize("omega", [1.3, -0.02, 1e-9, 0.0])
def test_knife_edge_obeys_newton(omega: float) -> None:
    edge = knife_edge.KnifeEdge(slope=0.4)
    start = knife_edge.KnifeStart(speed=0.7, omega=omega, heading=0.5, x=0.1, y=0.2)
    t = np.linspace(0, 10, 41)
    m = knife_edge.motion(edge, start, t)
    S = edge.gravity_vector[0]

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        _x, _y, theta, vx, vy = y
        force = omega * (vx * np.cos(theta) + vy * np.sin(theta)) + S * np.sin(theta)
        return np.array([vx, vy, omega, S - force * np.sin(theta), force * np.cos(theta)])

    y = solve(rate, [0.1, 0.2, 0.5, 0.7 * np.cos(0.5), 0.7 * np.sin(0.5)], t)
    below(2e-12, y[0] - m.x)  # 3.6e-13
    below(2e-12, y[1] - m.y)  # 3.2e-13
    below(1e-12, spread(m.energy))  # 1.7e-13


def test_knife_edge_from_rest_follows_a_cycloid() -> None:
    edge, t = knife_edge.KnifeEdge(), np.linspace(0, 20, 201)
    m = knife_edge.motion(edge, knife_edge.KnifeStart(omega=2.0), t)
    r = edge.gravity * np.sin(edge.slope) / (4 * 2.0**2)
    below(2e-14, m.x - r * (1 - np.cos(4 * t)))  # 2.6e-15
    below(5e-14, m.y - r * (4 * t - np.sin(4 * t)))  # 7.1e-15


# Pendulum and four-bar linkage


@pytest.mark.parametrize(
    ("angle", "rate"),
    [(0.5, 0.0), (3.1, 0.0), (-2.0, -3.0), (7.0, 0.5), (1.0, 12.0), (-4.0, -20.0), (0.3, 8.53), (0.0, 0.0)],
)
def test_pendulum_obeys_newton(angle: float, rate: float) -> None:
    body, t = pendulum.Pendulum(), np.linspace(0, 5, 51)
    m = pendulum.motion(body, t, angle=angle, rate=rate)
    y = solve(lambda _, y: [y[1], -(body.frequency**2) * np.sin(y[0])], [angle, rate], t)
    below(5e-10, y[0] - m.angle)  # 4.4e-11, next to the separatrix
    below(1e-9, y[1] - m.rate)  # 9.4e-11
    below(5e-13, spread(m.energy))  # 6.4e-14
    arm = -m.position  # from the centre of mass to the pivot
    torque = arm[:, 0] * m.force[:, 1] - arm[:, 1] * m.force[:, 0]
    below(1e-13, torque - body.inertia * m.acceleration)  # 1.3e-14


@pytest.mark.parametrize(("angle", "rate"), [(0.5, 0.0), (3.0, 0.0), (0.2, 12.0)])
def test_pendulum_period(angle: float, rate: float) -> None:
    body = pendulum.Pendulum()
    with mpmath.workdps(30):
        energy = mpmath.mpf(rate) ** 2 / 2 - mpmath.mpf(body.frequency) ** 2 * mpmath.cos(angle)
        if rate:
            exact = mpmath.quad(
                lambda x: 1 / mpmath.sqrt(2 * (energy + body.frequency**2 * mpmath.cos(x))), [0, 2 * mpmath.pi]
            )
        else:
            exact = 2 * mpmath.pi / (body.frequency * mpmath.agm(1, mpmath.cos(mpmath.mpf(angle) / 2)))
    T = pendulum.period(body, angle, rate)
    below(3e-15, T / float(exact) - 1)  # 4.4e-16
    m = pendulum.motion(body, [0.0, T], angle=angle, rate=rate)
    below(1e-14, m.angle[1] - m.angle[0] - (2 * np.pi if rate else 0))  # 8.9e-16


def test_pendulum_refuses_the_separatrix() -> None:
    with pytest.raises(InputError, match="separatrix"):
        pendulum.motion(pendulum.Pendulum(), [0.0], angle=np.pi)


def linkage_accelerations(bar: four_bar.FourBar, angles: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Nine coordinates (x, y, angle of each link), eight joint conditions with multipliers: the links' angular ones."""
    half = 0.5 * np.array([bar.crank, bar.coupler, bar.rocker])
    # (link, joint, which end of the link, its sign in the condition): joints O, A, B, C.
    ends = [(0, 0, -1, 1), (0, 1, 1, 1), (1, 1, -1, -1), (1, 2, 1, 1), (2, 2, 1, -1), (2, 3, -1, 1)]
    A, bias = np.zeros((8, 9)), np.zeros(8)
    for link, joint, side, sign in ends:
        u = side * half[link] * np.array([np.cos(angles[link]), np.sin(angles[link])])
        rows, cols = slice(2 * joint, 2 * joint + 2), 3 * link
        A[rows, cols : cols + 2] += sign * np.eye(2)
        A[rows, cols + 2] += sign * np.array([-u[1], u[0]])
        bias[rows] += sign * rates[link] ** 2 * u
    M = np.diag(np.column_stack([bar.masses, bar.masses, bar.inertias]).ravel())
    weight = np.outer(bar.masses, [0, -bar.gravity, 0]).ravel()
    both = np.block([[M, A.T], [A, np.zeros((8, 8))]])
    return np.linalg.solve(both, np.concatenate([weight, bias]))[2:9:3]


@pytest.mark.parametrize("crossed", [False, True])
def test_four_bar_obeys_newton_and_closes(crossed: bool) -> None:
    bar = four_bar.FourBar(crossed=crossed)
    m = four_bar.motion(bar, np.linspace(0, 5, 101), angle=0.5, rate=8.0)
    below(5e-12, spread(m.energy))  # 7.3e-13
    accelerations = [linkage_accelerations(bar, *state) for state in zip(m.angles, m.rates, strict=True)]
    below(5e-12, accelerations - m.accelerations)  # 1.1e-12
    z = np.exp(1j * m.angles)
    below(2e-15, 0.2 * z[:, 0] + 0.5 * z[:, 1] - 0.6 - 0.4 * z[:, 2])  # 2.4e-16
    below(4e-16, m.position[:, 1] @ [1, 1j] - 0.2 * z[:, 0] - 0.25 * z[:, 1])  # 3.9e-17
    assert np.ptp(m.angles[:, 0]) > 2 * np.pi


def test_four_bar_at_a_dead_point() -> None:
    stiff = four_bar.FourBar(crank=0.5, coupler=0.2)
    with pytest.raises(InputError, match="dead point"):
        four_bar.motion(stiff, [5.0], angle=0.5, rate=8.0)
    with pytest.raises(InputError, match="cannot be closed"):
        four_bar.motion(four_bar.FourBar(ground=5.0), [1.0])
