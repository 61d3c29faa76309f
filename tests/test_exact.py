"""`exact`: how far it reaches, its derivatives, and the body that may not twist."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import polhode as ph

TENSOR = [[1.0, 0.2, 0.1], [0.2, 2.0, 0.0], [0.1, 0.0, 2.5]]


@pytest.mark.long
def test_derivatives_by_time_and_start() -> None:
    body, Pi, q = ph.RigidBody(TENSOR), np.array([1.0, 1.0, 0.3]), np.array([0.8, 0.0, 0.6, 0.0])
    weights = np.random.default_rng(1).normal(size=12)

    def end(t: Any, Pi: Any) -> Any:
        state = ph.exact(body, ph.State(ph.Quaternion.of(q), ph.Vec3.of(Pi)), t)
        return jnp.concatenate([state.attitude.matrix().array.reshape(9), state.momentum.array]) @ weights

    both = jax.jit(jax.value_and_grad(end, argnums=(0, 1)))  # one program, for the differences too
    value = lambda *at: float(both(*at)[0])  # noqa: E731
    _, (by_t, by_Pi) = both(1.3, Pi)
    h = 1e-5
    assert value(1.3, Pi) == pytest.approx(float(end(1.3, Pi)), abs=1e-14)
    assert float(by_t) == pytest.approx((value(1.3 + h, Pi) - value(1.3 - h, Pi)) / (2 * h), abs=1e-9)
    apart = [(value(1.3, Pi + h * e) - value(1.3, Pi - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(by_Pi, apart, atol=1e-9)
    assert isinstance(ph.exact(body, ph.State.of(momentum=Pi), 1.3).momentum.x, np.ndarray | np.generic)


def test_what_has_no_value_yet_is_named() -> None:
    with pytest.raises(ph.InputError, match=r"omega must be numbers.* inside of jit, vmap or grad .*State\("):
        jax.grad(lambda w: ph.exact(ph.RigidBody((1, 2, 2.5)), ph.State.of(omega=(w, 0, 0)), 1.0).momentum.x)(1.0)


@pytest.mark.parametrize("given", ["omega", pytest.param("momentum", marks=pytest.mark.long)])
def test_derivatives_by_the_inertia_and_time(given: str) -> None:
    def end(i: Any, t: Any) -> Any:
        return ph.exact(ph.RigidBody((i, 2, 2.5)), ph.State.of(**{given: (1, 0.3, -0.5)}), t).momentum.x

    h = 1e-5
    both = jax.jit(jax.value_and_grad(end, argnums=(0, 1)))
    value = lambda *at: float(both(*at)[0])  # noqa: E731
    by_i, by_t = both(1.1, 1.0)[1]
    assert float(by_i) == pytest.approx((value(1.1 + h, 1.0) - value(1.1 - h, 1.0)) / (2 * h), abs=1e-9)
    assert float(by_t) == pytest.approx((value(1.1, 1.0 + h) - value(1.1, 1.0 - h)) / (2 * h), abs=1e-9)


def test_times_at_which_no_digit_is_left_are_refused() -> None:
    body, start = ph.RigidBody((1, 2, 2.5)), ph.State.of(omega=(1, 0.5, 0))
    ph.exact(body, start, 8e14)
    for t in (1e15, -1e16, 1e300, [0.0, 1.0, 1e17]):
        with pytest.raises(ph.InputError, match=r"is too far: the body turns by .* rad until then"):
            ph.exact(body, start, t)
    still = ph.exact(body, ph.State.of(omega=(0, 0, 0)), 1e300)
    assert still.attitude.array.tolist() == [1, 0, 0, 0]
    slow = ph.exact(body, ph.State.of(omega=(1e-100, 0, 0)), 1e100)
    assert slow.attitude.array[0] == pytest.approx(np.cos(0.5), abs=1e-15)


@pytest.mark.parametrize("inertia", [(1, 2, 2.5), [[1, 0.3, 0], [0.3, 2, 0], [0, 0, 2.5]]], ids=str)
def test_a_body_that_may_not_twist(inertia: Any) -> None:
    body, start = ph.NonTwistingBody(inertia), ph.State.of(attitude=ph.exp((0.1, 0.2, 0.3)), omega=(1, 0.5, 0))
    run = ph.simulate(body, None, start, method="em", step=1e-3, until=2.0)
    found = ph.exact(body, start, run.t)
    np.testing.assert_allclose(found.attitude.matrix().array, run.attitude, atol=1e-6)  # 1.5e-7, that of em
    np.testing.assert_allclose(found.momentum.array, run.state.momentum.array, atol=1e-12)
    d3 = found.attitude.matrix().array[:, :, 2]
    pole = np.cross(d3[0], d3[500])
    np.testing.assert_allclose(d3 @ pole, 0.0, atol=1e-14)  # a great circle
    assert ph.exact(body, start, [[1.0], [2.0]]).attitude.array.shape == (2, 1, 4)
    with pytest.raises(ph.InputError, match="w∥ = 0.1 rad/s about d3"):
        ph.exact(body, ph.State.of(omega=(1, 0.5, 0.1)), 1.0)


SYMMETRIC = [(2.0, 2.0, 1.0), (1.0, 2.0, 2.0), (2.0, 0.7, 2.0), (3.0, 3.0, 3.0), (2.0, 2.0, 2.0 * (1 + 2**-52))]


def test_a_step_of_a_symmetric_body_is_the_same_motion() -> None:
    """It is taken another way, as long as it is no more than a turn; and by that of any body where it is longer."""
    step = jax.jit(lambda I, Pi, h: ph.methods.Exact().step(ph.Rotation.of(ph.Vec3.of(I)), start(Pi), 0.0, h).state)

    def start(Pi: Any) -> ph.State:
        return ph.State(ph.Quaternion.of((0.8, 0.0, 0.6, 0.0)), ph.Vec3.of(Pi))

    rng = np.random.default_rng(3)
    for I in SYMMETRIC:
        for h in (0.0, 1e-9, 0.1, -0.7, 2.0, 300.0):
            Pi = rng.normal(size=3)
            found, truly = step(np.array(I), Pi, h), ph.exact(ph.RigidBody(I), start(Pi), h)
            np.testing.assert_allclose(found.momentum.array, truly.momentum.array, rtol=0, atol=2e-14)
            R, exactly = (x.attitude.matrix().array for x in (found, truly))
            np.testing.assert_allclose(R, exactly, rtol=0, atol=2e-14)


@pytest.mark.parametrize("mode", ["reverse", pytest.param("forward", marks=pytest.mark.long)])
def test_derivatives_of_a_step_of_a_symmetric_body(mode: str) -> None:
    """By its moments, each for itself, which makes it another body: as those of `exact`."""
    Pi, weights = np.array([1.0, 1.0, 0.3]), np.random.default_rng(1).normal(size=12)

    def seen(state: Any) -> Any:
        return jnp.concatenate([state.attitude.matrix().array.reshape(9), state.momentum.array]) @ weights

    def stepped(I: Any) -> Any:
        start = ph.State(ph.Quaternion.of((0.8, 0.0, 0.6, 0.0)), ph.Vec3.of(Pi))
        return seen(ph.methods.Exact().step(ph.Rotation.of(ph.Vec3.of(I)), start, 0.0, 0.4).state)

    I, h = np.array([2.0, 2.0, 1.0]), 1e-5
    along = jax.jacfwd(lambda I: (stepped(I),) * 2, has_aux=True)
    back = jax.grad(lambda I: (stepped(I),) * 2, has_aux=True)
    both = jax.jit(back if mode == "reverse" else along)
    value = lambda I: both(I)[1]  # noqa: E731
    slopes = [(value(I + h * e) - value(I - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(both(I)[0], slopes, atol=1e-9)
