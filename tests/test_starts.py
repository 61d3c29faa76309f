"""Starts at any scale, and of loops that are not quite true."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from test_drives_and_weights import driven

import polhode as ph
from polhode import multibody as mb
from polhode.model import InputError
from polhode.model.functions import as_arrays
from polhode.model.pytree import Static

G = 9.81
SOON: Any = {"xla_backend_optimization_level": 0}
BODY: Any = mb.Body("a", 1.0, (1, 1, 1))


def pendulums(*masses: float) -> mb.System:
    bodies = [
        mb.Body(f"p{i}", m, (m * 0.1,) * 3, position=(5 * i + 1, 0, 0), velocity=(0, 0, 1))
        for i, m in enumerate(masses)
    ]
    joints = [mb.Ball("ground", f"p{i}", at=(5 * i, 0, 0)) for i in range(len(masses))]
    return mb.System(bodies, forces=[mb.Gravity((0, 0, -G))], constraints=joints)


def test_light_and_heavy_bodies_start_side_by_side_as_alone() -> None:
    masses = np.array([1e-9, 1e-6, 1.0, 1e6])
    state, _ = mb.consistent_start(pendulums(*masses))
    alone, _ = mb.consistent_start(pendulums(1.0))
    one = np.asarray(alone.multipliers)
    np.testing.assert_allclose(state.velocities, np.repeat(alone.velocities, 4, axis=0), rtol=1e-14, atol=1e-15)
    each = np.asarray(state.multipliers).reshape(4, 3)
    np.testing.assert_allclose(each / masses[:, None], np.tile(one, (4, 1)), rtol=1e-12, atol=1e-13)


def hinge(size: float, mass: float, out: float) -> tuple[mb.System, float]:
    """A hinged body `size` large, started `out` of its size off its axis and with half the velocity that it needs."""
    body = mb.Body(
        "a",
        mass,
        np.array([0.1, 0.2, 0.15]) * mass * size**2,
        position=(size, out * size, 0),
        omega=(0, 1, 0),
        velocity=(0, 0, -0.5 * size),
    )
    joint = mb.Revolute("ground", "a", axis=(0, 1, 0), at_a=(0, 0, 0), at_b=(-size, 0, 0))
    return mb.System([body], forces=[mb.Gravity((0, 0, -G * size))], constraints=[joint]), mass * size


@pytest.mark.parametrize("size", [1e-9, 1e-6, 1e6])
@pytest.mark.parametrize("mass", [1e-6, 1e6])
def test_a_hinge_starts_the_same_at_every_size(size: float, mass: float) -> None:
    small, unit = hinge(size, mass, 0.01)
    large, _ = hinge(1.0, 1.0, 0.01)
    (a, moved), (b, expected) = mb.consistent_start(small), mb.consistent_start(large)
    np.testing.assert_allclose(moved.shift / size, expected.shift, atol=1e-12)  # 1.4e-17
    np.testing.assert_allclose(a.omegas, b.omegas, atol=1e-12)
    np.testing.assert_allclose(np.asarray(a.velocities) / size, b.velocities, atol=1e-12)
    np.testing.assert_allclose(np.asarray(a.multipliers)[:3] / unit, np.asarray(b.multipliers)[:3], atol=1e-11)
    np.testing.assert_allclose(
        np.asarray(a.multipliers)[3:] / unit / size, np.asarray(b.multipliers)[3:], atol=1e-11
    )  # torques


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_rows_that_contradict_each_other_are_named_at_every_scale(scale: float) -> None:
    body = mb.Body("w", 1.0, np.ones(3) * scale**2, position=(0, 0, scale))
    heights = [
        mb.Holonomic(lambda v, z=z: v.position("w")[2] - z, f"height {i}") for i, z in ((1, scale), (2, 1.5 * scale))
    ]
    with pytest.raises(ph.InputError, match="contradict each other: height 1, height 2"):
        mb.consistent_start(mb.System([body], constraints=heights))


def four_bar(tilt: float, **more: Any) -> mb.System:
    """A planar four-bar on four hinges whose axes are off parallel by `tilt`, its crank turning."""
    A, D = np.zeros(3), np.array([1.1, 0, 0])
    B = 0.5 * np.array([np.cos(1.2), np.sin(1.2), 0])
    d = np.linalg.norm(D - B)
    along = (D - B) / d
    a = (1 - 0.8**2 + d**2) / (2 * d)
    C = B + a * along + np.sqrt(1 - a**2) * np.array([-along[1], along[0], 0])
    # Rates of the two other bars from that of the crank, 1 rad/s: the velocities of C agree.
    turned = lambda P, Q: np.array([-(Q - P)[1], (Q - P)[0]])  # noqa: E731
    coupler, rocker = np.linalg.solve(np.column_stack([turned(B, C), -turned(D, C)]), -turned(A, B))
    at = {"crank": (A, A, B, 1.0), "coupler": (B, B, C, coupler), "rocker": (D, D, C, rocker)}
    start = {"crank": np.zeros(2), "coupler": turned(A, B), "rocker": np.zeros(2)}
    bodies = [
        mb.Body(
            name,
            1.0,
            (0.1, 0.1, 0.1),
            position=(P + Q) / 2,
            omega=(0, 0, rate),
            velocity=(*(start[name] + rate * turned(fix, (P + Q) / 2)), 0),
        )
        for name, (fix, P, Q, rate) in at.items()
    ]
    ways = np.random.default_rng(7).normal(size=(4, 3))
    axes = [0, 0, 1] + tilt * ways / np.linalg.norm(ways, axis=1, keepdims=True)
    pairs = [("ground", "crank", A), ("crank", "coupler", B), ("coupler", "rocker", C), ("rocker", "ground", D)]
    joints = [mb.Revolute(a, b, at=at, axis=axis) for (a, b, at), axis in zip(pairs, axes, strict=True)]
    return mb.System(bodies, forces=[mb.Gravity((0, -G, 0))], constraints=joints, **more)


def test_a_loop_a_little_out_of_true_starts_as_a_true_one_within_the_tolerance() -> None:
    true, _ = mb.consistent_start(four_bar(0.0))
    for tilt, tolerance in ((1e-10, 1e-8), (1e-7, 1e-6), (1e-4, 1e-3)):
        state, _ = mb.consistent_start(four_bar(tilt, tolerance=tolerance))
        np.testing.assert_allclose(state.omegas, true.omegas, atol=3 * tilt)
        np.testing.assert_allclose(state.multipliers, true.multipliers, atol=100 * tilt)


@pytest.mark.parametrize("tilt", [1e-7, 1e-5])
def test_a_loop_out_of_true_by_more_than_the_tolerance_is_locked_and_said_to_be(tilt: float) -> None:
    """Four hinges with axes in no plane and through no point let nothing move."""
    with pytest.warns(UserWarning, match=r"rocker-ground.*tolerance=\de-0\d"):
        state, _ = mb.consistent_start(four_bar(tilt))
    assert np.abs(state.omegas).max() < 1e-7 / tilt * 1e-12


def test_light_links_are_not_out_of_true() -> None:
    rods = [
        mb.Body(str(i), m, (m * 0.01, m * 0.1, m * 0.1), position=(i + 0.5, 0, 0)) for i, m in enumerate([1, 1e-12, 1])
    ]
    ends = [mb.Ball("ground" if i == 0 else str(i - 1), str(i), at=(i, 0, 0)) for i in range(3)]
    state, _ = mb.consistent_start(mb.System(rods, forces=[mb.Gravity((0, 0, -G))], constraints=ends))
    weights = np.asarray(state.multipliers).reshape(3, 3)[:, 2]
    assert abs(weights[1]) < 100  # N


def test_mm_dae_refuses_rows_that_follow_from_others() -> None:
    with pytest.raises(ph.InputError, match=r"mm-dae needs .* rocker-ground\.z, .*use three-field"):
        ph.simulate(four_bar(0.0), step=0.01, until=0.1, method="mm-dae")


def test_a_body_at_rest_at_the_origin_starts_beside_others_that_move() -> None:
    """Its own positions and velocities are zero, and what round-off leaves of them comes from its neighbours."""
    hub = mb.Body("hub", 1.0, (1, 1, 1))
    arms = [mb.Body(f"arm {i}", 1.0, (0.1,) * 3, position=(i + 1, 0.1, 0), velocity=(0.1, 0, 0.3)) for i in range(3)]
    joints = [mb.Ball("ground", "hub", at=(0, 0, 0))]
    joints += [mb.Ball("hub" if i == 0 else f"arm {i - 1}", f"arm {i}", at=(i + 0.5, 0, 0)) for i in range(3)]
    system = mb.System([hub, *arms], constraints=joints)
    psi, phi = mb.residuals(system, mb.consistent_start(system)[0])
    assert np.abs(psi).max() < 1e-15
    assert np.abs(phi).max() < 1e-15


def test_a_start_is_that_of_its_own_time() -> None:
    """A drive that is at nothing at t0 = 2 though not at 0, and one that is there at 0 and not at t0. A flow has
    it below."""
    right = driven(-1.0 - 0.2 * np.sin(6.0), 0.5, 0.2, started=0.5 + 0.6 * np.cos(6.0))
    assert ph.simulate(ph.Problem(right, None, t0=2.0), step=0.01, until=2.1).gap.max() < 1e-14
    with pytest.raises(ph.InputError, match="does not fulfil its constraints"):
        ph.simulate(ph.Problem(driven(rate=0.1), None, t0=0.5), step=0.01, until=0.6)


def test_the_first_multipliers_are_those_of_t0() -> None:
    push = mb.Force("b", lambda view: jnp.stack([0 * view.t, 0 * view.t, view.t]))
    ball = mb.Ball("ground", "b", at=(0, 0, 0))
    system = mb.System([mb.Body("b", 1.0, (0.1, 0.2, 0.3))], forces=[push], constraints=[ball])
    run = ph.simulate(ph.Problem(system, None, t0=5.0), step=0.01, until=5.02)
    np.testing.assert_allclose(run.multipliers[:, 2], [-5.0, -5.005, -5.015], atol=1e-12)


_asked = 0


@mb.tree
class Rod(mb.Constraint):
    a: Static[str]
    b: Static[str]
    length: Any
    name: Static[str] = "rod"
    holonomic = 1

    @property
    def bodies(self) -> tuple[str, ...]:
        return (self.a, self.b)

    def phi(self, view: mb.View) -> Any:
        global _asked
        _asked += 1
        d = view.position(self.a) - view.position(self.b)
        return [jnp.sqrt(d @ d) - self.length]


def test_a_users_class_is_traced_once_for_a_start() -> None:
    bodies = [mb.Body(n, 1.0, (0.1, 0.2, 0.3), position=(i, 0, 0), velocity=(0, i, 0)) for i, n in enumerate("xy")]
    system = mb.System(bodies, constraints=[Rod("x", "y", 1.0)])
    before = _asked
    mb.consistent_start(system)
    once = _asked - before
    moved = replace(system.start, positions=1.01 * system.start.positions)
    mb.consistent_start(system.replaced(start=moved))  # which takes iterations
    assert 0 < _asked - before == 2 * once


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: mb.Distance("b", "ground", at_b=(1, 0, 0), length=np.inf), "length must be finite; got inf"),
        (lambda: mb.Distance("b", "ground", at_b=(1, 0, 0), length="x"), "length must be numbers"),
        (lambda: mb.Distance("b", "ground", at_b=(1, 0, 0), length=-1.0), "one positive number"),
        (lambda: mb.Ball("b", BODY, at=(0, 0, 0)), "takes the names of two bodies"),
        (lambda: mb.Ball(0, "ground", at=(0, 0, 0)), "takes the names of two bodies.*got 0"),  # type: ignore[arg-type]
        (lambda: mb.KnifeEdge("ground"), "of one body that moves; got the ground"),
        (lambda: mb.RollingSphere("ground", radius=1.0), "of one body that moves; got the ground"),
    ],
)
def test_what_no_constraint_can_be(made: Any, words: str) -> None:
    with pytest.raises(ph.InputError, match=words):
        mb.System([mb.Body("b", 1.0, (0.1, 0.2, 0.3))], constraints=[made()])


def test_numbers_of_constraints_stand_in_one_place() -> None:
    """Changing what was given would change nothing, and is refused. Driven from t0 = 2, it goes t + a t²/2."""
    drive = mb.Nonholonomic(lambda view, a: view.velocity("b")[1] - 1.0 - a * (view.t - 2.0), "drive", a=1.0)
    system = mb.System([mb.Body("b", 1.0, (0.1, 0.2, 0.3), velocity=(0, 1, 0))], constraints=[drive])
    assert system.constraints[0].name == "drive"
    with pytest.raises(ph.InputError, match="has no field 'constraints'"):
        system.replaced(constraints=())
    flow = partial(ph.flow, method="mm-dae", step=0.01, steps=10)

    @partial(jax.jit, compiler_options=SOON)
    @jax.value_and_grad
    def place(s: mb.System) -> Any:
        return flow(ph.Problem(s, None, t0=2.0)).positions[0, 1]

    where, slope = place(as_arrays(system))
    assert where == pytest.approx(0.105)
    assert slope.groups[0].kind.parameters["a"][0] == pytest.approx(0.005)
    with pytest.raises(AttributeError, match="constraints"):
        _ = slope.constraints


def test_a_spring_that_pushes_in_no_direction_is_told() -> None:
    """Of some length, with its ends at one point, wherever that is; one of no length may start there."""
    far = 1e6
    at = {"position": (far + 0.3, 0, 0), "attitude": ph.exp((0, 0, 0.1)), "velocity": (0, 0, 1.0)}
    ball = mb.Body("ball", 1.0, (0.1, 0.1, 0.1), **at)
    ends = {"at_a": (far + 0.3 + 0.2 * np.cos(0.1), 0.2 * np.sin(0.1), 0), "at_b": (0.2, 0, 0)}
    with pytest.raises(ph.InputError, match=r"Spring between 'ground' and 'ball' starts.*of length 0.5 m.*length=0"):
        ph.simulate(mb.System([ball], forces=[mb.Spring("ground", "ball", 10.0, 0.5, **ends)]), step=0.01, steps=1)
    assert ph.simulate(mb.System([ball], forces=[mb.Spring("ground", "ball", 10.0, **ends)]), step=0.01, steps=1).ok
    ends["at_b"] = (0.2, 1e-3, 0)
    assert ph.simulate(
        mb.System([ball], forces=[mb.Spring("ground", "ball", 10.0, 0.5, **ends)]), step=0.01, steps=1
    ).ok


def test_a_state_made_by_hand_has_unit_quaternions() -> None:
    """Steps take them as they are; one of another length would be another motion."""
    body = ph.RigidBody((5.0, 5.0, 1.0))
    for length in (1.7, 1.0001, 1e-3):
        q = ph.Quaternion.of(length * np.array([np.cos(0.3), np.sin(0.3), 0.0, 0.0]))
        with pytest.raises(InputError, match=f"unit quaternion.* its length is {length:g}"):
            ph.simulate(body, None, ph.State(q, ph.Vec3.of((0.0, 0.0, 1.0))), step=0.01, steps=5)
    system = mb.System([mb.Body("a", 1.0, (1, 2, 2.5), omega=(1, 2, 3))])
    for wrong, words in (
        ({"quaternions": 1.7 * system.start.quaternions}, "unit quaternion.* its length is 1.7"),
        ({"positions": np.zeros((2, 3))}, r"for each of 1 bodies; got an array of shape \(2, 3\)"),
    ):
        with pytest.raises(InputError, match=words):
            ph.simulate(system.replaced(start=replace(system.start, **wrong)), step=0.01, steps=5)
