"""What a user's function reads may change between two runs of one process: every run sees it as it is then, and
compiles nothing for it."""

from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import polhode as ph
from polhode import multibody as mb
from polhode.model.pytree import Static as Fixed
from polhode.model.pytree import tree
from polhode.simulation.loop import run_block, run_block_briefly

TOP = ph.RigidBody((5.0, 5.0, 1.0))
START = ph.State.of(attitude=ph.exp((0.3, 0.0, 0.0)), omega=(0.0, 0.0, 5.0))
KINETIC, COS = 12.5, float(np.cos(0.3))
EXPLICIT = "rig_neg"  # of which a program is a third as long in the making

g = 10.0
table = np.array([0.0, 10.0])


def of_a_global(R: Any) -> Any:
    return g * R[2, 2]


class Weight:
    def __init__(self) -> None:
        self.g = 10.0

    def __call__(self, R: Any) -> Any:
        return self.g * R[2, 2]

    def method(self, R: Any) -> Any:
        return self.g * R[2, 2]


def up(x: Any) -> Any:
    return g * x


def down(x: Any) -> Any:
    return -g * x


WEIGHT = Weight()
CHANGING = {
    "global": of_a_global,
    "attribute": WEIGHT,
    "bound method": WEIGHT.method,
    "array in place": lambda R: jnp.asarray(table)[1] * R[2, 2],
    "array as a literal": lambda R: table[1] * R[2, 2],
    "set on numpy": lambda R: np.users_weight * R[2, 2],  # type: ignore[attr-defined]
    "branch of a cond": lambda R: jax.lax.cond(R[2, 2] > -5.0, up, down, R[2, 2]),
    "body of a loop": lambda R: jax.lax.fori_loop(0, 1, lambda i, x: up(x), R[2, 2]),
    "function inside of jit": lambda R: jax.jit(up)(R[2, 2]),
    "inside jnp.where": lambda R: jnp.where(R[2, 2] > 5.0, 0.0, g * R[2, 2]),
}


LATER = "body of a loop"  # as a branch of a cond, and a function inside of jit
INSIDE = ("branch of a cond", LATER, "function inside of jit")


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.long) if n == LATER else n for n in CHANGING])
def test_of_one_body(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    load, found = ph.Potential(CHANGING[name]), []
    values = (10.0, 20.0) if name in INSIDE else (10.0, 20.0, 40.0)
    for value in values:
        monkeypatch.setitem(globals(), "g", value)
        monkeypatch.setattr(WEIGHT, "g", value)
        monkeypatch.setattr(np, "users_weight", value, raising=False)
        table[1] = value
        programs = run_block.made
        run = ph.simulate(TOP, load, START, method=EXPLICIT, step=0.01, steps=3)
        found.append(float(run.energy[0]))
    assert found == pytest.approx([KINETIC + value * COS for value in values])
    # The last run compiled nothing; but a number inside of a function inside of another is part of the program.
    assert run_block.made == programs + (name in INSIDE)


def test_a_closure_made_again_compiles_nothing() -> None:
    def turned(push: Any) -> Any:
        load = ph.Torque(lambda t, R, omega: jnp.asarray(push) * jnp.cos(t) - 0.1 * omega.array)
        return ph.simulate(TOP, load, START, method=EXPLICIT, step=0.01, steps=3).state.momentum.array[-1]

    first = turned(np.array([1.0, 2.0, 3.0]))
    programs = run_block.made
    assert np.array_equal(turned(np.array([1.0, 2.0, 3.0])), first)
    assert not np.allclose(turned(np.array([1.0, 2.0, 4.0])), first)
    assert run_block.made == programs


def test_indices_that_a_function_captured_stay_indices() -> None:
    chosen = np.array([0, 1])
    load = ph.Potential(lambda R: jnp.sum(jnp.asarray([[1, 2, 3], [4, 5, 6]])[chosen, 2]) * R[2, 2])
    many = ph.State.of(attitude=ph.exp((0.3, 0.0, 0.0)), omega=np.ones((4, 3)))
    run = ph.simulate(TOP, load, many, method=EXPLICIT, step=0.01, steps=2)
    assert run.potential[0] == pytest.approx(9 * COS)


def test_parameters_and_captured_numbers_of_a_batch() -> None:
    weights = np.array([1.0, 2.0, 3.0])
    many = ph.State.of(attitude=ph.exp((0.3, 0.0, 0.0)), omega=np.ones((3, 3)))
    load = ph.Potential(lambda R, w: w * R[2, 2], w=weights)
    by_name = ph.simulate(TOP, load, many, method=EXPLICIT, step=0.01, steps=5)
    assert by_name.potential[0] == pytest.approx(weights * COS)
    with pytest.raises(ph.InputError, match="one number for each body"):
        ph.simulate(TOP, ph.Potential(lambda R: weights * R[2, 2]), many, step=0.01, steps=5)


class Halved(ph.methods.RigNeg):
    """A user's method that reads a class variable."""

    name = "halved"
    share = 0.5

    def step(self, system: Any, state: Any, t: Any, h: Any) -> Any:
        return super().step(system, state, t, self.share * h)


def test_of_a_users_method(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for share in (0.5, 1.0, 0.5):
        monkeypatch.setattr(Halved, "share", share)
        run = ph.simulate(TOP, ph.Potential(of_a_global), START, method=Halved(), step=0.01, steps=3)
        found.append(run.state.momentum.array[-1])
    plain = ph.simulate(TOP, ph.Potential(of_a_global), START, method=EXPLICIT, step=0.01, steps=3)
    np.testing.assert_allclose(found[1], plain.state.momentum.array[-1], rtol=0, atol=1e-14)  # another program
    assert np.array_equal(found[0], found[2])
    assert not np.array_equal(found[0], found[1])


@dataclass(frozen=True)
class UsersLoad(ph.rotation.loads.Load):
    """A load that is a class of the user's."""

    weight: Any = 1.0

    def energy(self, t: Any, R: Any) -> Any:
        return g * self.weight * R[2, 2]

    def torque(self, t: Any, R: Any, omega: Any) -> Any:
        return ph.rotation.loads.torque_of(lambda R: self.energy(t, R), R)


jax.tree_util.register_dataclass(UsersLoad)


class NotRegistered(UsersLoad):
    pass


def test_a_load_that_jax_cannot_take_apart_is_said() -> None:
    with pytest.raises(ph.InputError, match=r"class NotRegistered.*register_dataclass"):
        ph.simulate(TOP, NotRegistered(2.0), START, step=0.01, steps=3)
    with pytest.raises(ph.InputError, match="loaded by its path"):
        ph.load(5)


def test_of_a_users_load(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in (10.0, 20.0):
        monkeypatch.setitem(globals(), "g", value)
        run = ph.simulate(TOP, UsersLoad(2.0), START, method=EXPLICIT, step=0.01, steps=3)
        assert run.energy[0] == pytest.approx(KINETIC + 2.0 * value * COS)
        assert run.energy[-1] == pytest.approx(run.energy[0], rel=1e-5)


# Systems: one body on a plane, with every kind of function a user may give.

height = 1.0


def block(**more: Any) -> mb.System:
    body = mb.Body("block", 1.0, (0.1, 0.2, 0.3), position=(0.0, 0.0, 1.0), velocity=(1.0, 0.0, 0.0))
    return mb.System(
        [body],
        forces=[
            mb.Potential(lambda view: g * view.position("block")[0]),
            mb.Force("block", lambda view: jnp.array([0.0, g, 0.0])),
        ],
        constraints=[mb.Holonomic(lambda view: view.position("block")[2] - height, "plane")],
        observables={"twice": lambda view: g * view.position("block")[0]},
        **more,
    )


def test_of_a_system(monkeypatch: pytest.MonkeyPatch) -> None:
    system, programs = block(), 0
    for value in (10.0, 20.0, 40.0):
        monkeypatch.setitem(globals(), "g", value)
        before = run_block_briefly.made
        run = ph.simulate(system, step=0.01, steps=10)
        programs += run_block_briefly.made - before
        assert run.velocities[-1, 0] == pytest.approx([1.0 - 0.1 * value, 0.1 * value, 0.0], abs=1e-12)
        assert run.observables["twice"].values[-1] == pytest.approx(value * run.positions[-1, 0, 0])
    assert programs == 1
    monkeypatch.setitem(globals(), "height", 1.0 + 1e-10)
    assert ph.simulate(system, step=0.01, steps=10).positions[-1, 0, 2] == pytest.approx(1.0 + 1e-10, abs=1e-14)


@pytest.mark.parametrize("by", [jax.jit, pytest.param(lambda f: f, marks=pytest.mark.long)], ids=["jit", "call"])
def test_of_a_step_called_by_the_user(by: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of `simulate` too: nothing inside a step remembers a function by its identity."""
    system, method = block(), mb.ThreeField(solver=mb.Chord())
    speeds = []
    for value in (10.0, 20.0):
        monkeypatch.setitem(globals(), "g", value)
        state, _ = mb.consistent_start(system)
        step = by(lambda state: method.step(system, state, 0.0, 0.01).state.velocities)
        speeds.append(float(step(state)[0, 0]))
    assert speeds == pytest.approx([0.9, 0.8])


@tree
class Level(mb.Constraint):
    """A user's constraint: one coordinate keeps its value. `along` is static, by another name than `Static`."""

    body: Fixed[str]
    along: Fixed[int]
    value: Any
    name: Fixed[str] = "level"
    holonomic = 1
    scale: Any = field(default=1.0, kw_only=True)

    @property
    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def phi(self, view: mb.View) -> Any:
        return [self.scale * view.position(self.body)[self.along] - self.value]


axes = [0, 0]


def test_rows_that_no_longer_follow_from_others(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [mb.Holonomic(lambda view, i=i: view.position(1)[axes[i]], f"row {i}") for i in (0, 1)]
    still = mb.Body("still", 1.0, (1.0, 1.0, 1.0))
    body = mb.Body("block", 1.0, (0.1, 0.2, 0.3), velocity=(0.0, 0.0, 1.0))
    push = mb.Force("block", lambda view: jnp.array([0.0, 5.0, 0.0]) + view.position(0))
    system = mb.System(
        [still, body], forces=[push], constraints=rows, observables={"z": lambda view: view.position(1)[2]}
    )
    assert system.redundant == (1,)
    monkeypatch.setitem(globals(), "axes", [0, 1])
    run = ph.simulate(system, method="mm-dae", step=0.01, steps=10)
    assert run.positions[-1, 1] == pytest.approx([0.0, 0.0, 0.1], abs=1e-12)  # bodies by their number in the system
    assert run.observables["z"].values[-1] == pytest.approx(0.1)


@tree
class Slide(mb.Constraint):
    """A user's constraint that makes something of its name."""

    name: Fixed[str]
    body: Fixed[str]
    holonomic = 1

    @property
    def bodies(self) -> tuple[str, ...]:
        return (self.body,)

    def phi(self, view: mb.View) -> Any:
        return [view.position(self.body)["xyz".index(self.name)]]


def test_constraints_of_one_class_that_differ_in_their_name() -> None:
    body = mb.Body("block", 1.0, (0.1, 0.2, 0.3))
    system = mb.System([body], constraints=[Slide("x", "block"), Slide("y", "block")])
    assert len(system.groups) == 2
    assert system.redundant == ()


def test_a_class_that_jax_cannot_take_apart_is_said() -> None:
    class Plain(mb.Constraint):
        name, bodies, holonomic = "plain", ("block",), 1

    with pytest.raises(ph.InputError, match=r"JAX cannot take apart.*tree"):
        mb.System([mb.Body("block", 1.0, (0.1, 0.2, 0.3))], constraints=[Plain()])


def test_constraints_of_one_class_that_differ_in_a_static_field() -> None:
    body = mb.Body("block", 1.0, (0.1, 0.2, 0.3), position=(0.0, 2.0, 1.0), velocity=(1.0, 0.0, 0.0))
    system = mb.System(
        [body],
        forces=[mb.Gravity((3.0, 4.0, 5.0))],
        constraints=[Level("block", 1, 2.0, "y"), Level("block", 2, 1.0, "z")],
    )
    assert system.redundant == ()
    assert len(system.groups) == 2
    run = ph.simulate(system, method="mm-dae", step=0.01, steps=5)
    assert run.positions[-1, 0, 1:] == pytest.approx([2.0, 1.0], abs=1e-12)
    assert run.multipliers[-1] == pytest.approx([-4.0, -5.0])


def test_static_is_told_by_what_it_is() -> None:
    assert {type(x).__name__ for x in jax.tree.leaves(Level("block", 1, 2.0))} == {"float"}

    with pytest.raises(TypeError, match="cannot tell whether the annotation"):

        @tree
        class Odd:
            along: "NoSuchName[int]"  # type: ignore[name-defined]  # noqa: F821
