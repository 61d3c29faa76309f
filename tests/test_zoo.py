"""Every mechanism of the zoo: order, energy, gap, slip, reactions against a reference of its own, and that nothing
depends on units, on where and how the scene stands, or on names and order.

A mechanism is about one unit long; w is its fastest rate, from the reference (turning, moving by its length, or
changing either), t how long it runs, so that hw says how well a step resolves it and wt how long errors may grow.
All bounds are in these, and were set before anything was measured, but for the factor 2 in that of energy:

- error after time t: (hw)²(1 + wt), what a second-order method with a constant of one makes of it
- order: errors at h and h/2 are as 4 to 1; the next term of a symmetric step is (hw)² smaller, hw is below 1/4
  throughout, and a tenth of 4 lies above that
- energy: forces and rows are means along the path by Simpson's rule, whose error is (hw)⁴/2880 of what it averages;
  four times that, on the most kinetic energy, growing with wt, with 2w in the place of w, which is known to such a
  factor (of a spring it is that of the acceleration); and round-off
- rows: round-off of a sum of some ten numbers of size one, and a hundred times that for the solve: 1e-12
- reactions: means over a step, taken at its middle; they hold products of rates, so (hw)²(1 + wt)² of the largest
- units, turn and shift, names and order change nothing but round-off: 1e-16, times 1e4 for the ratio of masses
  and inertias, times 1e2 for steps, times ten: 1e-9 of places, attitudes and (a step's difference) 1e-7 of reactions;
  where rows follow from others, multipliers that pull nothing over the step are anybody's, and pull (hw)² of the
  largest where the reference is

Each mechanism is a program that takes seconds to compile, unless another has as many bodies joined alike; lengths,
masses, times, turns and shifts share it. So CI asks one of a kind (`IN_CI`), of few bodies, and `make test-long` all
the others; since a new order of bodies and rows is a new program, fewer still are reordered.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from zoo import ZOO
from zoo.studies import SCALES, Study, study

import polhode as ph

EXACT = 1e-11  # errors below are round-off of the reference (1e-12 a step) and tell no order
SAME, SAME_REACTION = 1e-9, 1e-7


# A chain, a linkage that closes, rolling, a drive, floating: each the quickest of its kind to compile, 2 to 4 s.
IN_CI = (
    "pendulum on a tilted hinge",
    "cardan joint",
    "Chaplygin's ball",
    "Kapitza's pendulum",
    "two bodies on a ball joint, adrift",
)


def _each(*, ci: tuple[str, ...] = IN_CI, without: str = "", only: Any = lambda m: True) -> Any:
    """All mechanisms of which this can be asked; those that CI does not ask it under `long`."""
    params = []
    for m in (m for m in ZOO if without not in m.without and only(m)):
        marks: list[Any] = [] if m.name in ci else [pytest.mark.long]
        marks += [pytest.mark.xfail(strict=True, reason=m.fails)] if m.fails else []
        params.append(pytest.param(m.name, marks=marks, id=m.name))
    return pytest.mark.parametrize("name", params)


def _time(s: Study) -> float:
    return s.rate * s.m.step * s.m.count


def _alike(s: Study, a: Any, b: Any, *, reactions: bool) -> None:
    size = 1.0 + float(np.abs(a.positions).max())
    assert np.abs(a.positions - b.positions).max() < SAME * size
    assert np.abs(a.velocities - b.velocities).max() < SAME * s.rate * size
    for i, name in enumerate(s.m.bodies):
        axes = [s.m.axial[name]] if name in s.m.axial else [0, 1, 2]
        assert np.abs(a.rotations[:, i][..., axes] - b.rotations[:, i][..., axes]).max() < SAME
    if reactions:
        largest = np.abs(s.middles.reactions).max()
        same = (s.rate * s.m.step) ** 2 if a.redundant else SAME_REACTION
        assert np.abs(a.reactions - b.reactions).max() < same * max(largest, 1e-300)


def test_there_are_enough() -> None:
    assert len({m.name for m in ZOO}) == len(ZOO)
    assert len(ZOO) >= 60
    assert set(IN_CI) < {m.name for m in ZOO}


@_each()
def test_every_step_is_solved(name: str) -> None:
    s = study(name)
    assert s.whole.ok, s.whole.worst
    assert s.half.ok, s.half.worst


@_each(without="accuracy")
def test_follows_the_reference(name: str) -> None:
    s = study(name)
    error = s.error(s.whole, 1).max()
    assert error < (s.rate * s.m.step) ** 2 * (1 + _time(s))


@_each(without="order")
def test_has_order_two(name: str) -> None:
    s = study(name)
    assert s.rate * s.m.step < 0.25  # see above
    whole, half = s.error(s.whole, 1)[: s.m.count // 2].max(), s.error(s.half, 2).max()
    assert half < EXACT or whole / half == pytest.approx(4.0, rel=0.1)


@_each(without="energy", only=lambda m: m.conserves)
def test_keeps_its_energy(name: str) -> None:
    s = study(name)
    drift = np.abs(s.whole.energy - s.whole.energy[0]).max()
    size = max(s.kinetic, np.abs(s.whole.energy).max())
    assert drift < (2 * s.rate * s.m.step) ** 4 * (1 + _time(s)) / 720 * s.kinetic + 1e-13 * s.m.count * size


@_each()
def test_rows_hold(name: str) -> None:
    s = study(name)
    size = 1.0 + float(np.abs(s.whole.positions).max())
    for got in (s.whole, s.half):
        assert got.gap.max(initial=0.0) < 1e-12 * size
        assert got.slip.max(initial=0.0) < 1e-12 * size * s.rate


@_each(without="reactions")
def test_reactions_are_those_of_the_reference(name: str) -> None:
    s = study(name)
    largest = np.abs(s.middles.reactions).max()
    error = np.abs(s.whole.reactions - s.middles.reactions).max()
    assert error < (s.rate * s.m.step) ** 2 * (1 + _time(s)) ** 2 * largest + 1e-9 * s.kinetic


@_each(only=lambda m: m.momentum)
def test_keeps_its_momenta(name: str) -> None:
    s = study(name)
    masses = np.array([mass for mass, _ in s.m.bodies.values()])
    size = masses.sum() * s.rate * (1.0 + float(np.abs(s.whole.positions).max())) ** 2
    assert np.abs(s.whole.linear - s.whole.linear[0]).max() < 1e-12 * size
    assert np.abs(s.whole.angular - s.whole.angular[0]).max() < 1e-12 * size


@_each(only=lambda m: m.axial)
def test_nothing_turns_a_rod_about_itself(name: str) -> None:
    s = study(name)
    for i, body in enumerate(s.m.bodies):
        if body in s.m.axial:
            assert np.abs(s.whole.omegas[:, i, s.m.axial[body]]).max() < 3e-3  # what others have at this step


@pytest.mark.parametrize("scale", SCALES)
@_each()
def test_units_do_not_matter(name: str, scale: str) -> None:
    s = study(name)
    got = s.scaled(scale)
    assert got.ok, got.worst
    _alike(s, s.whole, got, reactions="reactions" not in s.m.without)


@_each()
def test_the_scene_may_stand_anywhere(name: str) -> None:
    s = study(name)
    assert s.turned.ok, s.turned.worst
    _alike(s, s.whole, s.turned, reactions="reactions" not in s.m.without)


@_each(ci=IN_CI[:1])
def test_names_and_order_do_not_matter(name: str) -> None:
    s = study(name)
    assert s.reordered.ok, s.reordered.worst
    _alike(s, s.whole, s.reordered, reactions="reactions" not in s.m.without)


@_each(ci=IN_CI[:1])
def test_simulate_takes_the_same_steps(name: str) -> None:
    """Compiled well, with a start that polhode looks at first."""
    s = study(name)
    pose = list(zip(s.begin.positions[0], s.begin.rotations[0], strict=True))
    twist = list(zip(s.begin.velocities[0], s.begin.omegas[0], strict=True))
    got = ph.simulate(s.m.scene(pose, twist).system(), step=s.m.step, steps=s.m.count)
    assert got.ok
    assert np.abs(got.positions[1:] - s.whole.positions).max() < SAME
    assert got.gap.max() < 1e-12
    assert got.slip.max() < 1e-12 * s.rate
