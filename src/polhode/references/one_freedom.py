"""A mechanism with one freedom, from where its bodies are as analytic functions of one coordinate q.

With centres r(q), rotations R(q) and E = ½ tr(J) 1 - J of each body, the kinetic energy is ½ M(q) q̇²,

    M = Σ m r'·r' + tr(R' E R'ᵀ),

the derivatives by a complex step, so to round-off. Lagrange's equation M q̈ + ½ M' q̇² + V' = τ is solved as
q̇ = w/√M, ẇ = (τ - V')/√M, in which no second derivative occurs and the energy is ½ w² + V.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from polhode.references.ode import solve

_STEP = 1e-30


class Places(NamedTuple):
    """Where N bodies are at one q, real or complex."""

    centres: np.ndarray  # (N, 3), m
    rotations: np.ndarray  # (N, 3, 3), body to space


@dataclass(frozen=True)
class OneFreedom:
    masses: np.ndarray  # (N,), kg
    inertias: np.ndarray  # (N, 3, 3), kg m², body axes, about the centres
    places: Callable[[Any], Places]
    potential: Callable[[Any, Places], Any]  # V, J, of q and where the bodies are there
    torque: float = 0.0  # τ, the constant force along q, N m for an angle


class OneFreedomMotion(NamedTuple):
    """Arrays over the times."""

    coordinate: np.ndarray  # q
    rate: np.ndarray  # q̇
    centres: np.ndarray  # (n, N, 3), m
    rotations: np.ndarray  # (n, N, 3, 3)
    energy: np.ndarray  # kinetic and V, J; τ has done τ (q - q0) of it


def _inertia_and_slope(mechanism: OneFreedom, q: float) -> tuple[float, float]:
    """M and V' at q."""
    along = q + 1j * _STEP
    at = mechanism.places(along)
    move, turn = at.centres.imag / _STEP, at.rotations.imag / _STEP
    J = mechanism.inertias
    E = 0.5 * np.trace(J, axis1=-2, axis2=-1)[:, None, None] * np.eye(3) - J
    M = mechanism.masses @ (move**2).sum(-1) + np.einsum("nij,njk,nik->", turn, E, turn)
    return float(M), float(np.imag(mechanism.potential(along, at)) / _STEP)


def motion(mechanism: OneFreedom, times: Any, *, coordinate: float, rate: float = 0.0) -> OneFreedomMotion:
    """The motion at `times`, s, from q = `coordinate` and q̇ = `rate` at t = 0."""

    def law(_: float, y: np.ndarray) -> list[float]:
        M, slope = _inertia_and_slope(mechanism, y[0])
        return [y[1] / np.sqrt(M), (mechanism.torque - slope) / np.sqrt(M)]

    start = [coordinate, rate * np.sqrt(_inertia_and_slope(mechanism, coordinate)[0])]
    q, w = solve(law, start, times)
    places = [mechanism.places(x) for x in q]
    M = np.array([_inertia_and_slope(mechanism, x)[0] for x in q])
    height = np.array([mechanism.potential(x, at) for x, at in zip(q, places, strict=True)])
    return OneFreedomMotion(
        coordinate=q,
        rate=w / np.sqrt(M),
        centres=np.array([at.centres for at in places]),
        rotations=np.array([at.rotations for at in places]),
        energy=0.5 * w**2 + height,
    )
