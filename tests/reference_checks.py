"""What the tests of the reference solutions share: a rolling body in space axes, and bounds on errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polhode.references.ode import solve

UP = np.array([0.0, 0.0, 1.0])


def skew(v: np.ndarray) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def roll_in_space(
    mass: float,
    inertia: np.ndarray,
    gravity: float,
    arm: Callable[[np.ndarray, np.ndarray], np.ndarray],
    start: tuple[np.ndarray, np.ndarray, np.ndarray],
    times: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Newton and Euler in space axes for any rolling body: position, attitude and spin ω at `times`.

    `arm(R, r)` leads from the centre of mass to the contact, so v = arm × ω; the contact force
    F = m v' + m g e_z is put into (I ω)' = arm × F, and arm' comes by a complex step.
    """

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        r, R, w = y[:3], y[3:12].reshape(3, 3), y[12:]
        rho = arm(R, r)
        v = np.cross(rho, w)
        rho_rate = arm(R + 1e-30j * skew(w) @ R, r + 1e-30j * v).imag / 1e-30
        I, S = R @ inertia @ R.T, skew(rho)
        force = mass * (np.cross(rho_rate, w) + gravity * UP)
        alpha = np.linalg.solve(I - mass * S @ S, np.cross(rho, force) - np.cross(w, I @ w))
        return np.concatenate([v, (skew(w) @ R).ravel(), alpha])

    r, R, w = start
    y = solve(rate, np.concatenate([r, R.ravel(), w]), times)
    return y[:3].T, y[3:12].T.reshape(-1, 3, 3), y[12:].T


def below(bound: float, error: Any) -> None:
    """All of `error` is smaller than `bound`; the value measured stands beside each bound."""
    assert np.abs(error).max() < bound, f"{np.abs(error).max():.2e} is not below {bound:.0e}"


def spread(values: np.ndarray) -> np.ndarray:
    return values - values[0]
