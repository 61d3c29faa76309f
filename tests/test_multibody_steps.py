"""What the steps of systems claim: order, conservation, symmetry, exact rolling, and where they end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_multibody_systems import bicycle, disk, order, run

from polhode import multibody as mb
from polhode.methods.composition import KAHAN_LI6, TRIPLE4

THREE_FIELD = mb.ThreeField()


def start(system: mb.System) -> mb.State:
    return mb.consistent_start(system)[0]


@pytest.mark.parametrize(
    ("speed", "roll_rate", "printed"), [(4.0, 0.05, 5.5e-4), (4.6, 0.5, 5.2e-4), (8.0, 0.05, 0.105e-4)]
)
def test_bicycle_keeps_energy_and_joints(speed: float, roll_rate: float, printed: float) -> None:
    """The paper's three starts, 20 s of h = 0.01, its p_E (60) in % as the bound."""
    system = bicycle(speed, roll_rate)
    out = run(THREE_FIELD, system, start(system), 0.01, 2000)
    assert out["ok"]
    assert out["p_E"] < 2e-3 * printed  # 8.4e-8, 2.3e-8, 8.7e-9
    assert out["phi"] < 1e-12  # 5.7e-14 m
    assert out["slip"] < 1e-11  # 6e-13 m/s


def test_order_on_the_bicycle() -> None:
    orders = order(THREE_FIELD, bicycle(4.6, 0.5), 0.02, 50)
    for name, value in orders.items():
        assert value == pytest.approx(2.0, abs=0.02), name


def test_order_on_the_disk() -> None:
    system = disk(0.4, 0.5, 0.3, -2.0)
    for method, expected in ((THREE_FIELD, 2), (mb.Composed(TRIPLE4), 4), (mb.Composed(KAHAN_LI6), 6)):
        orders = order(method, system, 0.05 if expected < 6 else 0.1, 20 if expected < 6 else 10)
        for name, value in orders.items():
            assert value == pytest.approx(expected, abs=0.2), (method.name, name)


def test_multipliers_are_of_second_order() -> None:
    """Λ/h against the multipliers of the equations of motion at the same half step."""
    system = disk(0.4, 0.5, 0.3, -2.0)
    exact = run(mb.Composed(KAHAN_LI6), system, start(system), 0.0025, 390)["state"]  # t = 0.975
    errors = []
    for h, n in ((0.05, 20), (0.01, 98)):  # their last half steps end at 0.975
        out = run(THREE_FIELD, system, start(system), h, n)["state"]
        errors.append(np.abs(out.multipliers - _multipliers(system, exact)).max())
    assert errors[1] < errors[0]


def _multipliers(system: mb.System, state: mb.State) -> Any:
    from polhode.multibody.start import _multipliers as at

    return at(system, state, 0.0)
