"""The three-field step as its paper writes it: NM-ODE, (27), (28), (41), (44), (45).

What the paper leaves open is an option here: the directions c_R, the first μ, and the
coefficients c_RR and k_RR. The residual (44) changes when a constant is added to μ although
the equations of motion do not, so its results depend on these choices; `ThreeField` does not.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp

from polhode.model.method import Step
from polhode.model.traits import Traits
from polhode.multibody.describe.state import State
from polhode.multibody.rows import assembly
from polhode.multibody.rows.momenta import carried, in_space, mass_inverse, momentum, motion, over_mass, pose, posed
from polhode.multibody.step.base import FieldState, MultibodyMethod
from polhode.multibody.system import System
from polhode.solve.dense_newton import DenseNewton


@dataclass(frozen=True)
class ThreeFieldLiteral(MultibodyMethod):
    """The three-field step as written, with μ⁺ as an unknown.

    `c`: "metric", c_R = M⁻¹aᵀ/(a M⁻¹aᵀ), or "translation", the part of aᵀ on translations (on
    rotations where it has none), scaled to a·c = 1. `mu_0`: "zero", or "velocity",
    μ_0 = cᵀMϑ/m_RR. `c_RR`, `k_RR`: the coefficients of (10), (11), the latter on holonomic rows; both are
    zero by the paper's formulas where gravity is the only force."""

    name: ClassVar[str] = "three-field-literal"
    traits: ClassVar[Traits] = Traits(
        order=2, energy="drifts", spatial_momentum="drifts", joints="drifts", slip="exact", symmetric=True
    )
    c: Literal["metric", "translation"] = "translation"
    mu_0: Literal["zero", "velocity"] = "velocity"
    c_RR: float = 0.0  # noqa: N815
    k_RR: float = 0.0  # noqa: N815
    solver: DenseNewton = field(default_factory=DenseNewton)

    def begin(self, system: System, state: State) -> FieldState:
        if isinstance(state, FieldState):
            return state
        nothing = jnp.zeros(system.rows)
        if self.mu_0 == "zero":
            return FieldState.on(state, nothing, nothing)
        _, _, C, m = self._fields(system, pose(state), 0.0)
        return FieldState.on(state, jnp.einsum("kbi,bi->k", C, momentum(system, motion(state))) / m, nothing)

    def step(self, system: System, state: State, t: Any, h: Any) -> Step:
        state = self.begin(system, state)
        N, n = system.size, 6 * system.size
        u, q = motion(state), pose(state)
        G, F, R_psi, R_rate = self._sides(system, q, u, jnp.asarray(state.mu), jnp.asarray(state.lam), t)

        def place(x: Any) -> Any:
            return posed(carried(state, 0.5 * h * (u + x[:n].reshape(N, 6))))  # (27)

        per_mass = mass_inverse(system)

        def evaluate(x: Any, q_end: Any) -> tuple[Any, Any]:
            u_end, mu = x[:n].reshape(N, 6), x[n:]
            lam = state.lam + 0.5 * h * (state.mu + mu)  # (28)
            G_end, F_end, end_psi, end_rate = self._sides(system, q_end, u_end, mu, lam, t + h)
            R_v = G_end - G - 0.5 * h * (F + F_end)  # (44)
            R_mu = end_psi - R_psi + 0.5 * h * (R_rate + end_rate)  # (45)
            _, _, _, m = self._fields(system, q_end, t + h)
            R_b = in_space(jnp.swapaxes(q_end[1], -1, -2), R_v)
            R_T = jnp.sum(R_b * over_mass(per_mass, R_b)) + jnp.sum(R_mu * R_mu / m)  # (47)
            R_C = jnp.sum(end_psi * end_psi / m)  # (48): ψᵀM̄ψ, from M̄ψ
            return jnp.concatenate([R_v.reshape(-1), R_mu]), jnp.sqrt(jnp.maximum(R_T, R_C))

        x, report = self.solver(evaluate, place, jnp.concatenate([u.reshape(-1), state.mu]))
        u_end, mu = x[:n].reshape(N, 6), x[n:]
        r, quaternions = carried(state, 0.5 * h * (u + u_end))
        _, f, C, m = self._fields(system, place(x), t + h)
        _, f_0, C_0, m_0 = self._fields(system, q, t)
        fbar = 0.5 * (jnp.einsum("kbi,bi->k", C, f) + jnp.einsum("kbi,bi->k", C_0, f_0))
        return Step(
            replace(
                state,
                positions=r,
                quaternions=quaternions,
                velocities=u_end[:, :3],
                omegas=u_end[:, 3:],
                multipliers=(m * mu - m_0 * state.mu) / h - fbar,  # (M̄μ)' - f̄, the classical multiplier
                mu=mu,
                lam=state.lam + 0.5 * h * (state.mu + mu),
            ),
            report,
        )

    def _fields(self, system: System, q: Any, t: Any, u: Any = None) -> tuple[Any, Any, Any, Any]:
        """A and f in body axes, c_R (k, N, 6) and m_RR = cᵀMc: (9)."""
        A = assembly.rows(system, q, t)
        f = assembly.forces(system, q, jnp.zeros((system.size, 6)) if u is None else u, t)
        if self.c == "metric":
            C = over_mass(mass_inverse(system), A)
        else:
            moves = jnp.sum(A[..., :3] ** 2, axis=(1, 2), keepdims=True) > 1e-20
            C = A * jnp.concatenate([jnp.where(moves, 1.0, 0.0)] * 3 + [jnp.where(moves, 0.0, 1.0)] * 3, axis=-1)
        C = C / jnp.einsum("kbi,kbi->k", A, C)[:, None, None]
        return A, f, C, jnp.einsum("kbi,kbi->k", C, jax.vmap(lambda c: momentum(system, c))(C))

    def _sides(self, system: System, q: Any, u: Any, mu: Any, lam: Any, t: Any) -> tuple[Any, Any, Any, Any]:
        """G and F of (41), M̄ψ and C̄ψ + K̄φ of (45)."""
        A, f, C, m = self._fields(system, q, t, u)
        holonomic = jnp.array(system.holonomic, dtype=bool)
        K = jnp.where(holonomic, self.k_RR, 0.0)
        P = m * mu
        A_space = in_space(q[1], A)

        def rows_along(e: Any) -> Any:
            moved = assembly.moved(q, e * u)
            return in_space(moved[1], assembly.rows(system, moved, t + e))

        A_rate = jax.jvp(rows_along, (jnp.asarray(0.0),), (jnp.asarray(1.0),))[1]  # 𝒜Bᵀ = (A_s)'ᵀ, (17), (26)
        fbar = jnp.einsum("kbi,bi->k", C, f)
        G = in_space(q[1], momentum(system, u)) - jnp.einsum("kbi,k->bi", A_space, P)
        F = (
            in_space(q[1], f)
            + jnp.einsum("kbi,k->bi", A_space, self.c_RR * mu + K * lam - fbar)
            - jnp.einsum("kbi,k->bi", A_rate, P)
        )
        psi = assembly.psi(system, q, u, t)
        return G, F, m * psi, self.c_RR * psi + K * assembly.phi(system, q, t)
