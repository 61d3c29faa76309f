"""The peers against the references: errors, order, energy; and the equations that IDA is given."""

from __future__ import annotations

import functools
import importlib.util
import sys

import numpy as np
import pytest

from polhode.model.checks import InputError
from polhode.peers import available, exudyn, runs, sundials, systems
from polhode.peers.constraint_rows import Constraint
from polhode.peers.dae import Equations
from polhode.peers.runs import BicycleRun, energy_error
from polhode.references import bicycle, rolling_disk, rolling_sphere

BIKE, DISK, SPHERE = bicycle.Bicycle(), rolling_disk.RollingDisk(), rolling_sphere.RollingSphere()
WOBBLE = rolling_disk.DiskStart(theta=np.pi / 180, r=-2.25)
STARTS = [(4.0, 0.05), (4.6, 0.5), (8.0, 0.05)]


@pytest.fixture
def with_exudyn() -> None:
    # Not importorskip: which build of Exudyn is loaded is decided by who imports it first.
    if available()["exudyn"] is None:
        pytest.skip("exudyn is not installed")


@pytest.fixture
def with_sundials() -> None:
    pytest.importorskip("sksundae")


@functools.cache
def reference(start: bicycle.BicycleStart, until: float) -> bicycle.BicycleMotion:
    """Ten samples a second."""
    return bicycle.motion(BIKE, start, np.linspace(0, until, round(10 * until) + 1))


def bicycle_errors(run: BicycleRun, start: bicycle.BicycleStart) -> np.ndarray:
    """Of roll and steer, rad, and speed, m/s: largest over the samples of the reference."""
    exact = reference(start, float(run.times[-1]))
    every = (len(run.times) - 1) // (len(exact.speed) - 1)
    pairs = ((run.roll, exact.coordinates["roll"]), (run.steer, exact.coordinates["steer"]), (run.speed, exact.speed))
    return np.array([np.abs(got[::every] - want).max() for got, want in pairs])


def equations(system: str, *, ggl: bool) -> tuple[Equations, tuple[np.ndarray, ...]]:
    """The equations given to IDA and a state on the constraints, neither upright nor straight: r, q, v, Ω."""
    if system == "bicycle":
        start = bicycle.BicycleStart(5.0, 0.1, 0.2, roll=0.1, steer=-0.05, yaw=0.7)
        moving = bicycle.motion(BIKE, start, [0.3])
        masses, inertias, gravity = BIKE.masses, BIKE.inertias, BIKE.gravity
        rows: tuple[Constraint, ...] = systems.bicycle_constraints(BIKE)
        r, R, v, omega = moving.position[0], moving.attitude[0], moving.velocity[0], moving.omega[0]
    elif system == "disk":
        rolling = rolling_disk.motion(DISK, rolling_disk.DiskStart(theta=0.4, psi=1.1, phi=0.3, p=0.5, q=0.7, r=2), [0])
        masses, inertias, gravity = np.array([1.0]), np.diag([0.25, 0.5, 0.25])[None], -DISK.gravity
        rows = systems.disk_constraints(DISK)
        r, R, v = rolling.position, rolling.attitude, rolling.velocity
        omega = (R @ rolling.omega[..., None])[..., 0]
    else:
        inside = rolling_sphere.motion(SPHERE, [0.4])
        masses, inertias, gravity = np.array([1.0]), 0.064 * np.eye(3)[None], -SPHERE.gravity
        rows = systems.sphere_constraints(SPHERE)
        r, R, v, omega = inside.position, np.eye(3)[None], inside.velocity, inside.omega_space
    dae = Equations(masses, inertias, np.array([0, 0, gravity]), rows, ggl)
    q = sundials.Rotation.from_matrix(R).as_quat(scalar_first=True)
    return dae, (r, q, v, (np.swapaxes(R, -1, -2) @ omega[..., None])[..., 0])


@pytest.mark.parametrize("system", ["bicycle", "disk", "sphere"])
def test_the_start_of_the_equations_is_consistent(system: str) -> None:
    dae, state = equations(system, ggl=True)
    y, yp = dae.start(*state)
    assert np.abs(dae.residual(y, yp)).max() < 1e-12  # measured 3.4e-14, bicycle


@pytest.mark.parametrize("system", ["bicycle", "disk", "sphere"])
def test_holonomic_rows_are_the_rates_of_their_gaps(system: str) -> None:
    dae, (r, q, _, _) = equations(system, ggl=True)
    rng = np.random.default_rng(1)
    v, Omega = rng.normal(size=r.shape), rng.normal(size=r.shape)
    y = np.concatenate([np.ravel(part) for part in (r, q, v, Omega)] + [np.zeros(len(dae.algebraic))])
    free = dae.residual(y, 0 * y)
    rate = np.zeros_like(y)
    rate[: 7 * len(r)] = -free[: 7 * len(r)]  # r' = v, q' = ½ q (0, Ω)
    k = len(dae.holonomic)
    slip = free[13 * len(r) : 13 * len(r) + k][dae.holonomic]
    gap_rate = dae.residual(y + 1e-30j * rate, rate)[13 * len(r) + k :].imag / 1e-30
    np.testing.assert_allclose(gap_rate, slip, atol=1e-14)  # measured 2.2e-16


def test_the_jacobian_is_that_of_the_residual() -> None:
    dae, state = equations("bicycle", ggl=True)
    y, yp = dae.start(*state)
    J, h = dae.jacobian(y, yp, 50.0), 1e-6 * np.eye(len(y))
    differences = (dae.residual(y + h, yp + 50 * h) - dae.residual(y - h, yp - 50 * h)).T / 2e-6
    assert np.abs(J - differences).max() < 1e-9 * np.abs(J).max()  # measured 2.2e-11


def test_the_accelerations_of_the_bicycle_are_those_of_its_reduced_equations() -> None:
    start = bicycle.BicycleStart(5.0, 0.1, 0.2, roll=0.1, steer=-0.05, yaw=0.7)
    dae, state = equations("bicycle", ggl=False)
    _, yp = dae.start(*state)
    h = 1e-3
    near = bicycle.motion(BIKE, start, 0.3 + h * np.array([-2, -1, 1, 2])).velocity
    slope = np.einsum("i,ibk->bk", [1, -8, 8, -1], near) / (12 * h)
    np.testing.assert_allclose(dae.unknowns(yp).v, slope, atol=1e-9)  # measured 4.9e-11 m/s²


@pytest.mark.usefixtures("with_exudyn")
@pytest.mark.parametrize(
    ("solver", "bounds", "percent"),
    [  # roll, steer, speed at h = 0.01, 5 s, of the start (4.6, 0.5); measured in the line below
        ("generalized-alpha", (3e-4, 4e-4, 2e-4), 2e-3),  # 2.64e-4, 3.01e-4, 1.16e-4; 9.6e-4 %
        ("trapezoidal-index2", (5e-4, 7e-4, 3e-4), 7e-4),  # 3.72e-4, 5.27e-4, 2.17e-4; 4.6e-4 %
    ],
)
def test_exudyn_bicycle(solver: str, bounds: tuple[float, ...], percent: float) -> None:
    start = bicycle.BicycleStart(4.6, 0.5)
    runs = [exudyn.bicycle_motion(BIKE, start, step=h, until=5.0, solver=solver) for h in (0.01, 0.005)]
    coarse, fine = (bicycle_errors(run, start) for run in runs)
    assert (coarse < bounds).all()
    np.testing.assert_allclose(np.log2(coarse / fine), 2, atol=0.05)  # measured 1.98 to 2.005
    assert energy_error(runs[0].energy) < percent
    np.testing.assert_allclose(runs[0].times, 0.01 * np.arange(501), atol=1e-12)
    assert runs[0].cost.steps == 500


@pytest.mark.slow
@pytest.mark.usefixtures("with_exudyn")
@pytest.mark.parametrize(
    ("start", "bounds", "percent"),
    [  # roll, steer, speed at h = 0.01 over 20 s by trapezoidal-index2; measured in the line below
        ((4.0, 0.05), (1e-2, 1.3e-2, 1.2e-2), 1e-3),  # 8.32e-3, 1.02e-2, 9.24e-3; 8.1e-4 %
        ((4.6, 0.5), (5e-4, 7e-4, 3e-4), 6e-4),  # 3.72e-4, 5.27e-4, 2.17e-4; 4.6e-4 %
        ((8.0, 0.05), (4e-4, 1e-4, 1e-4), 5e-5),  # 2.71e-4, 7.62e-5, 7.21e-5; 3.8e-5 %
    ],
)
def test_exudyn_bicycle_over_20_s(start: tuple[float, float], bounds: tuple[float, ...], percent: float) -> None:
    begin = bicycle.BicycleStart(*start)
    run = exudyn.bicycle_motion(BIKE, begin, step=0.01, until=20.0)
    assert (bicycle_errors(run, begin) < bounds).all()
    assert energy_error(run.energy) < percent


@pytest.mark.usefixtures("with_exudyn")
@pytest.mark.parametrize("solver", exudyn.SOLVERS)
def test_exudyn_bicycle_from_a_start_neither_upright_nor_straight(solver: str) -> None:
    start = bicycle.BicycleStart(5.0, 0.1, 0.2, roll=0.1, steer=-0.05, yaw=0.7)
    run = exudyn.bicycle_motion(BIKE, start, step=0.01, until=2.0, solver=solver)
    assert bicycle_errors(run, start).max() < 2e-3  # measured 4.2e-4 and 1.29e-3


@pytest.mark.usefixtures("with_exudyn")
@pytest.mark.parametrize("solver", exudyn.SOLVERS)
def test_exudyn_disk(solver: str) -> None:
    errors = []
    for h in (0.01, 0.005):
        run = exudyn.disk_motion(DISK, WOBBLE, step=h, until=10.0, solver=solver)
        exact = rolling_disk.motion(DISK, WOBBLE, run.times)
        errors.append([np.abs(getattr(run, name) - getattr(exact, name)).max() for name in ("theta", "p", "q", "r")])
        assert energy_error(run.energy) < 2e-4  # percent; measured 9.9e-5 and 6.0e-5 at h = 0.01
    assert (np.array(errors[0]) < (1e-4, 2e-4, 5e-4, 2e-5)).all()  # measured at most 8.8e-5, 1.7e-4, 3.8e-4, 1.3e-5
    np.testing.assert_allclose(np.log2(np.divide(errors[0], errors[1])), 2, atol=0.02)  # measured 2.000 to 2.006


@pytest.mark.usefixtures("with_exudyn")
def test_what_exudyn_cannot_do_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    start = bicycle.BicycleStart(4.6, 0.5)
    with pytest.raises(InputError, match="generalized-alpha did not converge .* smaller spectral_radius"):
        exudyn.bicycle_motion(BIKE, start, step=0.01, until=5.0, solver="generalized-alpha", spectral_radius=0.9)
    with pytest.raises(InputError, match="unknown solver of Exudyn 'trapezoidal'; did you mean 'trapezoidal-index2'"):
        exudyn.bicycle_motion(BIKE, start, step=0.01, until=5.0, solver="trapezoidal")
    with pytest.raises(InputError, match="no whole number of steps"):
        exudyn.bicycle_motion(BIKE, start, step=0.03, until=1.0)
    with pytest.raises(InputError, match="spectral_radius must lie in 0 to 1"):
        exudyn.disk_motion(DISK, WOBBLE, step=0.01, until=1.0, spectral_radius=1.5)
    assert capfd.readouterr().out == ""  # commands that write JSON to stdout can call it


@pytest.mark.usefixtures("with_sundials")
@pytest.mark.parametrize("ggl", [False, True])
def test_ida_bicycle(ggl: bool) -> None:
    start = bicycle.BicycleStart(5.0, 0.1, 0.2, roll=0.1, steer=-0.05, yaw=0.7)
    errors, gaps = [], []
    for tolerance in (1e-5, 1e-7):
        run = sundials.bicycle_motion(BIKE, start, np.linspace(0, 2, 21), rtol=tolerance, atol=tolerance, ggl=ggl)
        errors.append(bicycle_errors(run, start).max())
        gaps.append(run.gap.max())
    assert errors[0] < 1e-4  # measured 5.8e-5 and, with ggl, 3.9e-5
    assert errors[1] < 5e-6  # measured 2.0e-6 and 2.7e-6
    assert energy_error(run.energy) < 1e-5  # percent; measured 3.3e-7 and 3.0e-6
    assert gaps[1] < (2e-8 if ggl else 6e-7)  # m or rad, hinges too; measured 8.0e-9 with ggl, 3.4e-7 without
    assert run.slip.max() < 2e-7  # m/s; measured 7.7e-8


@pytest.mark.usefixtures("with_sundials")
@pytest.mark.parametrize("ggl", [False, True])
def test_ida_disk(ggl: bool) -> None:
    times = np.linspace(0, 10, 101)
    exact = rolling_disk.motion(DISK, WOBBLE, times)
    run = sundials.disk_motion(DISK, WOBBLE, times, rtol=1e-8, atol=1e-8, ggl=ggl)
    errors = [np.abs(getattr(run, name) - getattr(exact, name)).max() for name in ("theta", "p", "q", "r")]
    assert (np.array(errors) < (3e-6, 4e-6, 1e-5, 3e-7)).all()  # measured at most 2.2e-6, 3.0e-6, 8.3e-6, 1.7e-7
    assert energy_error(run.energy) < 3e-6  # percent; measured 3.2e-7 and 1.6e-6
    assert run.gap.max() < (2e-10 if ggl else 2e-8)  # m; measured 1.3e-10 and 1.6e-8


@pytest.mark.usefixtures("with_sundials")
@pytest.mark.parametrize("ggl", [False, True])
def test_ida_sphere(ggl: bool) -> None:
    times = np.linspace(0, 2, 21)
    exact = rolling_sphere.motion(SPHERE, times)
    run = sundials.sphere_motion(SPHERE, times, rtol=1e-8, atol=1e-8, ggl=ggl)
    names = ("height", "azimuth", "omega")
    errors = [np.abs(getattr(run, name) - getattr(exact, name)).max() for name in names]
    assert (np.array(errors) < (1e-5, 1e-5, 1e-4)).all()  # measured at most 3.0e-6, 7.3e-6, 4.2e-5
    assert energy_error(run.energy) < 1e-4  # percent; measured 1.7e-5
    assert run.gap.max() < (1e-11 if ggl else 1e-8)  # m; measured 8.3e-13 and 2.7e-9


@pytest.mark.usefixtures("with_sundials")
def test_ida_says_where_it_stopped() -> None:
    with pytest.raises(InputError, match="rtol must be one positive number"):
        sundials.sphere_motion(SPHERE, [0.0, 1.0], rtol=0.0)
    with pytest.raises(InputError, match="IDA stopped at t = 0 s with rtol = 1e-17"):
        sundials.sphere_motion(SPHERE, [0.0, 1.0], rtol=1e-17, atol=1e-18)


def test_which_peers_are_installed() -> None:
    found = available()
    assert list(found) == ["exudyn", "mujoco", "scikit-sundae", "diffrax", "numba"]
    for module, package in zip(("exudyn", "mujoco", "sksundae", "diffrax", "numba"), found, strict=True):
        assert (importlib.util.find_spec(module) is not None) == (found[package] is not None)


def test_a_missing_peer_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("exudyn", "sksundae"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "sksundae.ida", raising=False)
    with pytest.raises(InputError, match=r"needs exudyn, .* pip install 'polhode\[peers\]'"):
        exudyn.disk_motion(DISK, WOBBLE, step=0.01, until=1.0)
    with pytest.raises(InputError, match=r"needs scikit-sundae, .* pip install 'polhode\[peers\]'"):
        sundials.disk_motion(DISK, WOBBLE, [0.0, 1.0])


def test_the_readings_agree_with_the_references() -> None:
    """Angles, rates and energies from the bodies of a reference motion are those it was made of."""
    start = bicycle.BicycleStart(5.0, 0.1, 0.2, roll=0.1, steer=-0.05, yaw=0.7)
    exact = bicycle.motion(BIKE, start, [0.0, 0.5])
    bodies = runs.Bodies(np.array([0.0, 0.5]), exact.position, exact.velocity, exact.attitude, exact.omega)
    read = runs.bicycle_run(BIKE, bodies, runs.Cost(1, 0.0))
    np.testing.assert_allclose(
        read.roll, exact.coordinates["roll"], atol=1e-14
    )  # measured 2.8e-17, 4.2e-17, 8.9e-16, 0
    np.testing.assert_allclose(read.steer, exact.coordinates["steer"], atol=1e-14)
    np.testing.assert_allclose(read.speed, exact.speed, atol=1e-13)
    np.testing.assert_allclose(read.energy, exact.energy, rtol=1e-14)
    assert max(read.gap.max(), read.slip.max()) < 1e-14  # measured 4.4e-16, 1.3e-15
    rolled = rolling_disk.motion(DISK, rolling_disk.DiskStart(theta=0.4, psi=1.1, phi=0.3, p=0.5, q=0.7, r=2), [0, 0.5])
    omega = (rolled.attitude @ rolled.omega[..., None])[:, None, :, 0]
    state = (rolled.position[:, None], rolled.velocity[:, None], rolled.attitude[:, None], omega)
    disk = runs.disk_run(DISK, runs.Bodies(np.array([0.0, 0.5]), *state), runs.Cost(1, 0.0))
    np.testing.assert_allclose([disk.x, disk.y], [rolled.x, rolled.y], atol=1e-14)
    assert max(disk.gap.max(), disk.slip.max()) < 1e-14  # measured 0, 4.4e-16


def test_a_body_that_slips_or_hovers_is_seen() -> None:
    first = rolling_disk.motion(DISK, WOBBLE, [0.0])
    state = (first.position[None], first.attitude[None], first.velocity[None])
    omega = (first.attitude @ first.omega[..., None])[None, :, :, 0]
    moved = [state[0] + [0, 0, 1e-3], state[1], state[2] + [2e-3, 0, 0], omega]
    gap, slip = systems.residuals(systems.disk_constraints(DISK), *moved)
    np.testing.assert_allclose([gap[0], slip[0]], [1e-3, 2e-3], rtol=1e-9)
