"""Bodies, shapes, starts and loads: against known values, and what is refused."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polhode as ph
from polhode.algebra import Mat3, Quaternion, Vec3, exp
from polhode.model import InputError
from polhode.rotation.quantities import angular_velocity, casimir, kinetic_energy, spatial_momentum, vertical_momentum

TENSOR = np.array([[2.0, 0.3, -0.2], [0.3, 2.5, 0.1], [-0.2, 0.1, 3.0]])


def test_a_tensor_is_diagonalised_and_put_together_again() -> None:
    body = ph.RigidBody(TENSOR)
    assert body.axes is not None
    A = body.axes.matrix().array
    np.testing.assert_allclose(A @ np.diag([*body.moments]) @ A.T, TENSOR, atol=1e-15)
    assert np.linalg.det(A) > 0
    assert ph.RigidBody(np.diag([3.0, 1.0, 2.5])).moments == Vec3(3.0, 1.0, 2.5)


@pytest.mark.parametrize(
    ("body", "moments"),
    [
        (ph.RigidBody.box(12.0, (1, 2, 3)), (13, 10, 5)),
        (ph.RigidBody.ellipsoid(5.0, (2, 2, 2)), (8, 8, 8)),
        (ph.RigidBody.cylinder(4.0, 1.0, 0.0), (1, 1, 2)),
        (ph.RigidBody.cylinder(12.0, 1.0, 2.0, about=(0, 0, -1)), (19, 19, 6)),
        (ph.RigidBody.points([1, 1, 1, 1], [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)]), (2, 2, 4)),
    ],
)
def test_shapes(body: Any, moments: Any) -> None:
    np.testing.assert_allclose(body.tensor, np.diag(moments), rtol=1e-15)


def test_two_points_on_a_line_have_no_moment_about_it() -> None:
    with pytest.raises(InputError, match="positive definite"):
        ph.RigidBody.points([1, 1], [(0, 0, -1), (0, 0, 1)])


CUBE = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
CUBE_FACES = np.array(
    [
        (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
        (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
    ]
)  # fmt: skip


def test_mesh_is_the_box_it_draws() -> None:
    size, shift = np.array([1.0, 2.0, 3.0]), np.array([5.0, -1.0, 2.0])
    turn = Rotation.from_rotvec((0.3, 0.2, 0.9)).as_matrix()
    mesh = ph.RigidBody.mesh((CUBE * size) @ turn.T + shift, CUBE_FACES, density=2.0)
    box = ph.RigidBody.box(12.0, size)
    assert mesh.mass == pytest.approx(12.0, rel=1e-13)
    np.testing.assert_allclose(mesh.tensor, turn @ box.tensor @ turn.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(mesh.centre, turn @ (size / 2) + shift, rtol=1e-13)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: ph.RigidBody((1, 2)), r"3 principal moments or a symmetric 3x3 tensor; got shape \(2,\)"),
        (lambda: ph.RigidBody((1, float("nan"), 1)), "inertia must be finite"),
        (lambda: ph.RigidBody((1, 0, 1)), "positive definite"),
        (lambda: ph.RigidBody((1, -1, 1)), "positive definite"),
        (lambda: ph.RigidBody((1, 1, 2.5)), "exceeds the sum of the other two by 0.5 .*allow_unphysical"),
        (lambda: ph.RigidBody([[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), "symmetric; .* differ by up to 0.1"),
        (lambda: ph.RigidBody("big"), "inertia must be 3"),
        (lambda: ph.RigidBody.box(-1, (1, 1, 1)), "mass must be one positive number; got -1"),
        (lambda: ph.RigidBody.box(1, (1, 1, 0)), "three positive lengths"),
        (lambda: ph.RigidBody.cylinder(1, 1, -1), "height"),
        (lambda: ph.RigidBody.points([1], [(0, 0, 0), (1, 1, 1)]), "n positive masses"),
        (lambda: ph.RigidBody.mesh(CUBE, CUBE_FACES[:-1]), "not closed: 3 edges"),
        (lambda: ph.RigidBody.mesh(CUBE, CUBE_FACES[:, ::-1]), "counter-clockwise"),
        (lambda: ph.RigidBody.mesh(CUBE, CUBE_FACES + 1), "name vertices 1 to 8; there are 0 to 7"),
        (lambda: ph.RigidBody.mesh(CUBE, CUBE_FACES * 1.0), "whole numbers"),
        (lambda: ph.State.of(omega=(1, 2)), "omega must be 3 numbers"),
        (lambda: ph.State.of(omega=(1, 2, float("inf"))), "omega must be finite"),
        (lambda: ph.State.of(), "exactly one of omega, momentum, spatial_momentum; got none"),
        (lambda: ph.State.of(omega=(1, 0, 0), momentum=(1, 0, 0)), "got omega, momentum"),
        (lambda: ph.State.of(attitude=np.eye(3) * 1.001, omega=(1, 0, 0)), "not a rotation: .* by 0.002"),
        (lambda: ph.State.of(attitude=np.diag([1, 1, -1]), omega=(1, 0, 0)), "reflection"),
        (lambda: ph.State.of(attitude=(0, 0, 0, 0), omega=(1, 0, 0)), "length zero"),
        (lambda: ph.State.of(attitude=(0, 0), omega=(1, 0, 0)), "attitude must be a quaternion"),
        (lambda: ph.Potential(3.0), "needs a function"),
        (lambda: ph.Potential(lambda: 0.0), "takes .R, t."),
        (lambda: ph.Potential(lambda R, t, more: 0.0), "this one takes .R, t, more."),
        (lambda: ph.Torque(lambda t: (0, 0, 0), frame="world"), "'body' or 'space'; got 'world'"),
    ],
)
def test_refused(make: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()


def test_an_unphysical_body_is_allowed_by_name() -> None:
    assert ph.RigidBody((1, 1, 2.5), allow_unphysical=True).moments.z == 2.5


def test_the_three_ways_to_say_how_a_body_turns_agree() -> None:
    body = ph.RigidBody(TENSOR)
    q = exp((0.2, 0.5, -0.7))
    omega = np.array([0.3, -1.0, 2.0])
    a = ph.State.of(attitude=q, omega=omega).on(body)
    b = ph.State.of(attitude=q.array, momentum=TENSOR @ omega).on(body)
    c = ph.State.of(attitude=q.matrix().array, spatial_momentum=q.matrix().array @ TENSOR @ omega).on(body)
    for other in (b, c):
        np.testing.assert_allclose(other.momentum.array, a.momentum.array, atol=2e-15)
        np.testing.assert_allclose(other.attitude.array, a.attitude.array, atol=2e-16)
    d = ph.State.of(attitude=q.to_scipy(), omega=omega).on(body)
    np.testing.assert_allclose(d.attitude.array, a.attitude.array, atol=2e-16)


def test_invariants_in_the_users_frame() -> None:
    body = ph.RigidBody(TENSOR)
    omega = np.array([0.3, -1.0, 2.0])
    state = ph.State.of(attitude=exp((0.2, 0.5, -0.7)), omega=omega).on(body)
    assert kinetic_energy(body, state) == pytest.approx(omega @ TENSOR @ omega / 2, rel=1e-15)
    np.testing.assert_allclose(angular_velocity(body, state).array, omega, atol=1e-15)
    pi = state.attitude.matrix().array @ TENSOR @ omega
    np.testing.assert_allclose(spatial_momentum(state).array, pi, atol=2e-15)
    assert vertical_momentum(state) == pytest.approx(pi[2], rel=1e-14)
    assert casimir(state) == pytest.approx(pi @ pi / 2, rel=1e-14)
    system = ph.Rotation(body)
    there_and_back = system.from_principal(system.to_principal(state))
    np.testing.assert_allclose(there_and_back.momentum.array, state.momentum.array, atol=1e-15)
    np.testing.assert_allclose(there_and_back.attitude.array, state.attitude.array, atol=1e-15)


def test_a_potential_gives_its_torque() -> None:
    """U = 20 R33: T = 20 (R32, -R31, 0); a general U against finite differences."""
    R = exp((0.3, 1.0, -0.4)).matrix()
    zero = Vec3(0.0, 0.0, 0.0)
    T = ph.Potential(lambda R: 20 * R[2, 2]).torque(0.0, R, zero)
    np.testing.assert_allclose(T.array, [20 * R.m32, -20 * R.m31, 0], atol=1e-15)

    def energy(R: Mat3, t: Any, k: Any) -> Any:
        return k * jnp.sin(R[0, 1] * R[2, 0]) + R[:, 1].dot(Vec3(1.0, t, 3.0)) ** 2

    T = ph.Potential(energy, k=2.0).torque(0.7, R, zero)
    e = 1e-6
    for i in range(3):
        turn = np.zeros(3)
        turn[i] = e
        up, down = ((Quaternion.from_matrix(R) * exp(s * turn)).matrix() for s in (1, -1))
        assert float(T[i]) == pytest.approx(float(energy(down, 0.7, 2.0) - energy(up, 0.7, 2.0)) / (2 * e), rel=1e-8)


def test_torques_in_either_frame_and_sums() -> None:
    R = exp((0.3, 1.0, -0.4)).matrix()
    omega = Vec3(1.0, 2.0, 3.0)
    body = ph.Torque(lambda t, R, w: -0.5 * w)
    space = ph.Torque(lambda t: jnp.asarray([t, 0.0, 1.0]), frame="space")
    expected = -0.5 * omega.array + R.T.array @ [2.0, 0, 1]
    np.testing.assert_allclose((body + space).torque(2.0, R, omega).array, expected, atol=1e-15)
    gravity = ph.Potential(lambda R, w: w * R.m33, w=3.0)
    total = gravity + body + space
    assert float(total.energy(0.0, R)) == pytest.approx(3 * R.m33)
    assert gravity.conservative
    assert not total.conservative
    assert not ph.Potential(lambda R, t: t * R.m33).conservative
    with pytest.raises(InputError, match="three components; its function returned 2"):
        ph.Torque(lambda t: (1.0, 2.0)).torque(0.0, R, omega)
