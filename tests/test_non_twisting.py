"""The non-twisting body: two forms of its equations, EM and DLA reduced and in full, bad input."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import polhode as ph
from polhode.algebra import Vec3, exp
from polhode.methods import DLA, DMV, EM
from polhode.model import InputError
from polhode.problems import problem_of
from polhode.rotation import NonTwistingBody, RigidBody, Rotation, State
from polhode.rotation.director_equations import DirectorMotion, SplitState, director_rate, split_rate, twist_reaction


def height(R: Any) -> Any:
    return 3.0 * R.m33 + 0.5 * R.m13 * R.m21


def pushed(t: Any, push: Any) -> Any:
    return push * jnp.sin(3 * t), push * 0.5 * jnp.cos(2 * t), 0.0


def hung(R: Any, weight: Any) -> Any:
    return weight * height(R)


def load_of(push: float, weight: float) -> Any:
    """One program for all."""
    return ph.Torque(pushed, push=push) + ph.Potential(hung, weight=weight)


def random_system(seed: int, twisting: bool, load: Any) -> tuple[Rotation, State]:
    """A body whose third axis is principal, of random moments, attitude and ω⊥."""
    rng = np.random.default_rng(seed)
    J = 2 + rng.random(3)
    J12 = 0.4 * rng.standard_normal()
    tensor = [[J[0], J12, 0], [J12, J[1], 0], [0, 0, J[2]]]
    body = (RigidBody if twisting else NonTwistingBody)(tensor)
    omega = rng.standard_normal(3) * (1, 1, twisting)
    start = ph.State.of(attitude=exp(rng.standard_normal(3)), omega=omega).on(body)
    system = Rotation(body, load)
    return system.principal, system.to_principal(start)


@partial(jax.jit, static_argnums=0)
def rk4(rate: Callable[..., Any], system: Rotation, y: Any, n: Any, until: float) -> Any:
    h = until / n
    shares, weights = jnp.array([0.0, 0.5, 0.5, 1.0]), jnp.array([1.0, 2.0, 2.0, 1.0]) / 6

    def add(y: Any, k: Any, s: Any) -> Any:
        return jax.tree.map(lambda a, b: a + s * b, y, k)

    def step(i: Any, y: Any) -> Any:
        def stage(j: Any, carried: Any) -> Any:
            k, end = carried
            k = rate(system, (i + shares[j]) * h, add(y, k, shares[j] * h))
            return k, add(end, k, weights[j] * h)

        return jax.lax.fori_loop(0, 4, stage, (y, y))[1]

    return jax.lax.fori_loop(0, n, step, jax.tree.map(lambda x: jnp.asarray(x, float), y))


LOADS = {"free": None, "pushed": load_of(1.0, 0.0), "gravity": load_of(0.0, 1.0)}


@pytest.mark.parametrize(
    ("twisting", "load"),
    [
        *(pytest.param(False, load, id=f"non-twisting-{name}") for name, load in LOADS.items()),
        *(
            pytest.param(True, load, id=f"standard-{name}", marks=pytest.mark.long if load else ())
            for name, load in LOADS.items()
        ),
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_both_forms_agree_to_the_order_of_the_integrator(seed: int, twisting: bool, load: Any) -> None:
    """RK4 on the split form and on the director form: they part by O(h⁴), and EM by O(h²)."""
    system, start = random_system(seed, twisting, load)
    R = start.attitude.matrix()
    n = Vec3(0.0, 0.0, 1.0) if twisting else system.twist_axis
    assert n is not None
    pi = R @ start.momentum
    d3 = R @ n
    split_start = SplitState(R, pi - d3 * d3.dot(pi), d3.dot(pi))
    directors = DirectorMotion(R, R @ system.omega(start.momentum).skew())
    apart, em_apart = [], []
    for steps in (50, 100):
        a, b = rk4(split_rate, system, split_start, steps, 1.0), rk4(director_rate, system, directors, steps, 1.0)
        apart.append(float(np.abs(a.frame.array - b.frame.array).max()))
        em = _em_steps(system, jax.tree.map(jnp.asarray, EM().begin(system, start)), steps)
        em_apart.append(float(np.abs(em.attitude.matrix().array - a.frame.array).max()))
    assert abs(a.across.dot(a.frame @ n)) < 2e-7  # measured up to 8e-8: kept by RK4 to its order
    assert apart[1] < 2e-7  # measured 1e-10 to 5e-8
    assert np.log2(apart[0] / apart[1]) == pytest.approx(4, abs=0.35)
    assert np.log2(em_apart[0] / em_apart[1]) == pytest.approx(2, abs=0.1)


@jax.jit
def _em_steps(system: Rotation, state: Any, n: Any) -> Any:
    """To t = 1."""
    return jax.lax.fori_loop(0, n, lambda i, state: EM().step(system, state, i / n, 1.0 / n).state, state)


def test_twist_reaction_undoes_the_twist_of_a_free_body() -> None:
    system, start = random_system(3, False, None)
    R = start.attitude.matrix()
    state = SplitState(R, R @ start.momentum, 0.0)
    omega = system.omega(start.momentum)
    euler = start.momentum.cross(omega)  # Π' of a body free to twist
    n = system.twist_axis
    assert n is not None
    assert float(twist_reaction(system, state)) == pytest.approx(float(n.dot(euler)), abs=1e-14)


LATER = (("dla", 1), ("em", 2), ("em", 3), ("dla", 2))
PAIRED = [("em", 1), ("dla", 3), *(pytest.param(*c, marks=pytest.mark.long) for c in LATER)]  # each method at once


@pytest.mark.parametrize(("method", "case"), PAIRED)
def test_reduced_and_full_systems_take_the_same_steps(method: str, case: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polhode.running.briefly", lambda system: 1000)  # 16 unknowns: compiled well in twice the time
    setup = problem_of(f"nontwisting-{case}").problem()
    reduced, full = (
        ph.simulate(setup.body, setup.load, setup.start, method=name, step=0.005, steps=200)
        for name in (method, f"{method}-full")
    )
    # Measured 2e-14 to 1e-13: the full Newton stops where a correction is below 1e-10.
    np.testing.assert_allclose(full.attitude, reduced.attitude, atol=1e-12)
    np.testing.assert_allclose(full.state.momentum.array, reduced.state.momentum.array, atol=1e-11)
    assert 3 <= full.trajectory.iterations <= 4


@pytest.mark.parametrize("a", [0.0, 0.3, 1.0])
def test_any_split_of_the_non_twisting_row_gives_the_same_step(a: float) -> None:
    """`a` of (80): an EM step written once more, in numpy, with all 16 unknowns."""
    from scipy.optimize import fsolve

    J = np.array([[3, -1 / 7, 0], [-1 / 7, 4, 0], [0, 0, 5.0]])
    E = np.trace(J) / 2 * np.eye(3) - J
    V0 = Vec3(1.5, 4.5, 0.0).skew().array
    h = 0.05

    def residual(x: np.ndarray) -> np.ndarray:
        R1, multipliers, mu = x[:9].reshape(3, 3), x[9:15], x[15]
        Rm = (np.eye(3) + R1) / 2
        l11, l22, l33, l23, l13, l12 = multipliers
        S = np.array([[2 * l11, l12, l13], [l12, 2 * l22, l23], [l13, l23, 2 * l33]])
        G = np.zeros((3, 3))
        G[:, 0], G[:, 1] = (1 - a) * Rm[:, 1], -a * Rm[:, 0]
        balance = 2 / h * (R1 - np.eye(3) - h * V0) @ E + Rm @ S + mu * G
        return np.concatenate(
            [balance.ravel(), (R1.T @ R1 - np.eye(3))[np.triu_indices(3)], [np.sum(G * (R1 - np.eye(3)))]]
        )

    guess = np.concatenate([(np.eye(3) + h * V0).ravel(), np.zeros(7)])
    R1 = fsolve(residual, guess, xtol=1e-12)[:9].reshape(3, 3)
    run = ph.simulate(NonTwistingBody(J), None, ph.State.of(omega=(1.5, 4.5, 0)), method="em", step=h, steps=1)
    np.testing.assert_allclose(run.attitude[-1], R1, atol=1e-13)


def test_dla_of_the_standard_free_body_is_dmv() -> None:
    system = Rotation(RigidBody((1.0, 1.6, 2.2)))
    state = jax.tree.map(
        jnp.asarray, ph.State.of(attitude=exp((0.4, -0.2, 0.3)), omega=(0.7, 1.1, -0.5)).on(RigidBody((1.0, 1.6, 2.2)))
    )
    a, b = (jax.jit(m.step)(system, state, 0.0, 0.2).state for m in (DLA(), DMV()))
    np.testing.assert_allclose(a.attitude.matrix().array, b.attitude.matrix().array, atol=1e-15)
    np.testing.assert_allclose(a.momentum.array, b.momentum.array, atol=1e-15)


@pytest.mark.parametrize("method", ["em", pytest.param("dla", marks=pytest.mark.long)])
def test_free_non_twisting_body(method: str) -> None:
    """K, Π1 and Π2 over 10⁶ steps; d3 on a great circle; exact solution R = exp(tΩ)."""
    setup = problem_of("nontwisting-1").problem()
    run = ph.simulate(setup.body, setup.load, setup.start, method=method, step=0.005, steps=1_000_000, every=500)
    assert run.drift(run.energy) < 1e-12  # measured 9e-15 (em), 1e-15 (dla)
    assert run.drift(run.state.momentum.array[:, :2]) < 1e-12  # measured 5e-15, 1e-15
    assert np.abs(run.omega[:, 2]).max() < 1e-12
    d3 = run.attitude[:, :, 2]
    normal = np.cross(run.attitude[0] @ [6, -18, 0], [0, 0, 1]) / np.hypot(6, 18)
    plane = np.cross([0, 0, 1], normal)
    assert np.abs(d3 @ plane).max() < 1e-11
    errors = []
    for n in (100, 200):
        short = ph.simulate(setup.body, None, setup.start, method=method, step=0.5 / n, steps=n)
        errors.append(np.abs(short.attitude[-1] - exp((3.0, -9.0, 0.0)).matrix().array).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.02)


def cubic(R: Any) -> Any:
    return jnp.exp(R.m33) + R.m13**3


@pytest.mark.parametrize("potential", [cubic, pytest.param(height, marks=pytest.mark.long)])
def test_em_keeps_the_energy_under_any_potential(potential: Any) -> None:
    start = ph.State.of(attitude=exp((0.5, 0.2, 0)), omega=(1.0, -2.0, 0))
    load = ph.Potential(potential)
    run = ph.simulate(NonTwistingBody((2.0, 3.0, 4.0)), load, start, method="em", step=0.02, steps=20_000, every=10)
    assert np.ptp(run.kinetic) > 0.5
    assert run.drift(run.energy) < 1e-12  # measured 3e-14
    assert np.abs(run.omega[:, 2]).max() < 1e-2  # w∥ = 0 holds at half steps; between them O(h²)


def test_an_initial_twist_is_kept_by_em_and_told() -> None:
    """Theorem 9's small print: K exact, Π1 and Π2 only to O(w∥ h²)."""
    body, start = NonTwistingBody((3.0, 4.0, 5.0)), ph.State.of(omega=(1.0, 2.0, 0.5))
    swings = []
    for h in (0.02, 0.01):
        with pytest.warns(UserWarning, match="w∥ = 0.5.*oscillate"):
            run = ph.simulate(body, None, start, method="em", step=h, until=10)
        assert run.drift(run.energy) < 1e-13
        swings.append(np.ptp(run.state.momentum.x))
    assert swings[0] > 1e-5
    assert swings[0] / swings[1] == pytest.approx(4, abs=0.1)


def test_bad_input() -> None:
    with pytest.raises(InputError, match="split from D3.*J13 = 0.1"):
        NonTwistingBody([[3, 0, 0.1], [0, 4, 0], [0.1, 0, 5]])
    with pytest.raises(InputError, match="directors.*1e-0?3|directors.*0.001"):
        ph.State.of(directors=[(1, 0, 0), (1e-3, 1, 0), (0, 0, 1)], omega=(1, 0, 0))
    with pytest.raises(InputError, match="imidm does not keep the non-twisting"):
        ph.simulate(NonTwistingBody((3, 4, 5)), None, ph.State.of(omega=(1, 0, 0)), method="imidm", step=0.1, steps=1)


def test_directors_are_the_columns_of_the_attitude() -> None:
    R = exp((0.3, 0.4, -0.2)).matrix().array
    start = ph.State.of(directors=R.T, omega=(1, 0, 0))
    np.testing.assert_allclose(start.attitude.matrix().array, R, atol=1e-15)
