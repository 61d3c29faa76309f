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
and the forces within it act as they are half-way, so that a body that is pulled at its centre is not turned; what they
still change of the momenta of the part, as joints gape there, is taken off it as off one rigid body. Along the axis of
a slender body the balance is one that leaves its spin alone (see `slender`). What
work the rows then still do, and in a part that floats what the forces within miss of their potential, is taken off
along the momentum, in each part that is held or rolls, and along the momentum within a part that floats. That makes
energy under gravity exact, and that of what floats but where hardly anything moves within. Each term reads the same
from the other end of the step: it is symmetric in time.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from polhode.algebra.arrays import cross, dot, inverse3, turn, turn_back
from polhode.algebra.scalars import stumpff
from polhode.multibody.describe.state import State
from polhode.multibody.rows import assembly
from polhode.multibody.rows.floating import Parts
from polhode.multibody.rows.gathering import by_body
from polhode.multibody.rows.momenta import (
    as_torques,
    carried,
    in_space,
    mass_inverse,
    momentum,
    motion,
    over_mass,
    pose,
    posed,
)
from polhode.multibody.step.idle_rows import IdleRows
from polhode.multibody.step.newton_matrix import NewtonMatrix
from polhode.multibody.step.scaled_equations import Scaled
from polhode.multibody.step.slender import along, loose, slenderness, spin_kept, thickened
from polhode.multibody.system import System


def inverses(x: Any) -> Any:
    """1/x, and 0 of a row that holds nothing."""
    return jnp.where(x > 0.0, 1.0 / jnp.where(x > 0.0, x, 1.0), 0.0)


class Equations(NewtonMatrix, IdleRows):
    """Of one step from `state` at t to t + h. `both`: φ and ψ of holonomic rows hold at the end, by Γ;
    else ψ + κφ does. `conserving`: means along the path; else of the two ends."""

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
        self.f_body = assembly.forces(system, self.q, self.u, t, self.outer)
        self.f = in_space(self.q[1], self.f_body)
        J = jnp.asarray(system.inertias)
        self.slender = slenderness(J) if conserving and system.slender else None
        self.thick = thickened(self.slender, J)
        self.per_thick = self.per_mass[0], inverse3(self.thick)
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
        """x = (w, Λ, Γ, ϑ⁺, idle), by half an explicit step with the multipliers of the step before. ϑ⁺ and what is
        made of the work of rows (see `idle_rows`) follow from the others; they are there to be had at the end."""
        s, h = self.system, self.h
        Lam = h * jnp.asarray(self.state.multipliers)
        push = self.pull(self.A, Lam) + h * jnp.concatenate(
            [self.f[:, :3], turn_back(self.q[1], self.f[:, 3:])], axis=-1
        )
        Pi, Omega = momentum(s, self.u)[:, 3:], self.u[:, 3:]
        push = push + jnp.concatenate([jnp.zeros_like(Pi), h * cross(Pi, Omega)], axis=-1)
        w = self.u + 0.5 * over_mass(self.per_thick, push)  # what is off in `push` would spin a thin rod
        return w, Lam, jnp.zeros(len(self.hol) if self.both else 0), 2.0 * w - self.u, self.nothing_idle()

    def loose(self, A_end: Any) -> Any:
        """Slender axes about which no row holds a body at either end, (N, 3, 3)."""
        if self.slender is None:
            return None

        def geared(A: Any) -> Any:
            along_axes = jax.tree.map(jnp.square, self.turned(self.slender, A))
            return jnp.sum(self.pull(along_axes, self.row_inertia(A))[:, 3:], axis=-1)

        return loose(self.slender, jnp.asarray(self.system.inertias), 0.5 * (geared(self.A) + geared(A_end)))

    def row_inertia(self, A: Any) -> Any:
        """1/(a M⁻¹aᵀ) of every row, (k,)."""
        return inverses(jnp.einsum("kbi,kbi->k", A, over_mass(self.per_thick, A)))

    def closing_pull(self, A_mid: Any, A_end: Any, Gam: Any, w: Any, loose: Any) -> Any:
        """AᵀΓ, (N, 6), of A half-way; its torques over sin(θ/2)/(θ/2), θ the angle that w turns a body by. Along
        loose axes, of A at the ends, where joints are closed.

        Half-way axes turn by θ/2 to either end, and the balance of momentum holds h w × (torque of Γ) times this
        sine. The slope of Γ holds the same without it, and the two must cancel: a torque with no component along the
        axis of a rod then leaves the momentum along it alone."""
        if not self.both:
            return jnp.zeros_like(w)
        Gam = self._among(Gam)
        pull = self.pull(A_mid, Gam)
        if loose is not None:
            closed = 0.5 * (self.pull(self.A, Gam) + self.pull(A_end, Gam))
            pull = pull + as_torques(along(loose, (closed - pull)[:, 3:]))
        return jnp.concatenate([pull[:, :3], pull[:, 3:] / self._sine(w)], axis=-1)

    def _sine(self, w: Any) -> Any:
        half = 0.5 * self.h * w[:, 3:]
        return stumpff(1, dot(half, half))[:, None]

    def end_velocity(self, w: Any, pull: Any) -> Any:
        """ϑ⁺ = 2(w - M⁻¹AᵀΓ) - ϑ."""
        return 2.0 * (w - over_mass(self.per_mass, pull)) - self.u

    def _among(self, Gam: Any) -> Any:
        """Γ among all rows, 0 on those that are not holonomic. By gathering: a scatter cannot be part of a native
        loop."""
        place = np.zeros(self.system.rows, dtype=int)
        place[self.hol] = 1 + np.arange(len(self.hol))
        return jnp.pad(Gam, (1, 0))[place]

    def residual(self, x: Any, share: Any = None) -> Any:
        """(momentum in the axes half-way (N, 6), ψ⁺ (k,), φ⁺/h, what ϑ⁺ of x is off, what its `idle` is off). `share`,
        of the momentum of each part, is taken off instead of what follows from x."""
        s, h, t = self.system, self.h, self.t
        w, Lam, Gam, u, idle = x
        r, R = posed(carried(self.state, jnp.stack([0.5 * h * w, h * w])))
        mid, end = (r[0], R[0]), (r[1], R[1])
        # Rows half-way and at the end by the same code, once.
        A_mid, A_end = self.apart(jax.vmap(lambda r, R, t: self.rows((r, R), t))(r, R, t + h * jnp.array([0.5, 1.0])))
        loose = self.loose(A_end)
        pull = self.closing_pull(A_mid, A_end, Gam, w, loose)
        ends, path = 0.5 * Lam, 0.0 * Lam  # the parts of Λ that go with A at each end and half-way
        if self.conserving:
            ends = jnp.where(self.along_path, Lam / 6.0, jnp.where(self.half_way, 0.0, ends))
            path = jnp.where(self.along_path, Lam / 1.5, jnp.where(self.half_way, Lam, path))
        u_end = self.end_velocity(w, pull)
        f_end_body = assembly.forces(s, end, u_end, t + h, self.outer)
        f_end = in_space(end[1], f_end_body)
        at_end = self.pull(A_end, ends)
        impulse = self.pull(self.A_space, ends) + in_space(end[1], at_end)
        if self.conserving:
            mean = 0.5 * (self.u + u_end)
            f_mid = assembly.forces(s, mid, mean, t + 0.5 * h, self.outer)
            f = (self.f + 4.0 * in_space(mid[1], f_mid) + f_end) / 6.0
            within = h * assembly.forces(s, mid, mean, t + 0.5 * h, self.parts.internal)
            at_mid = self.pull(A_mid, path) + within
            if loose is not None:
                rows_of_body = self.pull(self.A, 0.5 * Lam) + self.pull(A_end, 0.5 * Lam)
                of_body = rows_of_body + within + h * (self.f_body + 4.0 * f_mid + f_end_body) / 6.0
                turned = turn_back(mid[1], (impulse + h * f)[:, 3:]) + at_mid[:, 3:]
                a, Jd = 0.5 * h * w[:, 3:], turn(s.inertias, (u_end - self.u)[:, 3:])
                at_mid = at_mid - as_torques(spin_kept(loose, a, Jd, turned, of_body[:, 3:]))
            if self.both:
                turned = cross(w[:, 3:], pull[:, 3:] * self._sine(w))
                at_mid = at_mid - h * self._slope(mid, mean, Gam, turned, loose)
            impulse = impulse + in_space(mid[1], at_mid)
            if len(self.parts.afloat):
                net = self.net(impulse - in_space(mid[1], within), w, pull, mid)
                impulse = impulse - (net if share is None else lax.stop_gradient(net))
            *found, p = self.idle(impulse, x, u_end, mid, end, pull, loose)
            taken, p = (found[0], p) if share is None else (share, lax.stop_gradient(p))
            impulse = impulse - (self.parts.bodies.T @ taken)[:, None] * p
        else:
            f, found = 0.5 * (self.f + f_end), list(self.nothing_idle())
        balance = in_space(end[1], momentum(s, u_end)) - self.p - impulse - h * f
        psi = self.along(A_end, u_end) + assembly.drift(s, end, t + h)
        phi = assembly.phi(s, end, t + h)[self.hol]
        if not self.both and len(self.hol):
            psi = psi.at[self.hol].add(self.kappa * phi)
        balance = in_space(jnp.swapaxes(mid[1], -1, -2), balance)
        return balance, psi, phi / h, u - u_end, jax.tree.map(jnp.subtract, idle, tuple(found))

    def _slope(self, mid: Any, mean: Any, Gam: Any, turned: Any, loose: Any) -> Any:
        """∂(Γ·Aϑ̄)/∂q half-way, (N, 6), body axes; along loose axes what Γ turns of the momentum, `turned`, which it
        is to take back, and does to leading order."""
        s, t = self.system, self.t + 0.5 * self.h
        Gam = self._among(Gam)
        slope = by_body(s, [g.rate_slope(mid, mean, t, Gam[g.rows[:, : g.holonomic]]) for g in s.groups])
        return slope + as_torques(along(loose, turned - slope[:, 3:]))

    def scaled(self) -> Scaled:
        """The same in units of kinetic energy."""
        return Scaled(self)
