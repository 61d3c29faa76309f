"""Iteration: what is reported, in both modes, in batches, and the derivatives of the root."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from polhode.algebra import Vec3
from polhode.solve import FixedPoint, Newton


def residual_of(b: Any) -> Any:
    """x - (b + a small nonlinear function of x), on Vec3."""
    return lambda x: x - (Vec3(b, 2.0 * b, -b) + 0.1 * Vec3(jnp.sin(x.y), x.x * x.z, jnp.cos(x.x)))


GUESS = Vec3(*(jnp.asarray(0.0),) * 3)


@pytest.mark.parametrize("mode", ["converge", "fixed"])
@pytest.mark.parametrize("solver", [Newton, FixedPoint])
def test_root_is_found(solver: Any, mode: str) -> None:
    count = 8 if solver is Newton else 30
    iteration = solver(mode=mode, count=count) if mode == "fixed" else solver(mode=mode)
    x, report = jax.jit(lambda b: iteration(residual_of(b), GUESS, 1.0))(0.7)
    assert np.abs(residual_of(0.7)(x).array).max() < 3e-16
    assert bool(report.converged)
    assert report.iterations == count if mode == "fixed" else 1 < report.iterations < 30


@pytest.mark.parametrize("solver", [Newton(), FixedPoint(), Newton(mode="fixed"), FixedPoint(mode="fixed", count=40)])
def test_derivative_by_the_implicit_function_theorem(solver: Any) -> None:
    def root(b: Any) -> Any:
        return solver(residual_of(b), GUESS, 1.0)[0].array

    both = jax.jit(lambda b: (root(b), jax.jacfwd(root)(b), jax.jacrev(root)(b)))
    _, forward, reverse = both(0.7)
    e = 1e-5
    finite = (both(0.7 + e)[0] - both(0.7 - e)[0]) / (2 * e)
    np.testing.assert_allclose(forward, reverse, rtol=1e-14)
    np.testing.assert_allclose(forward, finite, rtol=1e-8)


def test_a_batch_member_does_not_depend_on_its_neighbours() -> None:
    b = jnp.asarray([0.01, 0.7, 3.0])
    zeros = Vec3(*(jnp.zeros(3),) * 3)
    x, report = Newton()(residual_of(b), zeros, jnp.ones(3))
    for i in range(3):
        alone, its = Newton()(residual_of(b[i]), GUESS, 1.0)
        np.testing.assert_allclose(x.array[i], alone.array, rtol=2e-16)
        assert its.iterations == report.iterations[i]
    assert len(set(np.asarray(report.iterations).tolist())) > 1


def test_more_unknowns_than_three() -> None:
    def residual(pair: Any) -> Any:
        x, y = pair
        return (x - (Vec3(1.0, 2.0, 3.0) + 0.1 * y.cross(x)), y - (x + 0.2 * Vec3(x.x * y.y, y.z, x.y)))

    (x, y), report = Newton()(residual, (GUESS, GUESS), 1.0)
    assert max(np.abs(r.array).max() for r in residual((x, y))) < 2e-15
    assert bool(report.converged)


def test_failure_is_a_status_not_an_error() -> None:
    no_root = lambda x: Vec3(x.x * x.x + 1.0, x.y, x.z)  # noqa: E731
    start = Vec3(*(jnp.asarray(0.3),) * 3)
    _, report = Newton()(no_root, start, 1.0)
    assert not bool(report.converged)
    assert report.iterations == 25
    _, report = Newton()(lambda x: x * jnp.nan, start, 1.0)
    assert not bool(report.converged)
    _, report = FixedPoint()(lambda x: -9.0 * x, start, 1.0)
    assert not bool(report.converged)
