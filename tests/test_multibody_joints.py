"""Joints, drives, forces and users' own constraints: how many freedoms they leave, and that they hold."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from test_multibody_systems import G, run

import polhode as ph
from polhode import multibody as mb

JOINTS: list[tuple[Any, int, dict[str, Any]]] = [
    (mb.Fixed, 0, {}),
    (mb.Ball, 3, {}),
    (mb.Revolute, 1, {"axis": (1, 2, 2)}),
    (mb.Universal, 2, {"axis": (0, 0, 1), "axis_b": (1, 1, 0)}),
    (mb.Prismatic, 1, {"axis": (1, 0, 1)}),
    (mb.Cylindrical, 2, {"axis": (1, 0, 1)}),
    (mb.Planar, 3, {"axis": (0, 1, 3)}),
]


def body(name: str, x: float, **more: Any) -> mb.Body:
    return mb.Body(name, 1.0 + x / 4, (0.2, 0.3, 0.4), position=(x, 0.1, 0.2), **more)


@pytest.mark.parametrize(("joint", "freedoms", "options"), JOINTS, ids=[j.__name__ for j, _, _ in JOINTS])
def test_freedoms_between_two_bodies(joint: Any, freedoms: int, options: dict[str, Any]) -> None:
    system = mb.System([body("a", 0.0), body("b", 1.0)], constraints=[joint("a", "b", at=(0.5, 0, 0), **options)])
    assert not system.redundant
    assert 6 - system.rows == freedoms
    assert len(set(system.row_names)) == system.rows


def test_a_rod_takes_one_freedom() -> None:
    system = mb.System([body("a", 0.0), body("b", 1.0)], constraints=[mb.Distance("a", "b", at_a=(0, 0.2, 0))])
    assert system.rows == 1


def sway(t: Any) -> Any:
    return 0.3 * jnp.sin(3.0 * t)


@pytest.fixture(scope="module")
def everything() -> tuple[mb.System, mb.State, dict[str, Any]]:
    """Two joints, a rod and a drive, each between the ground and a body of its own: every kind of row."""
    bodies, joints = [], []
    for i, (joint, _, options) in enumerate(j for j in JOINTS if j[0] in (mb.Universal, mb.Prismatic)):
        name = joint.__name__
        bodies.append(body(name, float(3 * i), omega=(0.5, 1.0, -0.7), velocity=(0.3, -0.2, 0.1)))
        joints.append(joint("ground", name, at=(3 * i + 0.5, 0, 0), **options))
    bodies += [body("rod", 30.0, omega=(1, 2, 3)), body("driven", 40.0)]
    joints.append(mb.Distance("ground", "rod", at_a=(30, 0, 1), at_b=(0, 0.1, 0)))
    joints.append(mb.Revolute("ground", "driven", at=(40.5, 0, 0), axis=(0, 0, 1), angle=sway, name="drive"))
    system = mb.System(bodies, forces=[mb.Gravity((0, 0, -G))], constraints=joints)
    state, _ = mb.consistent_start(system)
    return system, state, run(mb.ThreeField(), system, state, 0.01, 100)


def test_every_joint_holds(everything: Any) -> None:
    _, _, out = everything
    assert out["ok"]
    assert out["phi"] < 5e-15  # 4.1e-16
    assert out["psi"] < 5e-14  # 3.7e-15


def test_a_drive_drives(everything: Any) -> None:
    system, _, out = everything
    i = system.names.index("driven")
    angle = 2 * math.atan2(out["state"].quaternions[i, 3], out["state"].quaternions[i, 0])
    assert angle == pytest.approx(float(sway(1.0)), abs=1e-14)  # 8.3e-17
    assert out["state"].omegas[i, 2] == pytest.approx(0.9 * math.cos(3.0), abs=1e-14)  # 1.1e-16


def circle(view: mb.View, radius: Any) -> Any:
    r = view.position("bead")
    return jnp.array([jnp.sqrt(r[0] ** 2 + r[2] ** 2) - radius, r[1]])


def skate(view: mb.View) -> Any:
    return view.direction("blade", (0, 1, 0)) @ view.point_velocity("blade", (-0.3, 0, 0))


def test_users_constraints_are_as_good_as_built_in() -> None:
    """A sleigh with a user's knife edge beside one with the built-in one: the same bits but for round-off."""
    start: Any = {"omega": (0, 0, 1.5), "velocity": (1, 0.45, 0)}
    sleighs = [mb.Body(name, 2.0, (0.1, 0.2, 0.3), **start) for name in ("blade", "built in")]
    planes = [mb.Planar("ground", body.name, at=(0, 0, 0), axis=(0, 0, 1)) for body in sleighs]
    edges = [mb.KnifeEdge("built in", at=(-0.3, 0, 0)), mb.Nonholonomic(skate, "edge")]
    system = mb.System(sleighs, forces=[mb.Gravity((0, 0, 0))], constraints=[*planes, *edges])
    out = ph.simulate(system, step=0.02, steps=500)
    energy = np.sum(out.velocities**2, axis=-1) + 0.5 * np.sum([0.1, 0.2, 0.3] * out.omegas**2, axis=-1)
    assert np.all(100 * np.ptp(energy, axis=0) / energy[0] < 3e-11)  # (60), in %: 3.4e-12
    np.testing.assert_allclose(out.energy, energy.sum(axis=1), rtol=1e-14)
    assert out.slip.max() < 1e-14  # 5.6e-16
    ends = out.positions[-1]
    assert np.abs(ends[0] - ends[1]).max() < 2e-13  # 1.2e-14


def test_parameters_change_without_compiling() -> None:
    def system(radius: float) -> mb.System:
        bead = mb.Body("bead", 1.0, (1, 1, 1), position=(radius, 0, 0))
        return mb.System([bead], constraints=[mb.Holonomic(circle, "wire", parameters={"radius": radius})])

    one, two = system(1.0), system(2.0)
    assert str(jax.tree.structure(one)) == str(jax.tree.structure(two))


def stretch(view: mb.View, k: Any) -> Any:
    d = view.point("d", (0.2, 0, 0)) - view.point("c", (0, 0.1, 0))
    return 0.5 * k * (jnp.sqrt(d @ d) - 0.4) ** 2


def test_a_spring_is_its_potential_and_keeps_energy_and_momentum() -> None:
    """Two bodies on a spring, beside two on its potential."""
    bodies = [
        body(name, x, **start)
        for names in ("ab", "cd")
        for name, x, start in zip(
            names, (0.0, 1.0), ({"omega": (1, 2, 0)}, {"omega": (0, -1, 2), "velocity": (0, 1, 0)}), strict=True
        )
    ]
    spring = mb.Spring("a", "b", 30.0, 0.4, at_a=(0, 0.1, 0), at_b=(0.2, 0, 0))
    system = mb.System(bodies, forces=[spring, mb.Potential(stretch, parameters={"k": 30.0})])
    run = ph.simulate(system, step=0.01, steps=1000)
    masses, moments = np.array([b.mass for b in bodies]), np.array([0.2, 0.3, 0.4])
    spins = np.einsum("tnij,j,tnj->tni", run.attitude, moments, run.omegas)
    linear = masses[:, None] * run.velocities
    angular = spins + np.cross(run.positions, linear)
    turning = np.sum(moments * run.omegas**2, axis=-1)
    kinetic = 0.5 * (np.sum(run.velocities * linear, axis=-1) + turning)
    ends = run.positions + np.einsum("tnij,nj->tni", run.attitude, [(0, 0.1, 0), (0.2, 0, 0)] * 2)
    total = 0.0
    for pair in (np.s_[0:2], np.s_[2:4]):
        for momentum, most in ((linear, 1e-13), (angular, 1e-12)):  # 9.8e-15, 2.4e-14
            whole = momentum[:, pair].sum(axis=1)
            assert np.abs(whole - whole[0]).max() < most
        long = np.linalg.norm(np.diff(ends[:, pair], axis=1)[:, 0], axis=-1)
        energy = kinetic[:, pair].sum(axis=1) + 15.0 * (long - 0.4) ** 2
        assert 100 * np.ptp(energy) / energy[0] < 2e-4  # (60), in %: 9.5e-5
        total = total + energy
    np.testing.assert_allclose(run.energy, total, rtol=1e-13)
    np.testing.assert_allclose(run.angular_momentum, angular.sum(axis=1), atol=1e-13)
    assert np.abs(run.positions[-1, :2] - run.positions[-1, 2:]).max() < 1e-12  # 8.1e-14


def test_forces_and_torques_in_either_frame() -> None:
    """A constant force at a point and its torque; a damper takes energy away."""
    R = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    forces = [
        mb.Force("a", (1, 2, 3), at=(0, 0, 1)),
        mb.Force("a", lambda v: jnp.array([1.0, 0, 0]), frame="body"),
        mb.Torque("a", (0, 0, 2), frame="space"),
        mb.Damper("ground", "a", 5.0, at_a=(-1, 0.1, 0.2)),
    ]
    system = mb.System([body("a", 0.0, attitude=R, velocity=(1, 0, 0))], forces=forces)
    from polhode.multibody.rows import assembly
    from polhode.multibody.rows.momenta import motion, pose

    state, _ = mb.consistent_start(system)
    f = assembly.forces(system, pose(state), motion(state), 0.0)[0]
    assert f[:3] == pytest.approx((1 + 0 - 5, 2 + 1, 3), abs=1e-14)
    # (0, 0, 1) × Rᵀ(1, 2, 3) with Rᵀ(1, 2, 3) = (2, -1, 3), and 2 about z
    assert f[3:] == pytest.approx((1, 2, 2), abs=1e-14)
