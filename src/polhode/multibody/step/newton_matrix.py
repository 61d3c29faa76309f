"""The matrix of Newton's method for the equations of a step, at its guess, in dense blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from polhode.algebra.arrays import product, skew, turn
from polhode.algebra.dense import inverse, matmul
from polhode.multibody.rows import assembly
from polhode.multibody.rows.gathering import by_bodies, by_row_and_body
from polhode.multibody.rows.momenta import carried, in_space, momentum, over_mass, posed
from polhode.multibody.step.blocks import carried_by, carry_of, diagonal, masses, rotations
from polhode.multibody.step.convergence import Convergence
from polhode.multibody.step.slender import half_way

_PROXIMAL = 1e-3  # of the diagonal, added to it where rows follow from others
_REFINED = 2
_ASIDE = 1e-4


class NewtonMatrix(Convergence):
    """Of `Equations`, which derive from it."""

    state: Any
    t: Any
    kappa: Any
    A_space: Any  # rows at the start, in space axes
    slender: Any
    thick: Any
    rows: Callable[[Any, Any], Any]
    loose: Callable[[Any], Any]

    def correction(self, *, frozen: bool = False) -> Callable[[Any], Any]:
        """J⁻¹ at the guess, as a function of the residual. With ϑ⁺ and q⁺ = q + h w as they depend on
        (ϑ⁺, Λ, Γ): w = (ϑ + ϑ⁺)/2 + M⁻¹AᵀΓ. Terms of the size of Γ are left out of it; `frozen` leaves out
        all that q⁺ brings, but in φ⁺."""
        s, h, t = self.system, self.h, self.t
        N, k = s.size, s.rows
        n = 6 * N
        w, Lam, _, u_end, _ = self.guess()
        end = posed(carried(self.state, h * w))
        A_end = self.rows(end, t + h)
        A, loose = 0.5 * (self.A + A_end), self.loose(A_end)
        # Momentum is balanced in the axes half-way, where M is nearly all of its derivative; what is derived at the
        # end is turned there, and along loose axes taken as the body sees it.
        back = jnp.swapaxes(posed(carried(self.state, 0.5 * h * w))[1], -1, -2)
        Q = product(back, end[1])
        turned, to_end = in_space(back, self.A_space), jnp.swapaxes(Q, -1, -2)
        A_force = 0.5 * (half_way(loose, Q, in_space(to_end, turned) + A_end, 2.0 * A)).reshape(k, n)

        def balanced(slopes: Any, of_body: Any) -> Any:
            """(6N, m) of the end, half-way."""
            parts = (x.T.reshape(-1, N, 6) for x in (slopes, of_body))
            return half_way(loose, Q, *parts).reshape(-1, n).T

        by_q, by_u = self._force_slopes(end, u_end)
        carry = carry_of(h * w)
        K_q, D_q = jnp.zeros((n, n)), jnp.zeros((k, n))
        if not frozen:
            wrench, rate = self._row_slopes(end, u_end, Lam)
            gyro = rotations(-skew(momentum(s, u_end)[:, 3:]))  # of R⁺JΩ⁺, seen from R⁺
            body = wrench + rotations(skew(self.pull(A_end, Lam)[:, 3:]))  # of torques, seen by the body
            K_q = balanced(
                *(
                    h * carried_by(carry, x, N)
                    for x in (gyro - 0.5 * wrench - 0.5 * h * by_q, -0.5 * body - 0.5 * h * by_q)
                )
            )
            D_q = h * carried_by(carry, rate.reshape(k, n), N)
        D_phi = carried_by(carry, A_end.reshape(k, n)[self.hol], N)
        K_u = diagonal(masses(s)) - 0.5 * h * by_u
        D = A_end.reshape(k, n) + 0.5 * D_q
        if not self.both and len(self.hol):
            D = D.at[self.hol].add(0.5 * h * self.kappa * D_phi)
        held = 0.0
        if self.slender is not None:
            E = self._held(A_force).T
            held = matmul(E, D)
        K = inverse(balanced(K_u, K_u) + 0.5 * K_q + held)
        KA = matmul(K, A_force.T)
        over_S = self._over(matmul(D, KA))

        def inner(a: Any, b: Any) -> tuple[Any, Any]:
            """(δϑ⁺, δΛ) with K⁻¹δϑ⁺ - AᵀδΛ = a + Eb, Dδϑ⁺ = b."""
            Ka = K @ (a if self.slender is None else a + E @ b)
            dLam = over_S(b - D @ Ka)
            return Ka + KA @ dLam, dLam

        if self.both:
            MA = over_mass(self.per_mass, A[self.hol]).reshape(-1, n).T
            over_S_phi = self._over(matmul(D_phi, MA))

        def solve(residual: Any) -> Any:
            balance, psi, phi, off, idle = residual
            a = balance.reshape(n)
            du, dLam = inner(a, psi)
            if not self.both:
                return 0.5 * du.reshape(N, 6), dLam, jnp.zeros(0), off + du.reshape(N, 6), idle
            # φ⁺ sees half of δϑ⁺, which the shift M⁻¹AᵀδΓ changes in its turn, by a part of order h.
            for _ in range(2):
                dGam = over_S_phi(phi - 0.5 * (D_phi @ du))
                shift = MA @ dGam
                du, dLam = inner(a - K_q @ shift, psi - D_q @ shift)
            return (0.5 * du + shift).reshape(N, 6), dLam, dGam, off + du.reshape(N, 6), idle

        return solve

    def _held(self, A: Any) -> Any:
        """(k, 6N): so many times each row is added to the balance of momentum, which then has something to stand on
        along a slender axis that rows hold. Its solution is the same."""
        turns = A.reshape(-1, self.system.size, 6)[..., 3:]
        along = turn(self.slender, turns)
        size = jnp.sum(along * along + _ASIDE * turns * turns, axis=(-1, -2)) + 1e-300
        torques = turn(self.thick, along) / size[:, None, None]
        return jnp.pad(torques, ((0, 0), (0, 0), (3, 0))).reshape(A.shape)

    def _over(self, S: Any) -> Callable[[Any], Any]:
        """S⁻¹ as a function. Where rows follow from others, S is singular: then by proximal iteration (Carpentier,
        Budhiraja & Mansard 2021), which leaves alone what no multiplier can change."""
        if not self.system.redundant:
            inverted = inverse(S)
            return lambda b: inverted @ b
        lifted = inverse(S + _PROXIMAL * jnp.diag(jnp.diag(S)))

        def nearly(b: Any) -> Any:
            """Twice, with S between: what rows disagree by, for this one matrix, does not pile up in multipliers that
            pull nothing."""
            return lifted @ (S @ (lifted @ b))

        def solve(b: Any) -> Any:
            x = nearly(b)
            for _ in range(_REFINED):
                x = x + nearly(b - S @ x)
            return x

        return solve

    def _force_slopes(self, end: Any, u: Any) -> tuple[Any, Any]:
        """∂f/∂q and ∂f/∂ϑ at the end, (6N, 6N), in body axes."""
        s, t, n = self.system, self.t + self.h, 6 * self.system.size
        if all(f.constant for f in s.forces):
            return 0.0, 0.0
        back = jnp.swapaxes(end[1], -1, -2)

        def f(d: Any, u: Any) -> Any:
            q = assembly.moved(end, d)
            return in_space(back, in_space(q[1], assembly.forces(s, q, u, t)))

        by_q, by_u = jax.jacfwd(f, argnums=(0, 1))(jnp.zeros_like(u), u)
        return by_q.reshape(n, n), by_u.reshape(n, n)

    def _row_slopes(self, end: Any, u: Any, Lam: Any) -> tuple[Any, Any]:
        """∂(AᵀΛ)/∂q, (6N, 6N), on the axes of the bodies at the end, and ∂ψ/∂q, (k, N, 6), at the end."""
        s = self.system
        if not s.groups:
            return 0.0, jnp.zeros((0, s.size, 6))
        t = self.t + self.h
        wrench = by_bodies(s, [g.wrench_slope(end, u, t, Lam[g.rows]) for g in s.groups])
        return wrench, by_row_and_body(s, [g.psi_slope(end, u, t) for g in s.groups])
