"""Checks that a method keeps what it claims: its order and every trait, measured.

`claims(method)` lists them; each is a check that can fail. The test-suite runs them for
every built-in method, and a user for a method of their own:

    @pytest.mark.parametrize("claim", polhode.claims(MyMethod()), ids=str)
    def test_claims(claim):
        claim.check()
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.algebra import Mat3, Quaternion, Vec3, exp
from polhode.api import simulate
from polhode.mechanics import Potential, RigidBody, Start, State, System, Torque
from polhode.mechanics.invariants import kinetic_energy
from polhode.mechanics.loads import Load
from polhode.methods import Method
from polhode.methods.krysl import rate
from polhode.problems import problem_of
from polhode.results.run import Run

STEPS = 100_000  # of the long runs
ROUND_OFF = 1e-12  # over STEPS; the methods measure 1e-15 to 3e-13


@dataclass(frozen=True)
class Claim:
    """Something a method says of itself, and how to measure it."""

    method: Method
    statement: str
    measure: Callable[[], tuple[bool, str]]

    def check(self) -> str:
        """The measurement in words; AssertionError if it contradicts the claim."""
        holds, measured = self.measure()
        if not holds:
            raise AssertionError(f"{self}: {measured}")
        return measured

    def __str__(self) -> str:
        return f"{self.method.name}: {self.statement}"


def claims(method: Method) -> list[Claim]:
    """All that the traits of `method` claim."""
    traits = method.traits
    found = [
        Claim(method, f"order {traits.order}, {case.name}", lambda case=case: _order(method, case))  # type: ignore[misc]
        for case in CASES
    ]
    found += [
        Claim(method, f"{what} {claim}, {place}", lambda f=f, claim=claim: _conserved(claim, *f(method)))  # type: ignore[misc]
        for what, place, claim, f in (
            ("energy", "free body", traits.energy, _free_energy),
            ("spatial momentum", "free body", traits.spatial_momentum, _free_momentum),
            ("momentum length", "free body", traits.momentum_length, _free_length),
            ("energy", "heavy top", traits.top_energy, _top_energy),
            ("vertical momentum", "heavy top", traits.vertical_momentum, _top_vertical),
        )
    ]
    if traits.half_step_energy:
        found.append(
            Claim(method, "half-step energy exact, free body", lambda: _conserved("exact", *_half_step(method)))
        )
    word = "symmetric" if traits.symmetric else "not symmetric"
    found.append(Claim(method, word, lambda: _symmetric(method, traits.symmetric)))
    return found


# --- order -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Case:
    """A moving-axis problem and its reference, by an integrator that shares no code with ours."""

    name: str
    body: RigidBody
    load: Load | None
    start: Start
    torque: Callable[[float, np.ndarray, np.ndarray], Any]  # (t, R, omega) in body components, in numpy
    until: float = 2.0


def _gravity(t: float, R: np.ndarray, omega: np.ndarray) -> Any:
    return 3.0 * np.array([R[2, 1], -R[2, 0], 0.0])


def _shaking(t: float, R: np.ndarray, omega: np.ndarray) -> Any:
    return R.T @ np.array([np.sin(3 * t), 0.5 * np.cos(2 * t), t / 4])


def _shaking_components(t: Any) -> Any:
    return (jnp.sin(3 * t), 0.5 * jnp.cos(2 * t), t / 4)


def _damping_torque(t: Any, R: Mat3, omega: Vec3) -> Vec3:
    return -0.3 * omega


_BODY = RigidBody((1.0, 1.6, 2.2))
_START = State.of(attitude=exp((0.4, -0.2, 0.3)), omega=(0.7, 1.1, -0.5))
CASES = (
    _Case("free body", _BODY, None, _START, lambda t, R, w: np.zeros(3)),
    _Case("asymmetric heavy top", _BODY, Potential(lambda R: 3.0 * R.m33), _START, _gravity),
    _Case("torque of time", _BODY, Torque(_shaking_components, frame="space"), _START, _shaking),
    _Case("damping", _BODY, Torque(_damping_torque), _START, lambda t, R, w: -0.3 * w),
)


@cache
def _reference(case: _Case) -> tuple[np.ndarray, np.ndarray]:
    """R and Π at the end, by scipy's DOP853 on the matrix equations; error some 1e-13."""
    from scipy.integrate import solve_ivp

    I = case.body.tensor

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        R, Pi = y[:9].reshape(3, 3), y[9:]
        w = np.linalg.solve(I, Pi)
        skew = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        return np.concatenate([(R @ skew).ravel(), np.cross(Pi, w) + case.torque(t, R, w)])

    start = case.start.on(case.body)
    y0 = np.concatenate([start.attitude.matrix().array.ravel(), start.momentum.array])
    y = solve_ivp(slope, (0, case.until), y0, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    return y[:9].reshape(3, 3), y[9:]


def _order(method: Method, case: _Case) -> tuple[bool, str]:
    order = method.traits.order
    coarse = {1: 512, 2: 32}.get(order, 16)
    R, Pi = _reference(case)
    errors = []
    for n in (coarse, 2 * coarse, 4 * coarse):
        run = simulate(case.body, case.load, case.start, method=method, step=case.until / n, steps=n, every=n)
        errors.append((np.abs(run.attitude[-1] - R).max(), np.abs(run.state.momentum.array[-1] - Pi).max()))
    slopes = np.log2(np.array(errors[1]) / np.array(errors[2]))
    clear = np.array(errors[2]) > 3e-13  # away from round-off and the reference's own error
    good = bool((np.abs(slopes[clear] - order) < 0.2).all() and clear.any() and (slopes[clear] > order - 0.2).all())
    return good, f"slopes {slopes[0]:.3f} in R, {slopes[1]:.3f} in Π; errors {np.array(errors).tolist()}"


# --- what is conserved -------------------------------------------------------------------


@cache
def _long_run(method: Method, problem: str, step: float) -> Run:
    setup = problem_of(problem).setup()
    return simulate(setup.body, setup.load, setup.start, method=method, step=step, steps=STEPS, every=50)


def _free(method: Method) -> Run:
    return _long_run(method, "free-body", 0.1)


def _top(method: Method) -> Run:
    return _long_run(method, "fast-top", 0.002)


def _free_energy(method: Method) -> tuple[np.ndarray, float]:
    run = _free(method)
    return run.kinetic, run.kinetic[0]


def _free_momentum(method: Method) -> tuple[np.ndarray, float]:
    pi = _free(method).spatial_momentum
    return pi, float(np.linalg.norm(pi[0]))


def _free_length(method: Method) -> tuple[np.ndarray, float]:
    length = _free(method).state.momentum.norm()
    return length, length[0]


def _top_energy(method: Method) -> tuple[np.ndarray, float]:
    run = _top(method)
    return run.energy, run.energy[0]


def _top_vertical(method: Method) -> tuple[np.ndarray, float]:
    pi = _top(method).spatial_momentum
    return pi[:, 2], abs(pi[0, 2])


def _half_step(method: Method) -> tuple[np.ndarray, float]:
    run = _free(method)
    system = System.of(run.body, run.load)
    half = run.state.momentum + run.step / 2 * rate(system, 0.0, run.state)
    energy = np.asarray(kinetic_energy(run.body, State(run.state.attitude, half)))
    return energy, energy[0]


def _conserved(claim: str, values: np.ndarray, scale: float) -> tuple[bool, str]:
    """exact: within round-off. bounded: above it, yet no further in the second half of the
    run than in the first. drifts: the mean moves away from part to part of the run, or has
    moved and settled elsewhere (a body driven into a steady spin)."""
    deviation = (values - values[0]) / scale
    size = np.abs(deviation) if deviation.ndim == 1 else np.linalg.norm(deviation, axis=-1)
    n = len(size)
    early, late = size[: n // 2].max(), size[n // 2 :].max()
    first, last = (deviation[part].mean(axis=0) for part in (slice(0, n // 4), slice(3 * n // 4, None)))
    moved = np.linalg.norm(last - first)
    swing = max(np.ptp(deviation[part], axis=0).max() for part in (slice(0, n // 4), slice(3 * n // 4, None)))
    words = f"largest deviation {size.max():.2e}, {early:.2e} in the first half; the mean moves by {moved:.2e}"
    if claim == "exact":
        return bool(size.max() < ROUND_OFF), words
    if claim == "bounded":
        return bool(size.max() > 10 * ROUND_OFF and late < 1.2 * early and moved < 0.2 * max(swing, early)), words
    settled = np.linalg.norm(last) > 2 * np.ptp(deviation[3 * n // 4 :], axis=0).max()
    return bool(size.max() > 10 * ROUND_OFF and (moved > 0.3 * size.max() or settled)), words


# --- symmetry ----------------------------------------------------------------------------


def _symmetric(method: Method, claim: bool) -> tuple[bool, str]:
    """A step of h, then one of -h, with a load that depends on attitude and time."""
    load = Potential(lambda R: 3.0 * R.m33) + Torque(_shaking_components, frame="space")
    system = System.of(_BODY, load)
    state = jax.tree.map(jnp.asarray, _START.on(_BODY))

    @jax.jit
    def there_and_back(state: State, t: Any, h: Any) -> State:
        return method.step(system, method.step(system, state, t, h).state, t + h, -h).state

    back = there_and_back(state, 0.3, 0.2)
    turned: Quaternion = state.attitude.conjugate * back.attitude
    error = float(turned.vector.norm() + (back.momentum - state.momentum).norm())
    return (error < 1e-13 if claim else error > 1e-9), f"a step there and back ends {error:.2e} away"
