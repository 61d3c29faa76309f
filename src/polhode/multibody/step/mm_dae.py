"""MM-DAE, (49), (50): the trapezoidal rule on the index-2 equations, with λ itself the multiplier."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import jax.numpy as jnp

from polhode.model.checks import InputError
from polhode.model.method import Step
from polhode.model.traits import Traits
from polhode.multibody.describe.state import State
from polhode.multibody.rows import assembly
from polhode.multibody.rows.momenta import carried, in_space, mass_inverse, momentum, motion, over_mass, pose, posed
from polhode.multibody.step.base import FieldState, MultibodyMethod
from polhode.multibody.system import System
from polhode.solve.dense_newton import DenseNewton


@dataclass(frozen=True)
class MMDAE(MultibodyMethod):
    """The trapezoidal rule on (Mϑ)' = f + Aᵀλ, ψ = 0: what the three-field method is compared with.

    `consistent`: λ_0 solves the equations of motion at the start; without it λ_0 = 0, and λ
    oscillates from step to step, undamped, as the paper's figures show. Rows that follow from others leave λ
    open, and are refused."""

    name: ClassVar[str] = "mm-dae"
    traits: ClassVar[Traits] = Traits(
        order=2, energy="bounded", spatial_momentum="drifts", joints="bounded", slip="exact", symmetric=True
    )
    consistent: bool = True
    solver: DenseNewton = field(default_factory=DenseNewton)

    def check(self, system: System) -> None:
        super().check(system)
        if system.redundant:
            names = ", ".join(system.row_names[i] for i in system.redundant)
            raise InputError(
                f"mm-dae needs constraints that do not follow from one another; and these follow from others: {names}. "
                "Take joints that hold less (one ball joint among the hinges of a plane loop), or use three-field"
            )

    def begin(self, system: System, state: State) -> FieldState:
        if isinstance(state, FieldState):
            return state
        nothing = jnp.zeros(system.rows)
        return FieldState.on(state, nothing, jnp.asarray(state.multipliers) if self.consistent else nothing)

    def step(self, system: System, state: State, t: Any, h: Any) -> Step:
        state = self.begin(system, state)
        N, n = system.size, 6 * system.size
        u, q = motion(state), pose(state)

        def push(q: Any, u: Any, lam: Any, t: Any) -> Any:
            A = assembly.rows(system, q, t)
            return in_space(q[1], assembly.forces(system, q, u, t) + jnp.einsum("kbi,k->bi", A, lam))

        before = in_space(q[1], momentum(system, u)) + 0.5 * h * push(q, u, jnp.asarray(state.lam), t)

        def place(x: Any) -> Any:
            return posed(carried(state, 0.5 * h * (u + x[:n].reshape(N, 6))))  # (27)

        per_mass = mass_inverse(system)

        def evaluate(x: Any, q_end: Any) -> tuple[Any, Any]:
            u_end, lam = x[:n].reshape(N, 6), x[n:]
            p_end = in_space(q_end[1], momentum(system, u_end))
            R_v = p_end - before - 0.5 * h * push(q_end, u_end, lam, t + h)  # (49)
            psi = assembly.psi(system, q_end, u_end, t + h)  # (50)
            R_b = in_space(jnp.swapaxes(q_end[1], -1, -2), R_v)
            size = jnp.sqrt(jnp.sum(R_b * over_mass(per_mass, R_b)) + jnp.sum(psi * psi))
            return jnp.concatenate([R_v.reshape(-1), psi]), size

        x, report = self.solver(evaluate, place, jnp.concatenate([u.reshape(-1), state.lam]))
        u_end, lam = x[:n].reshape(N, 6), x[n:]
        r, quaternions = carried(state, 0.5 * h * (u + u_end))
        half = 0.5 * (state.lam + lam)
        new = replace(
            state,
            positions=r,
            quaternions=quaternions,
            velocities=u_end[:, :3],
            omegas=u_end[:, 3:],
            multipliers=half,
            lam=lam,
        )
        return Step(new, report)
