"""What users' functions are given and may return: arrays for one body, mapped over batches; alike in both worlds."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polhode as ph
from polhode import multibody as mb
from polhode.algebra import Mat3, Vec3, exp
from polhode.algebra.arraylike import as_array
from polhode.model import InputError

C = np.array([1.0, -2.0, 3.0])
M = np.arange(9.0).reshape(3, 3) + 1.0
BATCHES = st.sampled_from([(), (1,), (3,), (5,), (3, 3), (2, 1)])

# written with `np`, which is numpy for the judge and jax.numpy inside the function
OPERATIONS = """
R @ w | R.T @ w | w @ R | w @ w | w @ R @ w | C @ R | R @ C | R @ M | M @ R | np.asarray(M) @ w | np.asarray(C) @ R
np.ones((5, 3)) @ w | np.dot(w, w) | np.dot(R, w) | np.dot(C, R) | np.dot(w, 2.0) | w.dot(C) | R.dot(w)
np.matmul(R, w) | np.einsum('ij,j->i', R, w) | np.cross(w, C) | np.cross(R[0], w) | np.outer(w, C) | np.inner(w, C)
np.vdot(w, C) | np.tensordot(R, w, 1) | np.linalg.norm(w) | np.linalg.norm(R, axis=1) | np.linalg.norm(R[:, 2] - C)
np.linalg.det(R) | np.trace(R) | R.trace() | np.sum(w**2) | w.sum() | R.sum(axis=0) | sum(w)
w * w | R * R | R * w | w * R | R + C | C * w | np.asarray(C) * w | 2 * w | w * 2 | np.float64(2) * w
np.asarray(2.0) * w | w[0] * w | w + C | C + w | w - C | C - w | np.ones((4, 3)) + w | w + R | -w | +w | abs(w) | w / 2
1 / w | w / w | R / w | 2.0**w | w**2 | w % 2 | w // 2 | R[0, :] | R[:2, 2] | R[..., 2, 2] | R[2][2] | R[1] | R[-1]
R[:, 1] | R[[0, 2]] | R[None] | R[::2, ::2] | R[3:] | R[np.array([0, 1]), np.array([1, 2])] | R.T[0] | (R @ w)[2] | w[0]
w[:2] | w[-1] | w[None, :] | w[::-1] | w[..., 0] | np.stack([w, R[0]]) | np.concatenate([w, w]) | np.array([w, w])
np.array([w[0], R[1, 1]]) | np.array([*w]) | np.asarray(w) | np.array(R) | np.where(w > 0, w, 0 * w) | w == w | w != C
w < C | w >= 0 | np.all(w > C) | np.sin(w) | np.abs(w) | np.maximum(w, 0) | np.clip(w, -1, 1) | np.min(w) | w.mean()
R.reshape(9) | R.flatten() | np.diag(R) | np.transpose(R) | np.roll(w, 1) | np.broadcast_to(w, (4, 3))
np.hstack([w, C]) | np.append(w, 1.0) | np.zeros_like(w) | np.shape(R) | np.size(w) | w.shape | len(R) | len(w)
"""
SOURCES = [s.strip() for line in OPERATIONS.strip().splitlines() for s in line.split("|")]
CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {s: eval(f"lambda R, w, np: {s}", {"C": C, "M": M}) for s in SOURCES}


def _attitude_and_omega(seed: int, batch: tuple[int, ...]) -> tuple[Mat3, Vec3]:
    rng = np.random.default_rng(seed)
    return exp(rng.normal(size=(*batch, 3))).matrix(), Vec3.of(rng.normal(size=(*batch, 3)))


def _quickly(fn: Callable[..., Any], *values: Any) -> Any:
    """Compiled without optimisation: called once."""
    options: dict[str, Any] = {"xla_backend_optimization_level": 0}
    return jax.jit(fn).lower(*values).compile(options)(*values)


def test_attitude_and_omega_behave_as_arrays_do() -> None:
    """Every operation against numpy, shapes too, traced."""
    R, w = _attitude_and_omega(1, ())
    out = _quickly(lambda R, w: {s: f(as_array(R), as_array(w), jnp) for s, f in CALLS.items()}, R, w)
    for source, f in CALLS.items():
        wanted = np.asarray(f(R.array, w.array, np))
        got = np.asarray(out[source])
        assert got.shape == wanted.shape, source
        np.testing.assert_allclose(got.astype(float), wanted.astype(float), atol=1e-14, err_msg=source)


@settings(max_examples=12, deadline=None)
@given(st.lists(st.sampled_from(SOURCES), min_size=1, max_size=3), BATCHES, st.integers(0, 2**32 - 1))
def test_a_batch_is_so_many_calls_for_one_body(sources: list[str], batch: tuple[int, ...], seed: int) -> None:
    """A function written for one body, for every batch shape, (3,) and (3, 3) not the least."""
    R, w = _attitude_and_omega(seed, batch)

    def one(R: Any, w: Any, np_: Any) -> Any:
        return sum(np_.sum(np_.asarray(CALLS[s](R, w, np_)) * 1.0) for s in sources)

    torque = ph.Torque(lambda t, R, w: w * one(R, w, jnp))
    potential = ph.Potential(lambda R: one(R, C, jnp))
    T, U = _quickly(lambda R, w: (torque.torque(0.0, R, w), potential.energy(0.0, R)), R, w)
    for i in np.ndindex(batch):
        A, omega = R.array[i], w.array[i]
        wanted = one(A, omega, np) * omega
        np.testing.assert_allclose([np.broadcast_to(x, batch)[i] for x in T], wanted, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(np.broadcast_to(U, batch)[i], one(A, C, np), rtol=1e-11, atol=1e-11)


def test_entries_stay_components() -> None:
    """No small array is assembled for what steps are made of."""
    R, w = _attitude_and_omega(2, ())

    def typical(R: Any, w: Any, c: Any) -> Any:
        R, w = as_array(R), as_array(w)
        return w * c + R.T @ (2 * w) - R[:, 2] + R @ C * R[2, 2]

    text = str(jax.make_jaxpr(typical)(R, w, 1.0))
    assert "mul" in text
    assert "f64[3" not in text
    assert "dot_general" not in text


def test_a_potential_written_with_arrays_gives_the_torque_of_one_in_entries() -> None:
    arrays = ph.Potential(lambda R: 2.0 * jnp.dot(R[2], C) + jnp.linalg.norm(R @ C - M[0]))
    entries = ph.Potential(
        lambda R: (
            2.0 * (R.m31 * 1.0 + R.m32 * -2.0 + R.m33 * 3.0)
            + jnp.sqrt(sum((R[i, 0] - 2 * R[i, 1] + 3 * R[i, 2] - M[0, i]) ** 2 for i in range(3)))
        )
    )
    for batch in ((), (3,)):
        R, w = _attitude_and_omega(3, batch)
        a, b = _quickly(lambda R, w: tuple(p.torque(0.0, R, w).array for p in (arrays, entries)), R, w)
        np.testing.assert_allclose(a, b, atol=1e-13)


def test_what_a_torque_may_return() -> None:
    for batch in ((), (3,), (4, 2)):
        R, w = _attitude_and_omega(4, batch)
        wanted = np.broadcast_to(-0.5 * w.array, (*batch, 3))
        for fn in (
            lambda t, R, w: -0.5 * w,
            lambda t, R, w: jnp.asarray(w) * -0.5,
            lambda t, R, w: [-0.5 * x for x in w],
            lambda t, R, w: (-0.5 * w[0], -0.5 * w.y, -0.5 * w[2]),
            lambda t, R, w: Vec3(-0.5 * w[0], -0.5 * w.y, -0.5 * w[2]),
        ):
            np.testing.assert_array_equal(ph.Torque(fn).torque(0.0, R, w).array, wanted)
        for bad in (lambda t, R, w: R, lambda t, R, w: w[:2], lambda t, R, w: w[0], lambda t, R, w: (w, w, w)):
            with pytest.raises(InputError, match="three components"):
                ph.Torque(bad).torque(0.0, R, w)
        with pytest.raises(InputError, match="one number for each body"):
            ph.Potential(lambda R: jnp.ones(7) * R[2, 2]).energy(0.0, R)
    with pytest.raises(InputError, match="numbers that differ from member to member of a batch are parameters"):
        ph.Potential(lambda R: np.ones(3) * R[2, 2]).energy(0.0, _attitude_and_omega(4, (3,))[0])


def test_parameters_of_all_and_of_each_member() -> None:
    """One value for each member, or one array for all: by what the function can do with it, else refused."""
    R, w = _attitude_and_omega(5, (3,))
    each = np.array([1.0, 2.0, 3.0])
    energy = ph.Potential(lambda R, weight: weight * R[2, 2], weight=each).energy(0.0, R)
    np.testing.assert_allclose(energy, each * R.m33, rtol=1e-15)
    energy = ph.Potential(lambda R, arm: R[2] @ arm, arm=each).energy(0.0, R)
    np.testing.assert_allclose(energy, R.array[:, 2] @ each, rtol=1e-14)
    with pytest.raises(InputError, match="'c' could be one array for all, or one value for each member"):
        ph.Torque(lambda t, R, w, c: c * w, c=each).torque(0.0, R, w)
    R, w = _attitude_and_omega(5, (3, 1))
    got = ph.Torque(lambda t, R, w, c: c * w, c=each[:, None]).torque(0.0, R, w).array
    np.testing.assert_allclose(got, each[:, None, None] * w.array, rtol=1e-15)


def test_vectors_of_users_mix_with_those_of_functions() -> None:
    R, w = _attitude_and_omega(8, ())
    v: Any = as_array(w)
    A: Any = as_array(R)
    c: Any = Vec3.of(C)
    for got, wanted in (
        (Mat3.of(M) @ v @ C, M @ w.array @ C),
        (Mat3.of(M) @ A @ C, M @ R.array @ C),
        (Mat3.of(M) * v, M * w.array),
        (Vec3.of(C) + v, C + w.array),
        (Vec3.of(C) - v * Vec3.of(C), C - w.array * C),
        (v.cross(Vec3.of(C)), np.cross(w.array, C)),
        (Vec3.of(C).cross(v), np.cross(C, w.array)),
    ):
        np.testing.assert_allclose(np.asarray(got), wanted, atol=1e-14)
    for nonsense in (lambda: c * c, lambda: Mat3.of(M) * Mat3.of(M), lambda: 1.0 / c):
        with pytest.raises(TypeError):
            nonsense()


def test_time_with_a_default_is_the_time() -> None:
    """Left out, a potential that depends on time would be taken for one that does not."""
    R, _ = _attitude_and_omega(9, ())
    load = ph.Potential(lambda R, t=0.0, scale=2.0: scale * t * R[2, 2])
    assert float(load.energy(3.0, R)) == pytest.approx(6.0 * R.m33)
    assert not load.conservative
    assert ph.Potential(lambda R, scale=2.0: scale * R[2, 2]).conservative


def test_truth_of_a_vector_is_refused_and_hashing_too() -> None:
    _, w = _attitude_and_omega(6, ())
    with pytest.raises(ValueError, match="truth"):
        bool(as_array(w))
    with pytest.raises(TypeError, match="unhashable"):
        hash(as_array(w))


def test_three_numbers_are_a_torque_in_both_worlds_and_frames_are_alike() -> None:
    R, w = _attitude_and_omega(7, (2,))
    np.testing.assert_array_equal(ph.Torque((1, 2, 3)).torque(0.0, R, w).array, (1, 2, 3))
    turned = ph.Torque((1, 2, 3), frame="space").torque(0.0, R, w).array
    np.testing.assert_allclose(turned, np.einsum("bij,i->bj", R.array, (1.0, 2, 3)), atol=1e-15)
    assert ph.Torque((1, 2, 3)).frame == mb.Torque("a", (1, 2, 3)).frame == "body"
    for wrong in ((1, 2), "down", ((1, 2, 3, 4),)):
        with pytest.raises(InputError, match="three numbers"):
            ph.Torque(wrong)
    for refused in (lambda: ph.Torque((1, 2, 3), c=1.0), lambda: mb.Force("a", (1, 2, 3), c=1.0)):
        with pytest.raises(InputError, match=r"three numbers take.? no parameters; got c"):
            refused()


def _pull(view: Any, k: Any, x: Any = 0.0) -> Any:
    return -k * view.position("a")


@pytest.mark.parametrize(
    "kind",
    [
        lambda **p: ph.Potential(lambda R, k, x=0.0: k * R[2, 2], **p),
        lambda **p: ph.Torque(lambda t, R, w, k, x=0.0: k * w, **p),
        lambda **p: mb.Force("a", _pull, **p),
        lambda **p: mb.Torque("a", _pull, **p),
        lambda **p: mb.Potential(_pull, **p),
        lambda **p: mb.Holonomic(_pull, "wire", **p),
        lambda **p: mb.Nonholonomic(_pull, "wire", **p),
    ],
)
def test_parameters_are_given_alike(kind: Callable[..., Any]) -> None:
    """By name or in a dictionary, as leaves; one that the function does not take is an error."""
    for load in (kind(k=3.0), kind(parameters={"k": 3.0})):
        assert load.parameters == {"k": 3.0}
        assert jax.tree.map(lambda x: 2 * x, load).parameters == {"k": 6.0}
    assert kind(k=3.0, parameters={"x": 1.0}).parameters == {"k": 3.0, "x": 1.0}
    with pytest.raises(InputError, match=r"its function takes no 'kk'; did you mean 'k'\? It takes \("):
        kind(k=1.0, kk=3.0)
    with pytest.raises(InputError, match="k is given both"):
        kind(k=3.0, parameters={"k": 3.0})
    with pytest.raises(InputError, match="must be a dictionary"):
        kind(parameters=3.0)
    for no_number in ("steel", 1j, len):
        with pytest.raises(InputError, match="parameter 'k' must be numbers"):
            kind(k=no_number)


def test_parameters_of_which_some_are_one_for_each_member() -> None:
    body, many = ph.RigidBody((1.0, 1.6, 2.2)), ph.State.of(omega=[[0.7, 1.1, -0.5]] * 3)
    masses, arm = np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.5])
    load = ph.Potential(lambda R, m, arm: m * (R @ arm)[2], m=masses, arm=arm)
    assert ph.simulate(body, load, many, method="rig_neg", step=0.01, steps=1).potential[0] == pytest.approx(
        0.5 * masses
    )
    unclear = ph.Potential(lambda R, m, arm: m * jnp.sum(arm * R[2]), m=masses, arm=arm)
    with pytest.raises(ph.InputError, match=r"'arm' and 'm' could be one array for all"):
        ph.simulate(body, unclear, many, step=0.01, steps=1)


def test_a_derivative_by_a_vector_as_a_whole_is_refused() -> None:
    A, b = np.triu(np.arange(9.0).reshape(3, 3)), np.array([1.0, 2.0, 3.0])
    body, start = ph.RigidBody((1.0, 1.6, 2.2)), ph.State.of(omega=(0.7, 1.1, -0.5))
    whole = ph.Torque(lambda t, R, omega: jax.jacfwd(lambda x: A @ x)(omega) @ b)
    with pytest.raises(ph.InputError, match=r"jax.numpy.asarray\(omega\)"):
        ph.simulate(body, whole, start, step=0.01, steps=1)
    by_array = ph.Torque(lambda t, R, omega: jax.jacfwd(lambda x: A @ x)(jnp.asarray(omega)) @ b)
    run = ph.simulate(body, by_array, start, method="rig_neg", step=1e-4, steps=1)
    known = ph.simulate(body, ph.Torque(A @ b), start, method="rig_neg", step=1e-4, steps=1)
    assert run.state.momentum.array[-1] == pytest.approx(known.state.momentum.array[-1], abs=1e-15)
