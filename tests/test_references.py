"""The reference solutions, each against something that does not share its derivation.

Rolling bodies and the bicycle have files of their own.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from reference_checks import below, spread

from polhode.model.checks import InputError
from polhode.references import chaplygin_sleigh, four_bar, knife_edge, pendulum
from polhode.references.ode import solve

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
