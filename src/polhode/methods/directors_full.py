"""EM and DLA with all the unknowns of Gebhardt & Romero (2020): nine components of the
directors, six multipliers λ and the multiplier μ, by Newton's method with the Jacobian from
automatic differentiation. The reference that `directors` is measured against; the same
motion at several hundred times the cost (`polhode bench directors`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp

from polhode.algebra import Mat3, Quaternion, Scalar, Vec3
from polhode.methods.base import Step
from polhode.methods.directors import DLA, EM, DirectorState, axial, columns_scaled, euler_inertia
from polhode.rotation import Rotation, State
from polhode.solve import FixedPoint, Newton, PlainNewton, Report

_PAIRS = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))
Unknowns = tuple[Mat3, tuple[Scalar, ...]]  # q₁ as a matrix of columns; λ and, if non-twisting, μ


def orthonormality(R: Mat3) -> list[Scalar]:
    """h(q), six rows: (63) and the lengths."""
    return [R.column(i).dot(R.column(j)) - (1.0 if i == j else 0.0) for i, j in _PAIRS]


def constraint_force(system: Rotation, R: Mat3, multipliers: tuple[Scalar, ...]) -> Mat3:
    """H(q)ᵀλ + G(q)ᵀμ at the directors R. G is taken half from d1 and half from d2, a = ½ in (80)."""
    a, b, c, d, e, f = multipliers[:6]
    S = Mat3(2.0 * a, f, e, f, 2.0 * b, d, e, d, 2.0 * c)
    if system.twist_axis is not None:
        S = S + (system.twist_axis * (0.5 * multipliers[6])).skew()
    return R @ S


def external_force(system: Rotation, t: Scalar, R: Mat3, omega: Vec3) -> Mat3:
    """Q: ½ m × d_i of the moments (84), and -∂U/∂q of the potential."""
    m = R @ system.load.moment(t, R, omega)
    R = jax.tree.map(jnp.asarray, R)
    gradient = jax.grad(lambda R: jnp.sum(jnp.asarray(system.load.energy(t, R), dtype=float)))(R)
    return m.skew() @ R * 0.5 - gradient


def _solved(
    system: Rotation,
    now: State,
    balance: Callable[[Mat3, tuple[Scalar, ...]], Mat3],
    h: Scalar,
    solver: Any,
) -> tuple[Quaternion, Mat3, Report]:
    """q₁ with balance(q₁, multipliers) = 0, h(q₁) = 0 and G(q_m)(q₁ - q₀) = 0."""
    R0 = now.attitude.matrix()
    guess = R0 + (R0 @ system.omega(now.momentum).skew()) * h
    zero = 0.0 * now.momentum.x
    count = 6 if system.twist_axis is None else 7

    def residual(unknowns: Unknowns) -> Any:
        R1, multipliers = unknowns
        rows = orthonormality(R1)
        if system.twist_axis is not None:
            Rm = (R0 + R1) * 0.5
            G = Rm @ (system.twist_axis * 0.5).skew()
            rows.append(sum(a * b for a, b in zip(G.entries, (R1 - R0).entries, strict=True)))
        return balance(R1, multipliers), tuple(rows)

    size = jnp.sqrt(3.0) + 0.0 * zero
    (R1, _), report = solver(residual, (guess, (zero,) * count), size)
    return Quaternion.from_matrix(R1), R1, report


@dataclass(frozen=True)
class FullEM(EM):
    """EM with all its unknowns, Gebhardt & Romero (92): the reference for `em`."""

    solver: Newton | FixedPoint | PlainNewton = field(default_factory=PlainNewton)
    name = "em-full"

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        now = self.begin(system, state)
        E, R0 = euler_inertia(system), now.attitude.matrix()
        V0 = R0 @ now.rates

        def balance(R1: Mat3, multipliers: tuple[Scalar, ...]) -> Mat3:
            Rm = (R0 + R1) * 0.5
            omega = axial(Rm.T @ (R1 - R0)) * (0.5 / h)
            inertial = columns_scaled(R1 - R0 - V0 * h, E) * (2.0 / h)
            return (
                inertial - external_force(system, t + h / 2, Rm, omega) * h + constraint_force(system, Rm, multipliers)
            )

        q1, R1, report = _solved(system, now, balance, h, self.solver)
        W1 = R1.T @ ((R1 - R0) * (2.0 / h) - V0)
        return Step(DirectorState(q1, axial(columns_scaled(W1, E)), W1), report)


@dataclass(frozen=True)
class FullDLA(DLA):
    """DLA with all its unknowns, Gebhardt & Romero (124): the reference for `dla`."""

    solver: Newton | FixedPoint | PlainNewton = field(default_factory=PlainNewton)
    name = "dla-full"

    def step(self, system: Rotation, state: State, t: Scalar, h: Scalar) -> Step:
        E, R0 = euler_inertia(system), state.attitude.matrix()
        # Half of the multipliers at the node belong to the step before; what they add to the
        # momentum is normal to the constraints, so the tangent momentum may stand for it.
        p0 = R0 @ columns_scaled(system.omega(state.momentum).skew(), E)

        def force(R1: Mat3) -> Mat3:
            Rm = (R0 + R1) * 0.5
            return external_force(system, t + h / 2, Rm, axial(Rm.T @ (R1 - R0)) * (0.5 / h)) * (h / 2)

        def balance(R1: Mat3, multipliers: tuple[Scalar, ...]) -> Mat3:
            moved = columns_scaled(R1 - R0, E) * (1.0 / h)
            return moved + constraint_force(system, R0, multipliers) - force(R1) - p0

        q1, R1, report = _solved(system, state, balance, h, self.solver)
        Pi1 = axial(R1.T @ (columns_scaled(R1 - R0, E) * (1.0 / h) + force(R1)))
        n = system.twist_axis
        return Step(State(q1, Pi1 if n is None else Pi1 - n * n.dot(Pi1)), report)
