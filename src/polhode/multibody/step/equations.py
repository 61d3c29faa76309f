"""The equations of a three-field step: residual, matrix, correction.

Unknowns: the mean velocity w that carries the bodies, r⁺ = r + h w and R⁺ = R exp(h w); the
step impulse Λ of every row; and Γ of the holonomic ones, by which w differs from the mean of
the end velocities, ϑ⁺ = 2(w - M⁻¹AᵀΓ) - ϑ with A half-way. Equations, with 𝒜 = diag(1, R):

    𝒜⁺Mϑ⁺ - 𝒜Mϑ = ĀᵀΛ - h ∂(Γ·Aϑ̄)/∂q + h f̄         (44), summed by parts
    ψ⁺ = 0 on every row                               (45), at the end of the step
    φ⁺ = 0 on holonomic rows

The motion from q to q⁺ is a uniform screw, so velocities in space axes are the constant w
along it. Ā and f̄ are means along that path (Simpson's rule), which makes Āw the true
increment of φ and f̄·w that of the potential: the step keeps energy to order h⁴. Rows of ψ
are not the increment of anything; theirs are means of the two ends (which follow a sphere
in a cylinder five times as closely as means along the path). In a part of the system that floats, rows
and the forces within it act as they are half-way, where their torques add up to nothing about the mean of the two
ends: both momenta of the part are exact, and a body that is pulled at its centre is not turned. What
work the rows then still do, and in a part that floats what the forces within miss of their potential, is taken off
along the momentum, in each part that is held or rolls, and along the momentum within a part that floats. That makes
energy under gravity exact, and that of what floats but where hardly anything moves within. Each term reads the same
from the other end of the step: it is symmetric in time.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import compress
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from polhode.algebra.arrays import cross, dot, skew, turn, turn_back
from polhode.algebra.dense import inverse, matmul
from polhode.algebra.scalars import stumpff
from polhode.multibody.describe.state import State
from polhode.multibody.rows import assembly
from polhode.multibody.rows.derivatives import Placed, of_each
from polhode.multibody.rows.floating import Parts
from polhode.multibody.rows.gathering import by_bodies, by_body, by_row_and_body, rows_of
from polhode.multibody.rows.momenta import (
    carried,
    extent,
    gyration,
    in_space,
    mass_inverse,
    momentum,
    motion,
    over_mass,
    pose,
    posed,
)
from polhode.multibody.step.blocks import carried_by, carry_of, diagonal, masses, rotations
from polhode.multibody.step.scaled_equations import Scaled
from polhode.multibody.system import System

# What is about to stop has no direction of motion, and neither has a part afloat whose bodies hardly move within it.
# The correction that uses this direction fades where the kinetic energy along it is not many times the work to mend,
# and below this part of all its kinetic energy, where round-off in the work would decide.
_SLOW = 10.0
_STIFF = 1e-6
# A body afloat is turned by it only where torques, by the energy that they would give it, are more than this part
# of what forces do.
_UNTURNED = 1e-6

_PROXIMAL = 1e-3  # of the diagonal, added to it where rows follow from others
_REFINED = 2
_ROUND_OFF = 1e-15


class Equations:
    """Of one step from `state` at t to t + h. `both`: φ and ψ of holonomic rows hold at the end, by Γ;
    else ψ + κφ does. `conserving`: means along the path; else of the two ends."""

    # Of the largest position over the step: round-off leaves ε|r|/h of a velocity, which `_idle` magnifies, some
    # hundred times, where a system moves slower than gravity would make it in a step. Corrections that no longer
    # fall are taken for round-off below 1e-10 of their scale (`Chord`).
    round_off: ClassVar[float] = 1e-3

    def __init__(
        self, system: System, state: State, t: Any, h: Any, *, both: bool, kappa: Any, conserving: bool
    ) -> None:
        self.system, self.state, self.t, self.h = system, state, t, h
        self.kappa, self.conserving = kappa, conserving
        self.hol = system.holonomic_rows
        self.both = both and len(self.hol) > 0
        self.per_mass = mass_inverse(system)
        self.u, self.q = motion(state), pose(state)
        self.A = self.rows(self.q, t)
        self.A_space = self.turned(self.q[1], self.A)
        self.parts = Parts(system)
        self.outer = tuple(not i for i in self.parts.internal) if conserving else None
        # Rows taken as means along the path, by Simpson's rule, and those taken half-way.
        floats = self.parts.rows[len(self.parts.bodies) - len(self.parts.afloat) :].any(axis=0)
        closes = np.array(system.holonomic, dtype=bool)
        self.along_path, self.half_way = closes & ~floats, closes & floats
        self.f = in_space(self.q[1], assembly.forces(system, self.q, self.u, t, self.outer))
        self.p = in_space(self.q[1], momentum(system, self.u))

    def rows(self, q: Any, t: Any) -> Any:
        return assembly.rows(self.system, q, t)

    # What is done with rows; all else is the same however they are stored (see `sparse_equations`).

    def turned(self, R: Any, A: Any) -> Any:
        """A, its rotations turned by R."""
        return in_space(R, A)

    def pull(self, A: Any, Lam: Any) -> Any:
        """AᵀΛ, (N, 6)."""
        return jnp.einsum("kbi,k->bi", A, Lam)

    def apart(self, A: Any) -> tuple[Any, Any]:
        """Rows of two moments."""
        return A[0], A[1]

    def along(self, A: Any, u: Any) -> Any:
        """Aϑ, (k,)."""
        return jnp.einsum("kbi,bi->k", A, u)

    def row_mass(self, q: Any, t: Any, u: Any) -> tuple[Any, Any]:
        """m_RR = 1/(a M⁻¹aᵀ) and f̄_R = m_RR a M⁻¹f of every row, (9)-(11) with c = M⁻¹aᵀ/(a M⁻¹aᵀ)."""
        A = assembly.rows(self.system, q, t)
        MA = over_mass(self.per_mass, A)
        m = 1.0 / jnp.einsum("kbi,kbi->k", A, MA)
        return m, m * jnp.einsum("kbi,bi->k", MA, assembly.forces(self.system, q, u, t))

    def guess(self) -> Any:
        """x = (w, Λ, Γ, ϑ⁺), by half an explicit step with the multipliers of the step before. ϑ⁺ follows from
        the others; it is there to be had at the end."""
        s, h = self.system, self.h
        Lam = h * jnp.asarray(self.state.multipliers)
        push = self.pull(self.A, Lam) + h * jnp.concatenate(
            [self.f[:, :3], turn_back(self.q[1], self.f[:, 3:])], axis=-1
        )
        Pi, Omega = momentum(s, self.u)[:, 3:], self.u[:, 3:]
        push = push + jnp.concatenate([jnp.zeros_like(Pi), h * cross(Pi, Omega)], axis=-1)
        w = self.u + 0.5 * over_mass(self.per_mass, push)
        return w, Lam, jnp.zeros(len(self.hol) if self.both else 0), 2.0 * w - self.u

    def closing_pull(self, A: Any, Gam: Any, w: Any) -> Any:
        """AᵀΓ, (N, 6), of A half-way; its torques over sin(θ/2)/(θ/2), θ the angle that w turns a body by.

        Half-way axes turn by θ/2 to either end, and the balance of momentum holds h w × (torque of Γ) times this
        sine. The slope of Γ holds the same without it, and the two must cancel: a torque with no component along the
        axis of a rod then leaves the momentum along it alone."""
        if not self.both:
            return jnp.zeros_like(w)
        pull = self.pull(A, self._among(Gam))
        half = 0.5 * self.h * w[:, 3:]
        return jnp.concatenate([pull[:, :3], pull[:, 3:] / stumpff(1, dot(half, half))[:, None]], axis=-1)

    def end_velocity(self, w: Any, pull: Any) -> Any:
        """ϑ⁺ = 2(w - M⁻¹AᵀΓ) - ϑ."""
        return 2.0 * (w - over_mass(self.per_mass, pull)) - self.u

    def _among(self, Gam: Any) -> Any:
        """Γ among all rows, 0 on those that are not holonomic. By gathering: a scatter cannot be part of a native
        loop."""
        place = np.zeros(self.system.rows, dtype=int)
        place[self.hol] = 1 + np.arange(len(self.hol))
        return jnp.pad(Gam, (1, 0))[place]

    def residual(self, x: Any) -> Any:
        """(momentum in space axes (N, 6), ψ⁺ (k,), φ⁺/h, what ϑ⁺ of x is off)."""
        s, h, t = self.system, self.h, self.t
        w, Lam, Gam, u = x
        r, R = posed(carried(self.state, jnp.stack([0.5 * h * w, h * w])))
        mid, end = (r[0], R[0]), (r[1], R[1])
        # Rows half-way and at the end by the same code, once.
        A_mid, A_end = self.apart(jax.vmap(lambda r, R, t: self.rows((r, R), t))(r, R, t + h * jnp.array([0.5, 1.0])))
        pull = self.closing_pull(A_mid, Gam, w)
        ends, path = 0.5 * Lam, 0.0 * Lam  # the parts of Λ that go with A at each end and half-way
        if self.conserving:
            ends = jnp.where(self.along_path, Lam / 6.0, jnp.where(self.half_way, 0.0, ends))
            path = jnp.where(self.along_path, Lam / 1.5, jnp.where(self.half_way, Lam, path))
        u_end = self.end_velocity(w, pull)
        f_end = in_space(end[1], assembly.forces(s, end, u_end, t + h, self.outer))
        impulse = self.pull(self.A_space, ends) + in_space(end[1], self.pull(A_end, ends))
        if self.conserving:
            mean = 0.5 * (self.u + u_end)
            f_mid = in_space(mid[1], assembly.forces(s, mid, mean, t + 0.5 * h, self.outer))
            f = (self.f + 4.0 * f_mid + f_end) / 6.0
            along = self.pull(A_mid, path)
            if self.both:
                along = along - h * self._slope(mid, mean, Gam)
            if any(self.parts.internal):
                along = along + h * assembly.forces(s, mid, mean, t + 0.5 * h, self.parts.internal)
            impulse = impulse + in_space(mid[1], along)
            impulse = impulse - self._idle(impulse, x, u_end, mid, end, pull)
        else:
            f = 0.5 * (self.f + f_end)
        balance = in_space(end[1], momentum(s, u_end)) - self.p - impulse - h * f
        psi = self.along(A_end, u_end) + assembly.drift(s, end, t + h)
        phi = assembly.phi(s, end, t + h)[self.hol]
        if not self.both and len(self.hol):
            psi = psi.at[self.hol].add(self.kappa * phi)
        return balance, psi, phi / h, u - u_end

    def _idle(self, impulse: Any, x: Any, u_end: Any, mid: Any, end: Any, pull: Any) -> Any:
        """What to take off the impulse of the rows so that they do no work but that of drives: a part of
        the momentum, in each part of the system; where it floats, of the momentum within. The kinetic energy
        grows by w·(impulse) - Γ·A(ϑ⁺ - ϑ); drives bring -Λ·(∂ψ/∂t)."""
        bodies = self.parts.bodies
        if not len(bodies):
            return 0.0
        w, Lam = x[:2]
        w_space, p_space = in_space(mid[1], w), in_space(mid[1], momentum(self.system, w))
        # Summed by bodies, as all bodies of a row are in one part.
        work = bodies @ jnp.sum(impulse * w_space - pull * (u_end - self.u), axis=-1)
        drift = assembly.drift(self.system, mid, self.t + 0.5 * self.h)
        work = work + self.parts.rows @ (Lam * drift)
        if any(self.parts.internal):
            work = work + self._gained(mid, 0.5 * (self.u + u_end), w, end, u_end)
        whole = bodies @ jnp.sum(p_space * w_space, axis=-1)
        if len(self.parts.afloat):
            # A body that nothing turns is left alone.
            push = in_space(jnp.swapaxes(mid[1], -1, -2), impulse)
            gain = push * over_mass(self.per_mass, push)
            moved, turned = jnp.sum(gain[:, :3], axis=-1), jnp.sum(gain[:, 3:], axis=-1)
            turns = turned / (turned + _UNTURNED * moved + 1e-300)
            p_space = self.parts.within(self.system, mid, p_space, turns)
        kinetic = bodies @ jnp.sum(p_space * w_space, axis=-1)
        faded = kinetic / (kinetic**2 + (_SLOW * work) ** 2 + (_STIFF * whole) ** 2 + 1e-300)
        return (bodies.T @ (work * faded))[:, None] * p_space

    def _gained(self, mid: Any, mean: Any, w: Any, end: Any, u_end: Any) -> Any:
        """What the potentials within each part gain in the step; and the work of what has none, off it."""
        s, h, t = self.system, self.h, self.t + 0.5 * self.h  # what a potential gains with time is no work
        total = jnp.zeros(len(self.parts.bodies))
        for f in compress(s.forces, self.parts.internal):
            if f.conservative:
                gain = f.energy(s.seen(end, u_end, t)) - f.energy(s.seen(self.q, self.u, t))
            else:
                at = [s.names.index(body) for body in f.bodies]
                loads = zip(at, f.loads(s.seen(mid, mean, t)), strict=True)
                gain = -h * sum(dot(push, w[i, :3]) + dot(twist, w[i, 3:]) for i, (push, twist) in loads)
            total = total + self.parts.bodies[:, s.names.index(f.bodies[0])] * gain
        return total

    def _slope(self, mid: Any, mean: Any, Gam: Any) -> Any:
        """∂(Γ·Aϑ̄)/∂q half-way, (N, 6), body axes."""
        s, t = self.system, self.t + 0.5 * self.h
        Gam = self._among(Gam)
        here = [Gam[rows_of(g)[:, : g.kind.holonomic]] for g in s.groups]
        slopes = [of_each(g, Placed.rate_slope, mid, mean, t, G) for g, G in zip(s.groups, here, strict=True)]
        return by_body(s, slopes)

    def correction(self, *, frozen: bool = False) -> Callable[[Any], Any]:
        """J⁻¹ at the guess, as a function of the residual. With ϑ⁺ and q⁺ = q + h w as they depend on
        (ϑ⁺, Λ, Γ): w = (ϑ + ϑ⁺)/2 + M⁻¹AᵀΓ. Terms of the size of Γ are left out of it; `frozen` leaves out
        all that q⁺ brings, but in φ⁺."""
        s, h, t = self.system, self.h, self.t
        N, k = s.size, s.rows
        n = 6 * N
        w, _, _, u_end = self.guess()
        end = posed(carried(self.state, h * w))
        A_end = self.rows(end, t + h)
        A = 0.5 * (self.A + A_end)
        # Momentum is balanced in the body axes of the end here, where M is nearly all of its derivative.
        back = jnp.swapaxes(end[1], -1, -2)
        A_force = 0.5 * (in_space(back, self.A_space) + A_end).reshape(k, n)
        by_q, by_u = self._force_slopes(end, u_end)
        carry = carry_of(h * w)
        K_q, D_q = jnp.zeros((n, n)), jnp.zeros((k, n))
        if not frozen:
            wrench, rate = self._row_slopes(end, u_end, h * jnp.asarray(self.state.multipliers))
            gyro = rotations(-skew(momentum(s, u_end)[:, 3:]))  # of R⁺JΩ⁺, seen from R⁺
            K_q = h * carried_by(carry, gyro - 0.5 * wrench - 0.5 * h * by_q, N)
            D_q = h * carried_by(carry, rate.reshape(k, n), N)
        D_phi = carried_by(carry, A_end.reshape(k, n)[self.hol], N)
        K = inverse(diagonal(masses(s)) - 0.5 * h * by_u + 0.5 * K_q)
        D = A_end.reshape(k, n) + 0.5 * D_q
        if not self.both and len(self.hol):
            D = D.at[self.hol].add(0.5 * h * self.kappa * D_phi)
        KA = matmul(K, A_force.T)
        over_S = self._over(matmul(D, KA))

        def inner(a: Any, b: Any) -> tuple[Any, Any]:
            """(δϑ⁺, δΛ) with K⁻¹δϑ⁺ - AᵀδΛ = a, Dδϑ⁺ = b."""
            Ka = K @ a
            dLam = over_S(b - D @ Ka)
            return Ka + KA @ dLam, dLam

        if self.both:
            MA = over_mass(self.per_mass, A[self.hol]).reshape(-1, n).T
            over_S_phi = self._over(matmul(D_phi, MA))

        def solve(residual: Any) -> Any:
            balance, psi, phi, off = residual
            a = in_space(back, balance).reshape(n)
            du, dLam = inner(a, psi)
            if not self.both:
                return 0.5 * du.reshape(N, 6), dLam, jnp.zeros(0), off + du.reshape(N, 6)
            # φ⁺ sees half of δϑ⁺, which the shift M⁻¹AᵀδΓ changes in its turn, by a part of order h.
            for _ in range(2):
                dGam = over_S_phi(phi - 0.5 * (D_phi @ du))
                shift = MA @ dGam
                du, dLam = inner(a - K_q @ shift, psi - D_q @ shift)
            return (0.5 * du + shift).reshape(N, 6), dLam, dGam, off + du.reshape(N, 6)

        return solve

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
        here = [Lam[rows_of(g)] for g in s.groups]
        wrench = by_bodies(
            s, [of_each(g, Placed.wrench_slope, end, u, t, L) for g, L in zip(s.groups, here, strict=True)]
        )
        return wrench, by_row_and_body(s, [of_each(g, Placed.psi_slope, end, u, t) for g in s.groups])

    def scaled(self) -> Scaled:
        """The same in units of kinetic energy."""
        return Scaled(self)

    def norm(self, residual: Any) -> Any:
        """Of what is left of the equations, (47) and (48): of momentum in the metric of kinetic energy, and of rows."""
        balance, psi, phi, off = residual
        b = in_space(jnp.swapaxes(self.q[1], -1, -2), balance)
        rows = jnp.sum(psi * psi) + jnp.sum(phi * phi) + jnp.sum(off * off)
        return jnp.sqrt(jnp.sum(b * over_mass(self.per_mass, b)) + rows)

    def measure(self) -> Callable[[Any, Any], Any]:
        """The size of a correction and of the residual that it answers, as a function: the largest change of a
        velocity relative to the largest velocity, and the largest opening of a row relative to the speed of what it
        holds. Lengths and angles each by their own scale; angular velocities by the momentum they carry, as the spin
        of a thin rod about itself is known to round-off in momentum only."""
        J = jnp.asarray(self.system.inertias)
        trace = J[:, 0, 0] + J[:, 1, 1] + J[:, 2, 2]
        speed, turning = self.speeds()
        rows = self.span(speed, turning) + 1e-300
        # Round-off in the impulses on a body leaves this much of its velocity, and of the rows that hold it.
        kick = _ROUND_OFF * self.reach(jnp.abs(self.guess()[1]))
        moves, turns = _norms(kick[:, :3]) / self.system.masses, _norms(kick[:, 3:]) / trace
        opens = self.span(moves, turns)

        def over(x: Any, noise: Any, scale: Any) -> Any:
            return jnp.maximum(x - noise, 0.0) / scale

        def size(d: Any, residual: Any) -> Any:
            moved = over(_norms(d[0][:, :3]), moves, speed)
            turned = over(_norms(turn(J, d[0][:, 3:])) / trace, turns, turning)
            each = [moved, turned, over(jnp.abs(residual[1]), opens, rows)]
            if self.both:  # else φ⁺ is not among the equations, or within ψ⁺
                each.append(over(jnp.abs(residual[2]), opens[self.hol], rows[self.hol]))
            every = jnp.concatenate(each)
            # Corrections that are not finite must be seen.
            return jnp.max(jnp.where(jnp.isnan(every), jnp.inf, every)) + 0.0 * jnp.sum(d[0])

        return size

    def disagreement(self) -> Callable[[Any], Any]:
        """How far rows are open, relative to the speed and the size of what they hold, as a function of a residual."""
        speed, turning = self.speeds()
        size_of = extent(self.system, self.q[0]) * jnp.ones_like(speed)
        rows, lengths = self.span(speed, turning) + 1e-300, self.span(size_of, jnp.ones_like(speed)) + 1e-300

        def size(residual: Any) -> Any:
            _, psi, phi = residual
            each = [jnp.abs(psi) / rows]
            if self.both:
                each.append(jnp.abs(self.h * phi) / lengths[self.hol])
            return jnp.max(jnp.concatenate(each), initial=0.0)

        return size

    def speeds(self) -> tuple[Any, Any]:
        """What velocities and angular velocities are compared with, (N,) each: the largest; what is slow, with what
        round-off in positions leaves of a velocity."""
        w = self.guess()[0]
        fastest = [jnp.max(jnp.maximum(_norms(self.u[:, i]), _norms(w[:, i]))) for i in (np.s_[:3], np.s_[3:])]
        left, size = self.round_off / jnp.abs(self.h), gyration(self.system)
        speed = fastest[0] + size * fastest[1] + left * (jnp.max(_norms(self.q[0])) + size)
        turning = fastest[1] + fastest[0] / extent(self.system, self.q[0]) + left
        one = jnp.ones(self.system.size)
        return speed * one, turning * one

    def reach(self, Lam: Any) -> Any:
        """|A|ᵀΛ, (N, 6)."""
        return self.pull(jax.tree.map(jnp.abs, self.A), Lam)

    def span(self, speed: Any, turning: Any) -> Any:
        """|A|ϑ of such speeds in every direction, (k,)."""
        ones = jnp.ones(3)
        return self.along(
            jax.tree.map(jnp.abs, self.A), jnp.concatenate([speed[:, None] * ones, turning[:, None] * ones], axis=-1)
        )


def _norms(v: Any) -> Any:
    return jnp.sqrt(dot(v, v))
