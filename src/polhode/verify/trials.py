"""The moving-axis problems on which methods for one body are measured, with independent references."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np

from polhode.algebra import Mat3, Vec3, exp
from polhode.model.problem import Problem
from polhode.results.run import Run
from polhode.rotation import Potential, RigidBody, Rotation, Start, State, Torque
from polhode.rotation.loads import Load


@dataclass(frozen=True, eq=False)
class RotationTrial:
    """A problem, and its torque again in numpy, for an integrator that shares no code with ours."""

    name: str
    body: RigidBody
    load: Load | None
    start: Start
    torque: Callable[[float, np.ndarray, np.ndarray], Any]  # (t, R, omega), in body components
    until: float = 2.0
    round_off: float = 2e-12  # errors below are those of the reference and of arithmetic

    @property
    def free(self) -> bool:
        return self.load is None

    def problem(self) -> Problem:
        return Problem(Rotation(self.body, self.load), self.start.on(self.body))

    @cache  # noqa: B019 (a handful of them, kept for ever)
    def reference(self) -> tuple[np.ndarray, np.ndarray]:
        """R and Π at the end, by scipy's DOP853 on the matrix equations; error some 3e-14."""
        from scipy.integrate import solve_ivp

        I = self.body.tensor

        def slope(t: float, y: np.ndarray) -> np.ndarray:
            R, Pi = y[:9].reshape(3, 3), y[9:]
            w = np.linalg.solve(I, Pi)
            skew = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
            return np.concatenate([(R @ skew).ravel(), np.cross(Pi, w) + self.torque(t, R, w)])

        start = self.start.on(self.body)
        y0 = np.concatenate([start.attitude.matrix().array.ravel(), start.momentum.array])
        y = solve_ivp(slope, (0, self.until), y0, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
        return y[:9].reshape(3, 3), y[9:]

    def error(self, run: Run) -> float:
        """In R and Π together, at the end."""
        R, Pi = self.reference()
        return float(max(np.abs(run.attitude[-1] - R).max(), np.abs(run.state.momentum.array[-1] - Pi).max()))


def _gravity(t: float, R: np.ndarray, omega: np.ndarray) -> Any:
    return WEIGHT * np.array([R[2, 1], -R[2, 0], 0.0])


def _heavy_and_shaking(t: float, R: np.ndarray, omega: np.ndarray) -> Any:
    return _gravity(t, R, omega) + R.T @ np.array([np.sin(3 * t), 0.5 * np.cos(2 * t), t / 4])


def load_of(weight: float, shaking: float) -> Load:
    """Gravity, and a torque of time; tops of any weight, shaken or not, are one program."""
    gravity = Potential(lambda R: weight * R.m33)
    shaken = lambda t: (shaking * jnp.sin(3 * t), shaking * 0.5 * jnp.cos(2 * t), shaking * t / 4)  # noqa: E731
    return gravity + Torque(shaken, frame="space")


def any_load_of(weight: float, shaking: float, damping: float) -> Load:
    """With a torque of the angular velocity besides: for methods that take any load, one program for all of them."""

    def damped(t: Any, R: Mat3, omega: Vec3) -> Vec3:
        return -damping * omega

    return load_of(weight, shaking) + Torque(damped)


BODY = RigidBody((1.0, 1.6, 2.2))
START = State.of(attitude=exp((0.4, -0.2, 0.3)), omega=(0.7, 1.1, -0.5))
WEIGHT = 3.0  # N m

FREE = RotationTrial("free body", BODY, None, START, lambda t, R, w: np.zeros(3))
HEAVY = RotationTrial("asymmetric heavy top", BODY, load_of(WEIGHT, 0.0), START, _gravity)
SHAKEN = RotationTrial("torque of time", BODY, load_of(WEIGHT, 1.0), START, _heavy_and_shaking)
TRIALS = (FREE, HEAVY, SHAKEN)
OF_ANY_LOAD = (
    FREE,
    replace(HEAVY, load=any_load_of(WEIGHT, 0.0, 0.0)),
    replace(SHAKEN, load=any_load_of(WEIGHT, 1.0, 0.0)),
    RotationTrial("damping", BODY, any_load_of(0.0, 0.0, 0.3), START, lambda t, R, w: -0.3 * w),
)


def trials_for(loads: str) -> tuple[RotationTrial, ...]:
    """Those that a method with these `traits.loads` can run: a free body, a heavy top, a shaken one, a damped body."""
    return {"none": TRIALS[:1], "attitude": TRIALS, "any": OF_ANY_LOAD}[loads]
