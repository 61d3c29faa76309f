"""One step beside the examples: potentials of time, drives that part, fields of several bodies, lines of mass."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from polhode import multibody as mb
from polhode.algebra.arrays import over_positive3, root3
from polhode.problems import problem_of


def stiffness(t: float) -> float:
    return 4.0 + 3.0 * np.sin(2.0 * t)


def test_a_potential_between_floating_bodies_may_change_with_time() -> None:
    """What it gains with time is no work of its force; reduced to the distance, by DOP853."""

    def drawn(view: mb.View) -> jnp.ndarray:
        d = view.position("a") - view.position("b")
        return 0.5 * (4.0 + 3.0 * jnp.sin(2.0 * view.t)) * d @ d

    bodies = [
        mb.Body("a", 1.0, (0.1, 0.2, 0.25), position=(0.5, 0, 0), velocity=(0, 0.6, 0.1)),
        mb.Body("b", 2.0, (0.3, 0.2, 0.25), position=(-0.25, 0, 0), velocity=(0, -0.3, -0.05)),
    ]
    system = mb.System(bodies, forces=[mb.Potential(drawn)])
    assert system.within == (True,)
    exact = solve_ivp(
        lambda t, y: [*y[3:], *(-1.5 * stiffness(t) * y[:3])],
        (0.0, 2.0),
        [0.75, 0, 0, 0, 0.9, 0.15],
        method="DOP853",
        rtol=1e-12,
        atol=1e-13,
    ).y[:3, -1]
    errors = []
    for h in (0.02, 0.01):
        run = ph.simulate(system, step=h, until=2.0)
        errors.append(np.abs(run.positions[-1, 0] - run.positions[-1, 1] - exact).max())
        assert np.abs(run.omegas).max() == 0.0
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


def test_what_acts_within_its_bodies() -> None:
    bodies = [mb.Body(n, 1.0, (1, 1, 1), position=(i, 0.3 * i, 0)) for i, n in enumerate("abc")]

    def within(fn: Any) -> tuple[bool, ...]:
        return mb.System(bodies, forces=[mb.Potential(fn)]).within

    def apart(v: mb.View) -> jnp.ndarray:
        return v.position("a") - v.position("b")

    assert within(lambda v: -1 / jnp.linalg.norm(apart(v))) == (True,)
    assert within(lambda v: v.direction("a", (1, 0, 0)) @ v.direction("b", (0, 1, 0))) == (True,)
    assert within(lambda v: v.position("a") @ v.position("a") + v.position("b")[2]) == (False,)
    assert within(lambda v: apart(v)[0] ** 2) == (False,)  # of a coordinate in space: turns, though it does not push
    assert within(lambda v: v.position("a")[2] ** 2) == (False,)
    forces = [mb.Spring("a", "b", 1.0), mb.Gravity(), mb.Spring("ground", "c", 1.0)]
    assert mb.System(bodies, forces=forces).within == (True, False, False)


@pytest.mark.parametrize(
    "method",
    [mb.ThreeField(solver=mb.Chord()), pytest.param(mb.ThreeField(), marks=pytest.mark.long)],
    ids=["one program", "all"],
)
def test_drives_that_part_are_named(method: ph.Method) -> None:
    """Along a line, by two functions of the user's; an angle is driven in `test_drives_and_weights`."""
    early = mb.Holonomic(lambda v: v.position("b")[0] - v.t**2, "early")
    late = mb.Holonomic(lambda v: v.position("b")[0] - v.t**3, "late")
    system = mb.System([mb.Body("b", 1.0, (0.1, 0.1, 0.1))], constraints=[early, late])
    with pytest.raises(ph.StepError, match=r"early, late.*contradict|contradict.*early, late") as failed:
        ph.simulate(system, method=method, step=0.01, until=1.5)
    run = failed.value.run
    assert run.gap.max() < 1e-7  # the tolerance of the system, of a body of size one
    assert run.t[-1] < 0.1


@pytest.mark.parametrize("kind", ["kappa", pytest.param("none", marks=pytest.mark.long)])
def test_positions_that_are_not_held_do_not_count_as_unsolved(kind: Any) -> None:
    run = ph.simulate(
        problem_of("pendulum").problem().system, method=mb.ThreeField(stabilisation=kind), step=0.01, until=0.5
    )
    assert run.gap.max() > 1e-6
    assert (run.renewals, run.halvings) == (0, 0)


def test_a_line_of_mass() -> None:
    rod = mb.Body("rod", 1.2, (0.1, 0.1, 0.0))
    assert np.linalg.eigvalsh(rod.tensor) == pytest.approx([1e-8, 0.1, 0.1], rel=1e-9)
    aslant = np.array([[0.5, -0.5, 0.0], [-0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])  # a line along (1, 1, 0)
    assert mb.Body("rod", 1.0, aslant).tensor @ (1, 1, 0) == pytest.approx([1e-7, 1e-7, 0.0], rel=1e-6)
    assert mb.Body("thin", 1.0, (1e-13, 0.1, 0.1)).tensor[0, 0] == 1e-13
    with pytest.raises(ph.InputError, match="inertia|moment"):
        mb.Body("plate", 1.0, (0.0, 0.1, 0.2))


def test_small_solves() -> None:
    rng = np.random.default_rng(3)
    G = rng.normal(size=(3, 3))
    A = G @ G.T
    assert np.asarray(root3(A) @ root3(A).T) == pytest.approx(A, rel=1e-12)
    line = np.outer([1.0, 2, 2], [1.0, 2, 2])
    near = 9.0 * np.eye(3) - line + 1e-14 * np.eye(3)  # of points on a line: singular but for round-off
    b = np.cross([1.0, 2, 2], [0.3, -0.5, 0.7])
    assert np.asarray(near @ over_positive3(near, b)) == pytest.approx(b, abs=1e-14)
