"""What states, bodies, systems and problems look like where Python prints them: one line, no arrays in pieces."""

from __future__ import annotations

import jax
import numpy as np

import polhode as ph

TOP = ph.problem("heavy-top")


def test_of_one_body() -> None:
    run = ph.simulate(TOP, step=0.01, steps=2)
    assert repr(ph.State.of(omega=(0, 0, 4))) == "Start(attitude=Quaternion(1, 0, 0, 0), omega=Vec3(0, 0, 4))"
    assert repr(ph.RigidBody((5, 5, 1))) == "RigidBody(inertia=(5, 5, 1))"
    assert repr(ph.RigidBody(np.diag([5, 5, 1.0]), mass=2.0)).startswith(
        "RigidBody(inertia=[[5, 0, 0], [0, 5, 0], [0, 0, 1]], mass=2"
    )
    assert repr(ph.Vec3(1.0, np.float64(1 / 3), 0.0)) == "Vec3(1, 0.3333333, 0)"
    assert repr(run.state) == "State(attitude=Quaternion(of shape (3,)), momentum=Vec3(of shape (3,)))"
    assert repr(run.last_state).startswith("State(attitude=Quaternion(0.8773")
    assert repr(TOP).startswith("Problem(heavy-top: Rotation(RigidBody, moments=Vec3(5, 5, 1), load=Potential(")
    assert repr(TOP).endswith(", method='imidm', step=0.001, until=10.0)")


def test_of_systems() -> None:
    disk = ph.problem("rolling-disk")
    assert repr(disk.system) == "System(disk: 3 rows of constraints, acted on by Gravity)"
    assert "State(positions=[[-0.0225, -0.0174" in repr(ph.simulate(disk, step=0.01, steps=1).last_state)


def test_of_what_is_traced() -> None:
    """What a user prints inside of `jit`."""
    seen: list[str] = []
    jax.jit(lambda x: seen.append(repr(ph.Vec3(x, x, 0.0))))(1.0)
    assert seen == ["Vec3(traced float64[], traced float64[], 0)"]
