"""Nothing turns a thin rod about itself that has no torque along it, whatever its moment about itself is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode import multibody as mb

THINNEST = 1e-9
MOMENTS = (1e-2, 1e-5, 1e-7, THINNEST, 0.0)  # kg m², of rods of 1 m and 1 kg
STEP, UNTIL = 0.01, 5.0
SPIN = 3e-3  # rad/s: what others have at this step, at every moment


def rods(moment: float, rate: float) -> list[mb.Body]:
    """Three, end to end in a random bend, each turning across itself at about this rate (rad/s)."""
    rng, end, velocity = np.random.default_rng(1), np.zeros(3), np.zeros(3)
    made = []
    for i in range(3):
        way = rng.normal(size=3)
        R = Rotation.from_rotvec(way / np.linalg.norm(way))
        omega = np.array([0.0, *(rate * rng.normal(size=2))])
        half, moves = R.apply((0.5, 0, 0)), R.apply(np.cross(omega, (0.5, 0, 0)))
        body = mb.Body(f"rod {i}", 1.0, (moment, 1 / 12, 1 / 12), attitude=R.as_matrix(), omega=omega)
        made.append(replace(body, position=end + half, velocity=velocity + moves))
        end, velocity = end + 2 * half, velocity + 2 * moves
    return made


def energy(moment: float) -> float:
    """J, of some 30, that may be lost: a spin is known to round-off over the moment. A line of mass has 1e-7 of the
    others. Five bends measured up to 2.6e-10 at 1e-7 kg m², 1.2e-9 at 1e-8 and 1.1e-9 at 1e-9, where steps are solved
    by the whole Jacobian."""
    return 1e-11 + 1e-16 / max(moment, 1e-8)


def joints(bodies: list[mb.Body], *, held: bool) -> list[mb.Ball]:
    """Between one rod and the next; the first on the ground if they are held."""
    places = [np.asarray(b.position) - b.rotation[:, 0] / 2 for b in bodies]
    names = [b.name for b in bodies]
    pairs = zip(["ground", *names], names, places, strict=False)
    return [mb.Ball(a, b, at=place) for a, b, place in pairs][0 if held else 1 :]


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_rod_that_hangs_does_not_spin(moment: float) -> None:
    bodies = rods(moment, 0.0)
    system = mb.System(bodies, forces=[mb.Gravity()], constraints=joints(bodies, held=True))
    run = ph.simulate(system, step=STEP, until=UNTIL)
    assert np.abs(run.omegas[..., 0]).max() < SPIN
    assert np.abs(run.omegas[..., 1:]).max() > 3.0
    assert np.abs(run.energy - run.energy[0]).max() < energy(moment)
    assert run.renewals == 0 or moment == THINNEST  # one matrix a step does


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_rod_afloat_does_not_spin(moment: float) -> None:
    bodies = rods(moment, 2.0)
    run = ph.simulate(mb.System(bodies, constraints=joints(bodies, held=False)), step=STEP, until=UNTIL)
    assert np.abs(run.omegas[..., 0]).max() < SPIN
    assert np.abs(run.omegas[..., 1:]).max() > 3.0
    assert np.abs(run.energy - run.energy[0]).max() < energy(moment)
    assert np.abs(run.angular_momentum - run.angular_momentum[0]).max() < energy(moment)
    assert run.renewals == 0 or moment == THINNEST


def test_a_spin_that_is_there_changes_by_the_order_of_the_step() -> None:
    """And not by its moment: what is taken off the momentum, so that joints do no work, is taken off a spin too."""
    spins = np.array([5.0, -3.0, 1.0])

    def off(moment: float, step: float) -> float:
        bodies = [replace(b, omega=(spin, 0, 0)) for b, spin in zip(rods(moment, 0.0), spins, strict=True)]
        system = mb.System(bodies, forces=[mb.Gravity()], constraints=joints(bodies, held=True))
        return float(np.abs(ph.simulate(system, step=step, until=UNTIL).omegas[..., 0] / spins - 1.0).max())

    coarse = {moment: off(moment, STEP) for moment in (1e-2, 1e-4, 1e-6)}
    assert max(coarse.values()) < 0.05
    assert coarse[1e-6] == pytest.approx(coarse[1e-4], rel=0.1)
    for moment, worst in coarse.items():
        assert worst / off(moment, STEP / 2) == pytest.approx(4.0, rel=0.1)
