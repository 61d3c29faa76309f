"""Starts at any scale, and of loops that are not quite true."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polhode as ph
from polhode import multibody as mb

G = 9.81


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
