"""The benchmark bicycle, linearised about upright straight running at speed v.

    M q'' + v C1 q' + (g K0 + v² K2) q = 0,   q = (roll, steer)                              (5.3)

with the coefficients of Meijaard, Papadopoulos, Ruina, Schwab, Proc. R. Soc. A 463 (2007)
1955-1982, appendix A, in its notation: A is the front assembly (front frame and wheel), T the
whole bicycle, u_A the distance of A's centre of mass ahead of the steer axis.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial

from polhode.model.checks import InputError, numbers
from polhode.references.bicycle_parameters import Bicycle


class Coefficients(NamedTuple):
    """2 x 2 matrices in the order roll, steer; K0 without g."""

    M: np.ndarray
    C1: np.ndarray
    K0: np.ndarray
    K2: np.ndarray


def coefficients(bike: Bicycle) -> Coefficients:
    """Appendix A."""
    w, c, lam, rR, rF = bike.wheelbase, bike.trail, bike.tilt, bike.rear_radius, bike.front_radius
    mR, mB, mH, mF = bike.masses
    (xB, zB), (xH, zH) = bike.frame_position, bike.fork_position
    (IRxx, IRyy), (IFxx, IFyy) = bike.rear_inertia, bike.front_inertia
    IBxx, _, IBzz, IBxz = bike.frame_inertia
    IHxx, _, IHzz, IHxz = bike.fork_inertia
    sin, cos = np.sin(lam), np.cos(lam)

    mT = mR + mB + mH + mF
    xT = (xB * mB + xH * mH + w * mF) / mT
    zT = (-rR * mR + zB * mB + zH * mH - rF * mF) / mT
    ITxx = IRxx + IBxx + IHxx + IFxx + mR * rR**2 + mB * zB**2 + mH * zH**2 + mF * rF**2
    ITxz = IBxz + IHxz - mB * xB * zB - mH * xH * zH + mF * w * rF
    ITzz = IRxx + IBzz + IHzz + IFxx + mB * xB**2 + mH * xH**2 + mF * w**2

    mA = mH + mF
    xA = (xH * mH + w * mF) / mA
    zA = (zH * mH - rF * mF) / mA
    IAxx = IHxx + IFxx + mH * (zH - zA) ** 2 + mF * (rF + zA) ** 2
    IAxz = IHxz - mH * (xH - xA) * (zH - zA) + mF * (w - xA) * (rF + zA)
    IAzz = IHzz + IFxx + mH * (xH - xA) ** 2 + mF * (w - xA) ** 2
    uA = (xA - w - c) * cos - zA * sin
    IAll = mA * uA**2 + IAxx * sin**2 + 2 * IAxz * sin * cos + IAzz * cos**2
    IAlx = -mA * uA * zA + IAxx * sin + IAxz * cos
    IAlz = mA * uA * xA + IAxz * sin + IAzz * cos

    mu = (c / w) * cos
    SR, SF = IRyy / rR, IFyy / rF
    ST = SR + SF
    SA = mA * uA + mu * mT * xT

    Mpd = IAlx + mu * ITxz
    M = np.array([[ITxx, Mpd], [Mpd, IAll + 2 * mu * IAlz + mu**2 * ITzz]])
    K0 = np.array([[mT * zT, -SA], [-SA, -SA * sin]])
    K2 = np.array([[0, (ST - mT * zT) / w * cos], [0, (SA + SF * sin) / w * cos]])
    C1pd = mu * ST + SF * cos + ITxz / w * cos - mu * mT * zT
    C1 = np.array([[0, C1pd], [-(mu * ST + SF * cos), IAlz / w * cos + mu * (SA + ITzz / w * cos)]])
    return Coefficients(M, C1, K0, K2)


def state_matrix(bike: Bicycle, speed: float) -> np.ndarray:
    """The 4 x 4 matrix S of (roll, steer, roll', steer')' = S (...) at `speed`, m/s."""
    M, C1, K0, K2 = coefficients(bike)
    v = float(numbers("speed", speed))
    lower = -np.linalg.solve(M, np.hstack([bike.gravity * K0 + v**2 * K2, v * C1]))
    return np.vstack([np.hstack([np.zeros((2, 2)), np.eye(2)]), lower])


def eigenvalues(bike: Bicycle, speeds: Any) -> np.ndarray:
    """The four eigenvalues, 1/s, at each speed, by falling real part: shape (len(speeds), 4), complex."""
    values = np.linalg.eigvals(np.array([state_matrix(bike, v) for v in numbers("speeds", speeds).ravel()]))
    return np.take_along_axis(values, np.lexsort((-values.imag, -values.real), axis=-1), -1)


def stable_speeds(bike: Bicycle) -> tuple[float, float]:
    """(weave speed, capsize speed), m/s: between them the upright bicycle balances itself.

    The characteristic polynomial is a4 s⁴ + v b3 s³ + a2 s² + v b1 s + a0 with coefficients in V = v².
    Stability is lost where a0 = 0 (capsize) or where b3 a2 b1 - a4 b1² - a0 b3² = 0 (weave, Routh).
    """
    M, C1, K0, K2 = coefficients(bike)
    V = Polynomial([0, 1])
    K = [[bike.gravity * K0[i, j] + K2[i, j] * V for j in range(2)] for i in range(2)]

    def mixed(X: Any, Y: Any) -> Any:
        return X[0][0] * Y[1][1] + X[1][1] * Y[0][0] - X[0][1] * Y[1][0] - X[1][0] * Y[0][1]

    a4, b3, a2 = mixed(M, M) / 2, mixed(M, C1), mixed(M, K) + V * mixed(C1, C1) / 2
    b1, a0 = mixed(C1, K), mixed(K, K) / 2
    routh = b3 * a2 * b1 - a4 * b1 * b1 - a0 * b3 * b3
    roots = np.concatenate([a0.trim(1e-9).roots(), routh.trim(1e-9).roots()])
    ends = np.sort(np.sqrt(roots[(abs(roots.imag) < 1e-12) & (roots.real > 0)].real))
    for low, high in pairwise(ends):
        if eigenvalues(bike, [(low + high) / 2]).real.max() < 0:
            return float(low), float(high)
    raise InputError("this bicycle is not self-stable between any two speeds; change its geometry or its masses")
