"""Chains and trees with sparse matrices: the motion of dense ones, in arrays that grow with the bodies alone."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from polhode import multibody as mb
from polhode.problems import problem_of

QUICK = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}  # to compile, not to run
H = 0.01


def chain(bodies: int, **given: Any) -> mb.System:
    return problem_of("chain").system(bodies=bodies, **given)


def tree(count: int) -> mb.System:
    """A hub on the ground with arms of two rods, one of them on a spring; no two alike, all moving."""
    random = np.random.default_rng(1)
    bodies = [mb.Body("hub", 2.0, (0.3, 0.4, 0.5), omega=(0.3, -0.2, 0.4))]
    joints: list[mb.Constraint] = [mb.Ball("ground", "hub", at=(0.0, 0.0, 0.0), name="foot")]
    for i in range(count):
        turn = 2 * np.pi * i / count
        at = np.array([np.cos(turn), np.sin(turn), 0.1 * i])
        for name, to, out in ((f"near {i}", "hub", 1.0), (f"far {i}", f"near {i}", 2.0)):
            bodies.append(mb.Body(name, random.uniform(0.5, 1.5), (0.1, 0.12, 0.15), position=(out + 0.5) * at))
            joints.append(mb.Revolute(to, name, at=out * at, axis=random.normal(size=3), name=f"{name} joint"))
    forces = [mb.Gravity(), mb.Spring("far 0", "near 1", 3.0, 0.2), mb.Damper("far 1", "ground", 0.4)]
    shuffled = [bodies[i] for i in random.permutation(len(bodies))]
    return mb.System(shuffled, forces=forces, constraints=joints)


@cache
def ran(method: mb.MultibodyMethod, system: str, count: int, steps: int) -> Any:
    """The last state and whether every step converged, compiled quickly."""
    made = {"chain": chain, "tree": tree}[system](count)
    state, _ = mb.consistent_start(made)

    def run(made: mb.System, state: mb.State) -> Any:
        def step(state: mb.State, n: Any) -> Any:
            result = method.step(made, state, n * H, H)
            return result.state, result.report.converged

        return jax.lax.scan(step, state, jnp.arange(steps))

    return made, *jax.jit(run).lower(made, state).compile(compiler_options=QUICK)(made, state)


@pytest.mark.parametrize(
    ("system", "count", "steps", "close"),
    # measured: positions, velocities
    [("chain", 5, 60, 1e-11), ("chain", 10, 60, 1e-11)],
)
def test_it_moves_as_the_dense_step_does(system: str, count: int, steps: int, close: float) -> None:
    made, dense, ok = ran(mb.ThreeField(), system, count, steps)
    _, sparse, ok_sparse = ran(mb.ThreeFieldSparse(), system, count, steps)
    assert ok.all() and ok_sparse.all()
    for name in ("positions", "quaternions", "velocities", "omegas"):
        print(name, np.abs(getattr(dense, name) - getattr(sparse, name)).max())
        np.testing.assert_allclose(getattr(sparse, name), getattr(dense, name), atol=close)
    for name in ("multipliers", "mu", "lam"):
        print(name, np.abs(getattr(dense, name) - getattr(sparse, name)).max(), np.abs(getattr(dense, name)).max())
