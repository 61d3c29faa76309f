"""The group laws of rotations, near the identity, near π, in batches, and in many digits."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from polhode.algebra import (
    Mat3,
    Quaternion,
    Vec3,
    cayley,
    cayley_inverse,
    dexp_left,
    dexp_left_inverse,
    dexp_right,
    dexp_right_inverse,
    exp,
    log,
)
from polhode.algebra.scalars import stumpff

# Angles where something changes: the series switch of stumpff (√2, 2√2 for half angles),
# of log, zero, π and beyond, and anything between.
ANGLES = st.one_of(
    st.sampled_from(
        [0.0, 1e-300, 1e-160, 1e-12, 1e-8, 1e-5, 1e-3, 0.06, 0.0633, 1.414213, 1.414214, 2.828427, 2.828428]
    ),
    st.floats(0.0, 3.14159),
    st.floats(3.1415, 3.14159265),
)
DIRECTIONS = st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda v: np.linalg.norm(v) > 0.1)


@st.composite
def rotation_vectors(draw: Callable[..., Any], angles: Any = ANGLES) -> Vec3:
    direction = np.array(draw(DIRECTIONS))
    return Vec3.of(draw(angles) * direction / np.linalg.norm(direction))


def close(a: Any, b: Any, tolerance: float = 4e-16) -> None:
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=0, atol=tolerance)


@given(rotation_vectors())
def test_exp_is_a_unit_quaternion_and_agrees_with_scipy(psi: Vec3) -> None:
    q = exp(psi)
    close(q.norm(), 1.0, 3e-16)
    close(q.matrix().array, Rotation.from_rotvec(psi.array).as_matrix(), 2e-15)


@given(rotation_vectors())
def test_log_inverts_exp(psi: Vec3) -> None:
    close(log(exp(psi)).array, psi.array, 2e-15)  # measured 9e-16
    close(log(-exp(psi)).array, psi.array, 2e-15)


@given(rotation_vectors(), rotation_vectors(), rotation_vectors())
def test_group_laws(a: Vec3, b: Vec3, c: Vec3) -> None:
    p, q, r = exp(a), exp(b), exp(c)
    close(((p * q) * r).array, (p * (q * r)).array, 1e-15)
    close((p * p.conjugate).array, [1, 0, 0, 0], 5e-16)
    close((p * q).matrix().array, (p.matrix() @ q.matrix()).array, 2e-15)
    close((p * q).rotate(c).array, p.rotate(q.rotate(c)).array, 8e-15)
    close(p.unrotate(p.rotate(c)).array, c.array, 5e-15)
    close(p.rotate(c).array, (p.matrix() @ c).array, 5e-15)


@given(rotation_vectors(st.one_of(ANGLES, st.floats(3.14159265, 6.2))))
def test_matrix_round_trip_through_every_branch(psi: Vec3) -> None:
    q = exp(psi)
    back = Quaternion.from_matrix(q.matrix())
    close(abs(np.dot(back.array, q.array)), 1.0, 1e-15)
    assert back.w >= 0


@pytest.mark.parametrize("axis", range(3))
def test_half_turns_take_the_other_three_branches(axis: int) -> None:
    psi = np.zeros(3)
    psi[axis] = np.pi
    close(Quaternion.from_matrix(exp(psi).matrix()).array[1 + axis], 1.0, 1e-15)


def test_scipy_round_trip() -> None:
    rotations = Rotation.random(20, random_state=1)
    q = Quaternion.from_scipy(rotations)
    close(q.matrix().array, rotations.as_matrix(), 1e-15)
    close(np.abs((q.to_scipy() * rotations.inv()).magnitude()), np.zeros(20), 1e-15)


@given(rotation_vectors(st.floats(0, 3.0)))
def test_cayley(psi: Vec3) -> None:
    half = Vec3.of(psi.array / 2).skew().array
    close(cayley(psi).matrix().array, np.linalg.solve(np.eye(3) - half, np.eye(3) + half), 2e-15)
    close(cayley_inverse(cayley(psi)).array, psi.array, 5e-15)


@given(rotation_vectors(st.one_of(ANGLES, st.floats(3.2, 6.0))), DIRECTIONS)
def test_dexp_inverse_inverts_dexp(psi: Vec3, v: Any) -> None:
    v = Vec3.of(v)
    near_two_pi = 1 / abs(2 * np.pi - psi.norm())
    close(dexp_left_inverse(psi, dexp_left(psi, v)).array, v.array, 1e-14 * (1 + near_two_pi**2))
    close(dexp_right_inverse(psi, dexp_right(psi, v)).array, v.array, 1e-14 * (1 + near_two_pi**2))


@given(rotation_vectors(), DIRECTIONS)
def test_left_and_right_dexp_differ_by_the_rotation(psi: Vec3, v: Any) -> None:
    v = Vec3.of(v)
    close(exp(psi).rotate(dexp_right(psi, v)).array, dexp_left(psi, v).array, 3e-15)


@jax.jit
def _derivative_of_exp(psi: Vec3, v: Vec3) -> Any:
    return jax.jvp(exp, (psi,), (v,))


@given(rotation_vectors(), DIRECTIONS)
def test_dexp_is_the_derivative_of_exp(psi: Vec3, v: Any) -> None:
    """R' = R skew(Ω) with Ω = dexp_right(ψ, ψ'), so q' = q Ω/2."""
    psi, v = (jax.tree.map(jnp.asarray, x) for x in (psi, Vec3.of(v)))
    q, dq = _derivative_of_exp(psi, v)
    Omega = dexp_right(psi, v)
    close(dq.array, (q * Quaternion(0.0, *(Omega * 0.5))).array, 1e-15)


def test_a_second_call_by_itself_compiles_nothing() -> None:
    """Of functions of angles, with arrays of JAX; `lax.cond` does, wherever its branches are new functions."""
    compiled: list[float] = []

    def call(size: float) -> None:
        psi = Vec3.of(size * jnp.array([1.0, 2.0, 3.0]))
        jax.block_until_ready((exp(psi), dexp_right(psi, psi)))

    def note(event: str, duration_secs: float, **_: str | int) -> None:
        if "backend_compile" in event:
            compiled.append(duration_secs)

    call(0.1)
    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        call(0.2)
        call(2.0)
    finally:
        jax.monitoring.clear_event_listeners()
    assert compiled == []


def test_derivatives_at_zero() -> None:
    zero = jnp.zeros(3)
    close(jax.jacfwd(lambda v: exp(v).array)(zero), np.vstack([np.zeros(3), np.eye(3) / 2]))
    close(jax.jacrev(lambda v: log(exp(v)).array)(zero), np.eye(3))
    second = jax.hessian(lambda v: exp(v).w)(zero)
    close(second, -np.eye(3) / 4)
    for f in (dexp_left, dexp_left_inverse, dexp_right, dexp_right_inverse):
        derivative = jax.jacrev(lambda v, f=f: f(Vec3.of(v), Vec3(1.0, 2.0, 3.0)).array)(zero)
        sign = {dexp_left: 1, dexp_left_inverse: -1, dexp_right: -1, dexp_right_inverse: 1}[f]
        close(derivative, sign * -Vec3(0.5, 1.0, 1.5).skew().array)


@pytest.mark.parametrize("k", range(6))
def test_stumpff_against_mpmath(k: int) -> None:
    """To a few units of round-off, on both sides of the switch at x = 2."""
    xs = np.concatenate([np.logspace(-30, 2, 200), [1.9999999, 2.0, 2.0000001, 9.8, 39.0]])
    with mpmath.workdps(60):
        exact = np.array([float(stumpff(k, mpmath.mpf(float(x)))) for x in xs])
    # The envelope of its oscillation, and the condition of an angle known by its square.
    scale = np.maximum(np.abs(exact), (1 + xs) ** (-k / 2) if k < 3 else 0) * (1 + np.sqrt(xs) / 2)
    worst = (3, 3, 3, 4, 6, 20)[k]  # units of 1.1e-16; measured 1.4, 1.1, 1.2, 1.5, 2.9, 9.3
    assert np.max(np.abs(stumpff(k, xs) - exact) / scale) < worst * 1.1e-16
    assert np.max(np.abs(np.asarray(stumpff(k, jnp.asarray(xs))) - exact) / scale) < worst * 1.1e-16


@given(rotation_vectors())
def test_exp_and_log_against_mpmath(psi: Vec3) -> None:
    with mpmath.workdps(40):
        big = Vec3(*(mpmath.mpf(float(c)) for c in psi))
        exact = [float(c) for c in exp(big)]
        back = [float(c) for c in log(exp(big))]
    close(exp(psi).array, exact, 3e-16)
    close(back, psi.array, 4e-16)


def test_batches_agree_with_one_by_one() -> None:
    generator = np.random.default_rng(5)
    psi, v = generator.normal(size=(2, 4, 3, 3))
    batched = exp(psi).rotate(Vec3.of(v)).array
    assert batched.shape == (4, 3, 3)
    singles = [[exp(psi[i, j]).rotate(Vec3.of(v[i, j])).array for j in range(3)] for i in range(4)]
    close(batched, singles, 0)
    close(jnp.asarray(exp(jnp.asarray(psi)).array), exp(psi).array, 2e-16)
    R = exp(psi).matrix()
    close(Quaternion.from_matrix(R).matrix().array, R.array, 2e-15)


@given(st.lists(st.floats(-2, 2), min_size=12, max_size=12))
def test_matrix_algebra_against_numpy(values: list[float]) -> None:
    a, b = np.reshape(values[:9], (3, 3)) + 5 * np.eye(3), np.array(values[9:])
    A, v = Mat3.of(a), Vec3.of(b)
    close((A @ v).array, a @ b, 1e-14)
    close((A @ A.T).array, a @ a.T, 1e-13)
    close(A.det(), np.linalg.det(a), 1e-12)
    close((A @ A.solve(v)).array, b, 1e-13)
    close(v.skew().array @ b, np.zeros(3), 1e-15)
    close(v.outer(v).array, np.outer(b, b))
    close(v.cross(Vec3(1.0, 2.0, 3.0)).array, np.cross(b, [1, 2, 3]), 1e-14)
    close(A.trace(), np.trace(a), 1e-14)
    close(A[:, 1].array, a[:, 1])
    close(A[2].array, a[2])
    close(A[-1, 0], a[2, 0])
    close((2 * A - A + (-A)).array, np.zeros((3, 3)))


def test_wrong_shapes_are_refused() -> None:
    for make, bad in ((Vec3.of, [1, 2]), (Mat3.of, [[1, 2], [3, 4]]), (Quaternion.of, [1, 2, 3])):
        with pytest.raises(ValueError, match="shape"):
            make(bad)
