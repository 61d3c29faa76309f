"""One rotating body, free or in uniform gravity, as users of general solvers write it: a quaternion and a momentum.

scipy's DOP853, diffrax's adaptive Tsit5 and Dopri8, and a loop of RK4 compiled by Numba. Each is prepared once, then
called with a tolerance or a number of steps, and returns the quaternion at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.peers.installed import load

Solve = Callable[[Any], np.ndarray]


@dataclass(frozen=True)
class Body:
    """Moments, U = weight · R33, quaternion and momentum (body) at the start, and how long."""

    moments: tuple[float, float, float]
    weight: float
    attitude: tuple[float, float, float, float]
    momentum: tuple[float, float, float]
    until: float

    @property
    def start(self) -> np.ndarray:
        return np.array([*self.attitude, *self.momentum])


def slope(y: Any, I: Any, weight: Any) -> tuple[Any, ...]:
    """q' = ½ q ω, Π' = Π × ω + T."""
    w, x, u, z, p1, p2, p3 = y
    o1, o2, o3 = p1 / I[0], p2 / I[1], p3 / I[2]
    R31, R32 = 2 * (x * z - w * u), 2 * (u * z + w * x)
    return (
        0.5 * (-x * o1 - u * o2 - z * o3),
        0.5 * (w * o1 + u * o3 - z * o2),
        0.5 * (w * o2 + z * o1 - x * o3),
        0.5 * (w * o3 + x * o2 - u * o1),
        p2 * o3 - p3 * o2 + weight * R32,
        p3 * o1 - p1 * o3 - weight * R31,
        p1 * o2 - p2 * o1,
    )


def dop853(body: Body) -> Solve:
    from scipy.integrate import solve_ivp

    def solve(tolerance: float) -> np.ndarray:
        def rate(t: float, y: np.ndarray) -> np.ndarray:
            return np.array(slope(y, body.moments, body.weight))

        return solve_ivp(rate, (0, body.until), body.start, method="DOP853", rtol=tolerance, atol=tolerance).y[:4, -1]

    return solve


def diffrax_of(body: Body, solver: str) -> Solve:
    diffrax: Any = load("diffrax")

    term = diffrax.ODETerm(lambda t, y, _: jnp.stack(slope(y, body.moments, body.weight)))

    @jax.jit
    def end(y: Any, tolerance: Any) -> Any:
        return diffrax.diffeqsolve(
            term,
            getattr(diffrax, solver)(),
            t0=0.0,
            t1=body.until,
            dt0=None,
            y0=y,
            stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=tolerance),
            saveat=diffrax.SaveAt(t1=True),
            max_steps=None,
        ).ys[0, :4]

    return lambda tolerance: np.asarray(end(body.start, tolerance))


@cache
def _rk4() -> Any:
    numba: Any = load("numba")
    rate = numba.njit(slope)

    @numba.njit
    def moved(y: Any, k: Any, h: float) -> Any:
        return (
            y[0] + h * k[0], y[1] + h * k[1], y[2] + h * k[2], y[3] + h * k[3],
            y[4] + h * k[4], y[5] + h * k[5], y[6] + h * k[6],
        )  # fmt: skip

    @numba.njit
    def run(y: Any, I: Any, weight: float, h: float, steps: int) -> Any:
        for _ in range(steps):
            a = rate(y, I, weight)
            b = rate(moved(y, a, h / 2), I, weight)
            c = rate(moved(y, b, h / 2), I, weight)
            d = rate(moved(y, c, h), I, weight)
            y = moved(moved(moved(moved(y, a, h / 6), b, h / 3), c, h / 3), d, h / 6)
        return y

    return run


def numba_rk4(body: Body) -> Solve:
    run, start, I = _rk4(), tuple(map(float, body.start)), tuple(map(float, body.moments))

    def solve(steps: int) -> np.ndarray:
        return np.array(run(start, I, float(body.weight), body.until / steps, steps)[:4])

    return solve
