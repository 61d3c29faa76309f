"""A planar four-bar linkage in one coordinate, the angle θ of its crank.

In the x-y plane, gravity along -y, angles from the x axis: crank a from the origin O to A at θ,
coupler b from A to B at β, rocker c from the ground point C = (d, 0) to B at γ. All links are
uniform rods. The closure a e^{iθ} + b e^{iβ} = d + c e^{iγ} gives β, γ and, differentiated by θ,

    β' = a sin(γ - θ)/(b sin(β - γ)),   γ' = a sin(β - θ)/(c sin(β - γ)).

The kinetic energy is ½ M(θ) θ̇², so Lagrange's equation is M θ̈ + ½ M' θ̇² + V' = 0. It is solved as
θ̇ = w/√M, ẇ = -V'/√M, where w changes by gravity alone and the energy is ½ w² + V.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from polhode.model.checks import InputError, numbers, positive
from polhode.references.ode import solve

_STRAIGHT = np.cos(np.pi / 180)


@dataclass(frozen=True)
class FourBar:
    crank: float = 0.2  # a, m
    coupler: float = 0.5  # b, m
    rocker: float = 0.4  # c, m
    ground: float = 0.6  # d, m
    masses: tuple[float, float, float] = (1.0, 2.5, 2.0)  # of crank, coupler and rocker, kg
    gravity: float = 9.81  # m/s², along -y
    crossed: bool = False  # False: B lies to the left of the way from A to C

    def __post_init__(self) -> None:
        for name in ("crank", "coupler", "rocker", "ground"):
            positive(name, getattr(self, name))
        if (numbers("masses", self.masses, (3,)) <= 0).any():
            raise InputError(f"masses must be three positive numbers; got {self.masses!r}")

    @property
    def inertias(self) -> np.ndarray:
        """m l²/12 of the three rods about their centres, kg m²."""
        return np.array(self.masses) * np.square([self.crank, self.coupler, self.rocker]) / 12


class FourBarMotion(NamedTuple):
    """Arrays over the times; links in the order crank, coupler, rocker on the last axis of angles."""

    angles: np.ndarray  # (θ, β, γ), rad, (n, 3); β and γ between -π and π
    rates: np.ndarray  # rad/s, (n, 3)
    accelerations: np.ndarray  # rad/s², (n, 3)
    position: np.ndarray  # (x, y) of the centres of mass, m, (n, 3, 2)
    energy: np.ndarray  # J


class _Shape(NamedTuple):
    """Angles and centres as functions of θ, with first and second derivatives by θ; links on the last axis."""

    angles: np.ndarray
    slopes: np.ndarray
    bends: np.ndarray
    centres: np.ndarray  # complex x + iy
    moves: np.ndarray
    curls: np.ndarray


def _shape(bar: FourBar, theta: Any) -> _Shape:
    a, b, c, d = bar.crank, bar.coupler, bar.rocker, bar.ground
    theta = np.asarray(theta, dtype=float)
    A = a * np.exp(1j * theta)
    gap = d - A
    reach = np.abs(gap)
    cosine = (b**2 + reach**2 - c**2) / (2 * b * reach)
    straight = np.abs((b**2 + c**2 - reach**2) / (2 * b * c))  # |cos| of the angle between coupler and rocker
    if (straight > _STRAIGHT).any():
        raise InputError(
            f"links of {a}, {b}, {c} m on a ground of {d} m cannot be closed with the crank at "
            f"{theta.ravel()[np.argmax(straight)]:.6g} rad, or only within 1° of a dead point, where the crank's angle "
            "does not determine the motion; start with less energy, or choose a linkage whose crank can turn"
        )
    beta = np.angle(gap) + (-1 if bar.crossed else 1) * np.arccos(cosine)
    beta = np.angle(np.exp(1j * beta))
    B = A + b * np.exp(1j * beta)
    gamma = np.angle(B - d)
    sine = np.sin(beta - gamma)
    beta1 = a * np.sin(gamma - theta) / (b * sine)
    gamma1 = a * np.sin(beta - theta) / (c * sine)
    beta2 = (c * gamma1**2 - a * np.cos(theta - gamma) - b * beta1**2 * np.cos(beta - gamma)) / (b * sine)
    gamma2 = (c * gamma1**2 * np.cos(gamma - beta) - b * beta1**2 - a * np.cos(theta - beta)) / (c * sine)

    one, zero = np.ones_like(theta), np.zeros_like(theta)
    angles = np.stack([theta, beta, gamma], -1)
    slopes, bends = np.stack([one, beta1, gamma1], -1), np.stack([zero, beta2, gamma2], -1)
    rods = 0.5 * np.array([a, b, c]) * np.exp(1j * angles)
    spins, twists = 1j * slopes * rods, (1j * bends - slopes**2) * rods
    shift = np.zeros_like(rods)
    return _Shape(
        angles, slopes, bends,
        rods + _with(shift, A, d), spins + _with(shift, 1j * A, 0), twists + _with(shift, -A, 0),
    )  # fmt: skip


def _with(shift: np.ndarray, coupler: Any, rocker: Any) -> np.ndarray:
    """What the foot of each rod adds: nothing, the crank's end, the ground."""
    shift = shift.copy()
    shift[..., 1], shift[..., 2] = coupler, rocker
    return shift


def _inertia(bar: FourBar, s: _Shape) -> np.ndarray:
    """M(θ), kg m²."""
    return (np.array(bar.masses) * np.abs(s.moves) ** 2 + bar.inertias * s.slopes**2).sum(-1)


def _weight(bar: FourBar, s: _Shape) -> np.ndarray:
    """V'(θ), N m."""
    return bar.gravity * (np.array(bar.masses) * s.moves.imag).sum(-1)


def motion(bar: FourBar, times: Any, *, angle: float = 0.5, rate: float = 0.0) -> FourBarMotion:
    """The motion at `times`, s, from the crank's `angle`, rad, and `rate`, rad/s, at t = 0."""

    def law(_: float, y: np.ndarray) -> list[float]:
        s = _shape(bar, y[0])
        root = np.sqrt(_inertia(bar, s))
        return [y[1] / root, -_weight(bar, s) / root]

    theta, speed = solve(law, [angle, rate * np.sqrt(_inertia(bar, _shape(bar, angle)))], times)
    s = _shape(bar, theta)
    M = _inertia(bar, s)
    omega = speed / np.sqrt(M)
    half_slope = (np.array(bar.masses) * (s.moves.conj() * s.curls).real + bar.inertias * s.slopes * s.bends).sum(-1)
    alpha = -(half_slope * omega**2 + _weight(bar, s)) / M
    w = omega[:, None]
    return FourBarMotion(
        angles=s.angles,
        rates=s.slopes * w,
        accelerations=s.slopes * alpha[:, None] + s.bends * w**2,
        position=np.stack([s.centres.real, s.centres.imag], -1),
        energy=0.5 * M * omega**2 + bar.gravity * (np.array(bar.masses) * s.centres.imag).sum(-1),
    )
