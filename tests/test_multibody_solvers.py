"""The equations of a step solved in several ways, and the derivative of their solution."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from test_multibody_systems import cyclic_disk

import polhode as ph
from polhode import InputError
from polhode import multibody as mb
from polhode.model.functions import as_arrays
from polhode.multibody.rows import assembly
from polhode.problems import problem_of


@pytest.mark.parametrize("name", ["pendulum", pytest.param("cyclic disk", marks=pytest.mark.long)])
def test_every_solver_finds_the_same_motion(name: str) -> None:
    """One matrix a step, the whole Jacobian at every iterate, or q⁺ left as it is: they differ in iterations."""
    system = cyclic_disk() if name == "cyclic disk" else problem_of(name).problem().system
    solvers: dict[str, Any] = {
        "full": mb.DenseNewton(tolerance=1e-11),
        "chord": mb.Chord(),
        "frozen": mb.Chord(frozen=True),
    }
    runs = {k: ph.simulate(system, step=0.01, steps=100, method=mb.ThreeField(solver=s)) for k, s in solvers.items()}
    for run_ in runs.values():
        np.testing.assert_allclose(run_.positions, runs["chord"].positions, atol=1e-10)
        np.testing.assert_allclose(run_.multipliers, runs["chord"].multipliers, atol=1e-9)
    counts = [runs[k].trajectory.iterations for k in solvers]
    assert counts == sorted(counts)
    assert counts[-1] > counts[0] + 2
    with pytest.raises(InputError, match=r"Chord\(frozen=True\)"):
        ph.simulate(system, step=0.01, steps=1, method=mb.ThreeField(solver=mb.DenseNewton(frozen=True)))
    with pytest.raises(InputError, match="three-field for others"):
        mb.ThreeFieldSparse(solver=mb.Chord(frozen=True))


@pytest.mark.long
@pytest.mark.parametrize("name", ["pendulum", "rolling-disk"])
def test_derivatives_of_a_motion_in_reverse(name: str) -> None:
    """Of where a system is after ten steps, by its start and by its masses: they agree with differences."""
    system = as_arrays(problem_of(name).problem().system)
    first, method, h = mb.consistent_start(system)[0], mb.ThreeField(), 0.02
    A = np.asarray(assembly.rows(system, (first.positions, first.rotations), 0.0)).reshape(system.rows, -1)
    free = np.linalg.svd(A)[2][-1].reshape(system.size, 6)  # a motion that the rows allow

    def end(x: jax.Array) -> jax.Array:
        """A coordinate and a velocity after the run."""
        u = jnp.concatenate([first.velocities, first.omegas], axis=-1) + x[0] * free
        state = replace(first, velocities=u[:, :3], omegas=u[:, 3:])
        moved = system.replaced(masses=system.masses * (1.0 + x[1]), inertias=system.inertias * (1.0 + 0.3 * x[1]))

        def one(i: jax.Array, state: mb.State) -> mb.State:
            return method.step(moved, state, i * h, h).state

        state = jax.lax.scan(lambda s, i: (one(i, s), None), state, jnp.arange(10.0))[0]
        return jnp.sum(state.positions * jnp.arange(1.0, 4.0)) + jnp.sum(state.omegas * jnp.arange(2.0, 5.0))

    x, e, both = jnp.zeros(2), 1e-5, jax.jit(jax.value_and_grad(end))
    slope = both(x)[1]
    differences = [float(both(x.at[i].set(e))[0] - both(x.at[i].set(-e))[0]) / (2 * e) for i in range(2)]
    np.testing.assert_allclose(slope, differences, rtol=1e-6, atol=1e-8)
    assert abs(slope[0]) > 1e-3


def test_a_fixed_number_of_corrections_is_enough() -> None:
    """As on a GPU: a step is solved whether or not its last correction happens to be the smallest."""
    system = problem_of("pendulum").problem().system
    loop, fixed = (
        ph.simulate(system, step=0.01, steps=100, method=mb.ThreeField(solver=mb.Chord(mode=mode)))
        for mode in ("converge", "fixed")
    )
    np.testing.assert_allclose(fixed.positions, loop.positions, atol=1e-12)
    assert fixed.trajectory.iterations == mb.Chord().count
