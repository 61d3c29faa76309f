"""Drives, dampers and weights do what they say, from every start and for every mass."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import polhode as ph
from polhode import multibody as mb
from polhode.multibody.rows import assembly
from polhode.multibody.rows.momenta import motion, pose
from polhode.multibody.step.force_slopes import force_slopes


def arm(angle: Any, rate: float = 0.0) -> mb.System:
    body = mb.Body("b", 1.0, (0.1,) * 3, position=(1, 0, 0), omega=(0, 0, rate), velocity=(0, rate, 0))
    hinge = mb.Revolute("ground", "b", at=(0, 0, 0), axis=(0, 0, 1), angle=angle)
    return mb.System([body], constraints=[hinge])


def driven(first: float = 0.0, rate: float = 0.0, swing: float = 0.0, started: float = 0.0) -> mb.System:
    """One form for all that moves here, so that it is one program."""
    return arm(lambda t: first + rate * t + swing * jnp.sin(3.0 * t), started)


def direction(run: ph.Run) -> np.ndarray:
    return np.arctan2(run.positions[:, 0, 1], run.positions[:, 0, 0])


def off(angles: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(np.angle(np.exp(1j * (angles - expected)))).max())


@pytest.mark.parametrize("first", [0.1, 1.0, 2.0, -3.0, np.pi, -np.pi, 4.0, 2 * np.pi, 20.0])
def test_a_start_elsewhere_is_turned_to_where_the_drive_says(first: float) -> None:
    state, change = mb.consistent_start(driven(first, 0.5))
    x, y, _ = np.asarray(state.positions)[0]
    assert off(np.arctan2(y, x), np.asarray(first)) < 1e-14
    assert np.linalg.norm(change.turn) == pytest.approx(abs(np.angle(np.exp(1j * first))), abs=1e-12)  # the shorter way
    assert np.asarray(state.omegas)[0, 2] == pytest.approx(0.5, abs=1e-14)


def test_a_drive_from_elsewhere_or_to_and_fro_keeps_its_angle() -> None:
    there = driven(2.0, 0.5)
    with pytest.raises(ph.InputError, match=r"b: moved by .* 2 rad"):
        ph.simulate(there, step=0.01, until=1.0)  # a start that is far off is not turned without being asked
    run = ph.simulate(there.replaced(start=mb.consistent_start(there)[0]), step=0.01, until=1.0)
    assert off(direction(run), 2.0 + 0.5 * run.t) < 1e-13
    swing = ph.simulate(driven(swing=3.0, started=9.0), step=0.01, until=3.0)  # past ±π/2, and back
    assert off(direction(swing), 3.0 * np.sin(3.0 * swing.t)) < 1e-12


# Steps of 0.4 rad are solved by a program that the others need not.
@pytest.mark.parametrize("step", [0.004, pytest.param(0.01, marks=pytest.mark.long)])
def test_a_drive_round_and_round_keeps_its_angle(step: float) -> None:
    turns = ph.simulate(driven(2 * np.pi, 40.0, started=40.0), step=step, until=5.0)  # 32 turns
    assert off(direction(turns), 40.0 * turns.t) < 1e-12


def test_a_damper_starts_from_no_distance() -> None:
    """A mass thrown from where a spring and a damper are fixed: r'' = -k r - c r' along a line."""
    body = mb.Body("b", 1.0, (0.1,) * 3, velocity=(0.6, 0.8, 0))
    forces = [mb.Damper("ground", "b", 2.0), mb.Spring("ground", "b", 10.0)]
    errors = []
    for h in (0.01, 0.005):
        run = ph.simulate(mb.System([body], forces=forces), step=h, until=2.0)  # through the middle twice
        exact = np.exp(-run.t) * np.sin(3 * run.t) / 3
        errors.append(np.abs(run.positions[:, 0] - exact[:, None] * [0.6, 0.8, 0]).max())
    assert errors[0] < 5e-5  # 1.3e-5
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)
    # A spring of some length has no direction there: it neither pushes nor breaks the equations of a step.
    system = mb.System([body], forces=[mb.Spring("ground", "b", 10.0, 1.0)])
    q, u = pose(system.start), motion(system.start)
    push, ((_, _, by_q, by_u),) = jax.jit(
        lambda q, u: (assembly.forces(system, q, u, 0.0), force_slopes(system, q, u, 0.0))
    )(q, u)
    assert not push.any()
    assert np.isfinite(by_q).all()
    assert np.isfinite(by_u).all()


def test_weights_follow_masses() -> None:
    """A pendulum moves the same whatever its mass; a hanging one pulls with its weight."""
    body = mb.Body("b", 1.0, (0.1, 0.2, 0.3), position=(1, 0, 0))
    joint = mb.Ball("ground", "b", at=(0, 0, 0))
    one = mb.System([body], forces=[mb.Gravity((0, 0, -9.81))], constraints=[joint])
    method = mb.ThreeField(solver=mb.Chord())
    state, _ = mb.consistent_start(one)

    def step(k: Any) -> Any:
        scaled = one.replaced(masses=k * jnp.asarray(one.masses), inertias=k * jnp.asarray(one.inertias))
        end = method.step(scaled, state, 0.0, 0.01).state
        return end.velocities[0, 2], end.multipliers[2], mb.energy(scaled, end)[1]

    along = jax.jit(lambda k: jax.jvp(step, (k,), (1.0,)))
    values, slopes = (np.asarray(x) for x in along(2.0))
    assert values[0] == pytest.approx(float(along(1.0)[0][0]), abs=1e-15)  # as a body of 1 kg
    assert slopes[0] == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(slopes[1:], values[1:] / 2, rtol=1e-9)
