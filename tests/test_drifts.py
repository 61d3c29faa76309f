"""A drift is relative to a size that means something: that of the start, unless it is round-off."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polhode as ph
from polhode import multibody as mb
from polhode.results.families import draw_members

BODY = ph.RigidBody((1.0, 1.6, 2.2))


def pendulum(tilt: Any) -> mb.System:
    """Of 1 m, so much from hanging down."""
    bob = mb.Body("top", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(np.sin(tilt), 0.0, -np.cos(tilt)))
    joint = mb.Ball("ground", "top", at=(0.0, 0.0, 0.0))
    return mb.System([bob], forces=[mb.Gravity((0.0, 0.0, -9.81))], constraints=[joint])


def test_an_energy_that_starts_with_round_off() -> None:
    """E₀ = -6e-16 J and 9.8 J of motion: the energy is kept to 8e-13 J, measured 8.4e-14 of the largest part."""
    runs = [ph.simulate(pendulum(tilt), step=0.01, until=2.0) for tilt in (np.pi / 2, np.pi / 2 - 0.3)]
    level, other = runs
    assert 0 < abs(level.energy[0]) < 1e-14
    change, largest = np.abs(level.energy - level.energy[0]).max(), max(level.kinetic.max(), -level.potential.min())
    assert level.drift("energy") == level.summary()["energy"]["drift"] == change / largest < 1e-12
    relative = np.abs(other.energy - other.energy[0]).max() / abs(other.energy[0])
    assert other.drift("energy") == other.drift(other.energy) == relative
    family = ph.simulate(ph.batch(pendulum, tilt=[np.pi / 2, np.pi / 2 - 0.3]), step=0.01, until=2.0)
    axes = draw_members(family.dataset, "energy").axes[0]
    assert max(np.abs(line.get_ydata()).max() for line in axes.lines) < 1e-12
    assert axes.get_ylabel() == "(E − E₀) / |E₀|, or largest T or |U|, (1)"


def test_members_have_sizes_of_their_own() -> None:
    """Of three, the energy of one starts with nothing; that of the others is small and large."""
    start = ph.State.of(omega=np.array([[0.0, 0.0, 1.0], [1e-3, 0.0, 0.0], [30.0, 1.0, 0.0]]))
    load = ph.Potential(lambda R: 1.1 * (R[0, 2] - R[2, 2]))  # -1.1 J at the start, as much as the first moves with
    run = ph.simulate(BODY, load, start, step=0.01, until=2.0, method="akw")
    assert abs(run.energy[0, 0]) < 1e-15 < abs(run.energy[0, 1])
    sizes = [max(run.kinetic[:, 0].max(), np.abs(run.potential[:, 0]).max()), *np.abs(run.energy[0, 1:])]
    change = np.abs(run.energy - run.energy[0]).max(axis=0)
    assert run.drift("energy") == pytest.approx((change / sizes).max())


def test_momenta_that_start_with_nothing() -> None:
    """Two bodies that fly apart and turn against each other, on a spring; and a body whose momentum lies level."""
    turn, omega = ph.exp((0.3, 0.2, 0.1)), np.array([0.7, 0.3, 0.2])
    against = -np.asarray(turn.matrix().array) @ omega
    at, back, ball = (0.3, 0.1, 0.0), (-0.3, -0.1, 0.0), (0.1, 0.1, 0.1)
    a = mb.Body("a", 1.0, ball, position=at, attitude=turn, velocity=at, omega=omega)
    b = mb.Body("b", 1.0, ball, position=back, velocity=back, omega=against)
    turning = mb.System([a, b], forces=[mb.Spring("a", "b", 5.0, 0.5, at_a=(0.1, 0.0, 0.2), at_b=(0.0, 0.1, 0.1))])
    run = ph.simulate(turning, step=0.01, until=1.0)
    assert 0 < np.linalg.norm(run["spatial_momentum"][0]) < 1e-15
    assert run.drift("spatial_momentum") < 1e-13 < 0.1 < run.drift(run["spatial_momentum"])  # measured 6e-15, 45
    level = ph.State.of(attitude=ph.exp((np.pi / 2, 0.0, 0.0)), omega=(1, 0, 1))
    bare = ph.simulate(BODY, None, level, step=0.01, until=1.0)
    assert abs(bare["vertical_momentum"][0]) < 1e-15
    assert bare.drift("vertical_momentum") < 1e-14 < bare.drift(bare["vertical_momentum"])  # measured 3e-15, 15
    rested = ph.simulate(BODY, ph.Torque((1.0, 0.0, 0.0)), ph.State.of(omega=(0.0, 0.0, 0.0)), step=0.01, until=1.0)
    assert rested.drift("spatial_momentum") == pytest.approx(1.0)
