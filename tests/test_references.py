"""The reference solutions, each against something that does not share its derivation."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from scipy.linalg import expm

from polhode.mechanics.checks import InputError
from polhode.references import bicycle, bicycle_linear, rolling_disk, rolling_sphere
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
    y = solve(rate, np.concatenate([r, R.ravel(), w]), times, rtol=1e-13, atol=1e-14)
    return y[:3].T, y[3:12].T.reshape(-1, 3, 3), y[12:].T


def below(bound: float, error: np.ndarray) -> None:
    """All of `error` is smaller than `bound`; the value measured stands beside each bound."""
    assert np.abs(error).max() < bound, f"{np.abs(error).max():.2e} is not below {bound:.0e}"


def spread(values: np.ndarray) -> np.ndarray:
    return values - values[0]


# The solver itself


def test_solver_meets_its_tolerance() -> None:
    t = np.linspace(0, 20, 301)
    y = solve(lambda _, y: [y[1], -y[0]], [0, 1], t)
    below(1e-14, y - [np.sin(t), np.cos(t)])  # 1.1e-15
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
    below(3e-11, r - exact.position)  # 4.5e-12
    below(5e-10, w - exact.omega_space)  # 1.2e-10, of 22
    below(1e-13, spread(exact.energy))  # 7e-15


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
    r, R, _ = roll_in_space(2.0, np.diag([0.3, 0.4, 0.3]), 9.81, arm, (reduced.position[0], R, w), t)
    below(2e-11, r - reduced.position)  # 3.4e-12
    below(1e-11, R - reduced.attitude)  # 1.2e-12


@pytest.mark.parametrize("start", WOBBLES, ids=lambda s: f"r0={s.r}")
def test_disk_conserves_and_follows_legendre(start: rolling_disk.DiskStart) -> None:
    m = rolling_disk.motion(DISK, start, np.linspace(0, 20, 401))
    below(2e-11, spread(m.energy))  # 2.9e-12
    q, r = rolling_disk.spin_of_inclination(DISK, start, m.theta)
    below(5e-12, m.q - q)  # 7.6e-13
    below(5e-12, m.r - r)  # 5.1e-13


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
    below(1e-13, np.hypot(m.x - m.x[0] - centre[0, 0], m.y - m.y[0] - centre[1, 0]) - radius)  # 1.6e-14


def test_disk_critical_speed() -> None:
    assert pytest.approx(1.808, abs=5e-4) == DISK.critical_speed
    growth = []
    for factor in (0.98, 1.02):
        start = rolling_disk.DiskStart(r=factor * DISK.critical_speed, p=1e-6)
        growth.append(np.abs(rolling_disk.motion(DISK, start, np.linspace(0, 30, 301)).theta).max())
    assert growth[0] > 20 * growth[1], growth


# Bicycle

BIKE = bicycle.Bicycle()


def test_bicycle_has_the_published_coefficients() -> None:
    """Meijaard et al. (2007), section 7, and table 2 for the eigenvalues at 0 and 5 m/s."""
    M, C1, K0, K2 = bicycle_linear.coefficients(BIKE)
    below(1e-13, M - [[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])  # 4.6e-15
    below(1e-13, C1 - [[0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])  # 4.6e-15
    below(1e-13, K0 - [[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])  # 1.4e-14
    below(1e-13, K2 - [[0, 76.59734589573222], [0, 2.65431523794604]])  # 4e-16
    rest, five = bicycle_linear.eigenvalues(BIKE, [0.0, 5.0])
    below(1e-13, rest - [5.53094371765393, 3.13164324790656, -3.13164324790656, -5.53094371765393])  # 9.8e-15
    weave = -0.77534188219585 + 4.46486771378823j
    below(1e-13, five - [-0.32286642900409, weave, weave.conjugate(), -14.07838969279822])  # 2.0e-14


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
    below(3e-13, m.coordinates["roll"] - linear[:, 0])  # 5.1e-14
    below(3e-13, m.coordinates["steer"] - linear[:, 1])  # 3.9e-14
    below(1e-12, m.rates["steer"] - linear[:, 3])  # 2.0e-13


@pytest.mark.parametrize(("speed", "roll_rate"), [(4.0, 0.05), (4.6, 0.5), (8.0, 0.05)])
def test_bicycle_conserves_energy_and_rolls(speed: float, roll_rate: float) -> None:
    m = bicycle.motion(BIKE, bicycle.BicycleStart(speed, roll_rate), np.linspace(0, 20, 21))
    below(1e-13, spread(m.energy) / m.energy[0])  # 1.2e-14
    for wheel, radius in ((0, 0.3), (3, 0.35)):
        n = m.attitude[:, wheel, :, 1]
        down = UP - n * n[:, 2:]
        arm = radius * down / np.linalg.norm(down, axis=1)[:, None]
        below(3e-14, m.velocity[:, wheel] + np.cross(m.omega[:, wheel], arm))  # 4.4e-15
        below(1e-15, m.position[:, wheel, 2] + arm[:, 2])  # 1.1e-16


def test_bicycle_outputs_belong_together() -> None:
    """Velocity is the rate of position, ω that of attitude, each rate that of its coordinate."""
    d = 2e-4
    m = bicycle.motion(BIKE, bicycle.BicycleStart(4.6, 0.5, roll=0.2, steer=-0.3, yaw=0.7), 0.1 + d * np.arange(5))

    def slope(x: np.ndarray) -> np.ndarray:
        return (8 * (x[3] - x[1]) - (x[4] - x[0])) / (12 * d)

    below(1e-11, slope(m.position) - m.velocity[2])  # 1.6e-12
    spin = slope(m.attitude) @ m.attitude[2].transpose(0, 2, 1)
    below(2e-10, spin - [skew(w) for w in m.omega[2]])  # 3.6e-11
    for name in bicycle.COORDINATES:
        below(5e-12, slope(m.coordinates[name]) - m.rates[name][2])  # 6.8e-13


def test_bicycle_says_when_it_has_fallen() -> None:
    with pytest.raises(InputError, match="has fallen"):
        bicycle.pitch_of(BIKE, np.pi / 2, 0.5)
    with pytest.raises(InputError, match="has fallen"):
        bicycle.motion(BIKE, bicycle.BicycleStart(1.0, roll_rate=0.5), [20.0])
