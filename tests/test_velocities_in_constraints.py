"""What constraints and potentials may do with velocities, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import polhode as ph
from polhode import multibody as mb
from polhode.model.pytree import Static, tree
from polhode.multibody.rows import assembly
from polhode.multibody.rows.momenta import motion, pose
from polhode.multibody.step.force_slopes import force_slopes


def body(name: str = "p", **more: Any) -> mb.Body:
    return mb.Body(name, 1.0, (1, 1, 1), **more)


def v(view: mb.View) -> Any:
    return view.velocity("p")


def on(constraint: Any) -> mb.System:
    return mb.System([body()], constraints=[constraint])


NOT_AFFINE: dict[str, Callable[[mb.View], Any]] = {
    "a parabola": lambda view: v(view)[0] - v(view)[1] ** 2,
    "Appell and Hamel": lambda view: v(view)[0] ** 2 + v(view)[1] ** 2 - v(view)[2] ** 2,
    "a speed": lambda view: jnp.sqrt(v(view) @ v(view) + 1e-300) - 1.0,
    "a norm": lambda view: jnp.linalg.norm(v(view)) - 1.0,
    "drag": lambda view: jnp.abs(v(view)[0]) * v(view)[0] - v(view)[1],
    "one way only": lambda view: jnp.where(v(view)[0] > 0, v(view)[0], 2.0 * v(view)[0]) + v(view)[1],
    "a branch": lambda view: jax.lax.cond(v(view)[0] > 0, lambda x: x, lambda x: 2.0 * x, v(view)[0]),
    "a quotient": lambda view: v(view)[0] / (2.0 + v(view)[1]),
    "only when fast": lambda view: jnp.where(v(view)[0] > 300.0, 0.0, v(view)[0]),
    "only when slow": lambda view: v(view)[0] + 1e-3 * jnp.sin(v(view)[1]),
    "cubed in a loop": lambda view: jax.lax.fori_loop(0, 3, lambda i, x: x * v(view)[0], 1.0),
    "of a turn": lambda view: view.omega("p")[0] * view.omega("p")[1],
    "of a point": lambda view: view.point_velocity("p", (1.0, 0, 0))[1] ** 3,
    "hidden from derivatives": lambda view: jax.lax.stop_gradient(v(view)[0]) - v(view)[1],
    "one row of two": lambda view: [v(view)[2], v(view)[0] * v(view)[1]],
}


@pytest.mark.parametrize("name", NOT_AFFINE)
def test_a_constraint_not_affine_in_velocities_is_refused(name: str) -> None:
    with pytest.raises(ph.InputError, match=r"Nonholonomic 'row' must be linear or affine in the velocities, and is"):
        on(mb.Nonholonomic(NOT_AFFINE[name], "row"))


def _wheel(view: mb.View) -> Any:
    """Rolling, written with whatever a user may write."""
    n = jnp.cross(view.direction("p", jnp.array([0.0, 1, 0])), jnp.array([0.0, 0, 1]))
    arm = -n / jnp.linalg.norm(n)
    slip = v(view) + jnp.cross(view.spin("p"), arm)
    return slip.at[2].set(slip[2] * 2.0)[jnp.array([0, 2])]


AFFINE: dict[str, Callable[[mb.View], Any]] = {
    "a wheel": _wheel,
    "a moving belt": lambda view: v(view)[0] - jnp.sin(view.t) * jnp.exp(view.position("p")[0]),
    "a switch in space": lambda view: jnp.where(view.position("p")[0] > 0, v(view)[0], v(view)[1]),
    "a branch in space": lambda view: jax.lax.cond(view.t > 0, lambda x: x, lambda x: 2.0 * x, v(view)[0]),
    "a loop": lambda view: jax.lax.fori_loop(0, 3, lambda i, x: x * view.t + v(view)[0], 0.0),
    "squares that cancel": lambda view: (v(view)[0] + 1.0) ** 2 - v(view)[0] ** 2,
    "stacked with positions": lambda view: (jnp.stack([v(view)[0], view.position("p")[0]]) ** jnp.array([1, 2]))[0],
}


@pytest.mark.parametrize("name", AFFINE)
def test_a_constraint_affine_in_velocities_is_taken_however_it_is_written(name: str) -> None:
    on(mb.Nonholonomic(AFFINE[name], "row"))


OF_VELOCITIES: dict[str, Callable[[mb.View], Any]] = {
    "velocity": lambda view: v(view)[0] - view.position("p")[2],
    "omega": lambda view: view.omega("p")[0] + view.position("p")[2],
    "spin": lambda view: view.spin("p")[0] + view.position("p")[2],
    "point": lambda view: view.point_velocity("p", (1, 0, 0))[0] * view.position("p")[2],
    "a switch": lambda view: jnp.where(v(view)[0] > 0, 1.0, 2.0) * view.position("p")[2],
}


@pytest.mark.parametrize("name", OF_VELOCITIES)
def test_positions_and_potentials_of_velocities_are_refused(name: str) -> None:
    with pytest.raises(ph.InputError, match=r"Holonomic 'row'.* depends on velocities.*is a Nonholonomic"):
        on(mb.Holonomic(OF_VELOCITIES[name], "row"))
    with pytest.raises(ph.InputError, match=r"a Potential.* depends on velocities.*is a Force or a Torque"):
        mb.System([body()], forces=[mb.Potential(OF_VELOCITIES[name])])


def test_a_velocity_that_is_asked_for_and_not_used_is_no_matter() -> None:
    on(mb.Holonomic(lambda view: view.position("p")[2] + 0.0 * v(view)[0], "row"))


@tree
class Own(mb.Constraint):
    """A class of a user's own: z = 0, and a row on velocities."""

    body: Static[str]
    power: Static[int] = 1
    name: Static[str] = "own"
    holonomic: Static[int] = 1
    nonholonomic: Static[int] = 1

    @property
    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def phi(self, view: mb.View) -> Any:
        return [view.position(self.body)[2] + (view.velocity(self.body)[0] if self.power == 0 else 0.0)]

    def psi(self, view: mb.View) -> Any:
        return [view.velocity(self.body)[0] ** max(self.power, 1)]


def test_a_class_of_the_users_own_is_looked_at_too() -> None:
    on(Own("p"))
    with pytest.raises(ph.InputError, match=r"`psi` of Own 'own' must be linear or affine"):
        on(Own("p", 2))
    with pytest.raises(ph.InputError, match=r"`phi` of Own 'own'.* depends on velocities"):
        on(Own("p", 0))


def test_a_function_that_changed_is_looked_at_again() -> None:
    power = 1
    system = on(mb.Nonholonomic(lambda view: v(view)[0] ** power, "row"))
    power = 2
    with pytest.raises(ph.InputError, match="Nonholonomic 'row' must be linear or affine"):
        ph.simulate(system, step=0.01, steps=1)


def test_numbers_that_are_traced_are_taken() -> None:
    """Inside a program there are no values to look at, and the system was looked at when it was made."""
    row = mb.Nonholonomic(lambda view, k: (k + v(view)[1]) ** 2 - v(view)[1] ** 2, "row", k=2.0)
    jax.jit(lambda system: mb.residuals(system.bare(), system.start)[0])(on(row))


def three() -> list[mb.Body]:
    return [body(n, position=(i, 0, 0), velocity=(0, 0, i)) for i, n in enumerate("abc")]


def test_numbers_of_bodies_are_those_of_the_system_however_functions_are_called() -> None:
    """Functions as they were given, not traced: numbers and names give the same step."""

    def system(b: Any, c: Any) -> mb.System:
        row = mb.Holonomic(lambda view: view.position(c)[0] - view.position(b)[0] - 1.0, "apart")
        belt = mb.Nonholonomic(lambda view: view.velocity(c)[1] - view.velocity(b)[1], "side by side")
        spring = mb.Potential(lambda view: 0.5 * (view.position(c)[2] - view.position(b)[2] - 2.0) ** 2)
        push = mb.Force("a", lambda view: view.position(c) - 3.0 * view.position(b))
        turn = mb.Torque("b", lambda view: view.position(c))
        return mb.System(three(), forces=[spring, push, turn], constraints=[row, belt])

    def measured(s: mb.System, start: mb.State) -> Any:
        q, u = pose(start), motion(start)
        slopes = force_slopes(s, q, u, 0.0)
        return (
            mb.energy(s, start),
            mb.residuals(s, start),
            assembly.rows(s, q, 0.0),
            assembly.forces(s, q, u, 0.0),
            slopes,
        )

    both = system("b", "c"), system(1, -1)
    by_name, by_number = (jax.jit(partial(measured, s))(both[0].start) for s in both)
    for x, y in zip(jax.tree.leaves(by_name), jax.tree.leaves(by_number), strict=True):
        np.testing.assert_array_equal(x, y)
    assert float(by_number[0][1]) == 2.0


def test_a_number_where_only_some_bodies_are_at_hand_is_refused() -> None:
    @tree
    class ByNumber(Own):
        def phi(self, view: mb.View) -> Any:
            return [view.position(0)[2]]

    with pytest.raises(ph.InputError, match="body number 0 was asked for where only some bodies"):
        mb.System(three(), constraints=[ByNumber("b")])
