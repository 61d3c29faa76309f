"""The benchmark bicycle's references against the published numbers, and against each other."""

from __future__ import annotations

import numpy as np
import pytest
from reference_checks import UP, below, skew, spread
from scipy.linalg import expm

from polhode.mechanics.checks import InputError
from polhode.references import bicycle, bicycle_linear

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
