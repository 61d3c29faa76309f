"""The three-field step of Paraskevopoulos & Natsiavas, in the form that holds for ever."""
# prototype of the real thing
from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np

from polhode.multibody import assembly
from polhode.multibody.chord import Chord
from polhode.multibody.moment import carried, in_space, mass_inverse, momentum, motion, over_mass, pose, posed
from polhode.multibody.places import by_bodies, by_body, by_row, by_row_and_body, rows_of
from polhode.multibody.state import State
from polhode.multibody.system import System
from polhode.multibody.tree import tree
from polhode.solve import Report


@tree
class Step:
    state: State
    report: Report


def space_rows(A: Any, R: Any) -> Any:
    return in_space(R, A)


@dataclass(frozen=True)
class ThreeField:
    name: ClassVar[str] = "three-field"
    stabilisation: Literal["both", "kappa", "projection", "none"] = "both"
    conserving: bool = True
    solver: Chord = field(default_factory=Chord)

    def step(self, system: System, state: State, t: Any, h: Any) -> Step:
        eq = Equations(self, system, state, t, h)
        x, report = self.solver(eq.residual, eq.correction(), eq.guess(), eq.size)
        return Step(eq.finish(x), report)


class Equations:
    def __init__(self, method, system, state, t, h):
        self.method, self.system, self.state, self.t, self.h = method, system, state, t, h
        self.hol = system.holonomic_rows
        self.both = method.stabilisation == "both"
        self.u = motion(state)
        self.q = pose(state)
        self.inv = mass_inverse(system)
        self.A = assembly.rows(system, self.q, t)
        self.As = space_rows(self.A, self.q[1])
        self.f = in_space(self.q[1], assembly.forces(system, self.q, self.u, t))
        self.P = in_space(self.q[1], momentum(system, self.u))
        mask = np.zeros((system.rows, system.size))
        for g in system.groups:
            for rows, bodies in zip(rows_of(g), g.bodies, strict=True):
                for row in rows[g.kind.holonomic:]:
                    mask[row, list(bodies)] = 1.0
        self.mask = mask

    def guess(self):
        """Explicit: with the multipliers of the step before."""
        s, h = self.system, self.h
        Lam = h * self.state.multipliers
        gyro = jnp.cross(momentum(s, self.u)[:, 3:], self.u[:, 3:])
        R = self.q[1]
        imp = jnp.einsum("kbi,k->bi", self.A, Lam)
        fb = h * assembly.forces(s, self.q, self.u, self.t)
        du = over_mass(self.inv, imp + fb + jnp.concatenate([0 * gyro, h * gyro], -1))
        w = self.u + 0.5 * du
        return w, Lam, jnp.zeros(len(self.hol) if self.both else 0)

    def places(self, w):
        h = self.h
        return posed(carried(self.state, 0.5 * h * w)), posed(carried(self.state, h * w))

    def end(self, A_mid, w, Gam):
        mean = w
        if self.both:
            mean = w - over_mass(self.inv, jnp.einsum("kbi,k->bi", A_mid[self.hol], Gam))
        return 2.0 * mean - self.u, mean

    def residual(self, x):
        s, h, t = self.system, self.h, self.t
        w, Lam, Gam = x
        qm, qp = self.places(w)
        Ap = assembly.rows(s, qp, t + h)
        Am = assembly.rows(s, qm, t + 0.5 * h)
        up, mean = self.end(Am, w, Gam)
        Aps, Ams = space_rows(Ap, qp[1]), space_rows(Am, qm[1])
        fp = in_space(qp[1], assembly.forces(s, qp, up, t + h))
        if self.method.conserving:
            fm = in_space(qm[1], assembly.forces(s, qm, mean, t + 0.5 * h))
            mean_rows = (self.As + 4.0 * Ams + Aps) / 6.0
            f = (self.f + 4.0 * fm + fp) / 6.0
        else:
            mean_rows, f = 0.5 * (self.As + Aps), 0.5 * (self.f + fp)
        imp = jnp.einsum("kbi,k->bi", mean_rows, Lam)
        if self.method.conserving:
            ws = in_space(qm[1], w)
            pw = in_space(qm[1], momentum(s, w))
            d = jnp.einsum("kbi,bi->k", mean_rows, ws)
            kin = jnp.sum(pw * ws, -1)
            du = up - self.u
            floor = jnp.sum(momentum(s, du) * du, -1)
            c = Lam * d / (self.mask @ (kin + 1e-6 * floor) + 1e-300)
            c = jnp.where(jnp.array(self.system.holonomic), 0.0, c)
            imp = imp - (self.mask.T @ c)[:, None] * pw
            if self.both:
                full = jnp.zeros(s.rows).at[self.hol].set(Gam)
                X = by_body(s, [assembly.over(g, lambda kind, q, u, G: jax.grad(lambda dd: jnp.dot(G[:kind.holonomic], assembly.local_psi(kind, assembly.moved(q, dd), u, t + 0.5 * h)[:kind.holonomic]))(jnp.zeros((len(kind.bodies), 6))), qm, mean, full[rows_of(g)]) for g in s.groups if True])
                imp = imp - h * in_space(qm[1], X)
        Rv = in_space(qp[1], momentum(s, up)) - self.P - imp - h * f
        ps = assembly.psi(s, qp, up, t + h)
        ph = assembly.phi(s, qp, t + h)[self.hol]
        if self.method.stabilisation == "kappa":
            ps = ps.at[self.hol].add(ph / h)
        return Rv, ps, ph

    def correction(self):
        s, h, t = self.system, self.h, self.t
        n, k = 6 * s.size, s.rows
        w, Lam, Gam = self.guess()
        qm, qp = self.places(w)
        up = 2 * w - self.u
        Ap = assembly.rows(s, qp, t + h)
        Am = assembly.rows(s, qm, t + 0.5 * h)
        Aps = space_rows(Ap, qp[1])
        mean_rows = (self.As + 4.0 * space_rows(Am, qm[1]) + Aps) / 6.0

        def res(up):
            w = 0.5 * (self.u + up)
            qp = posed(carried(self.state, h * w))
            Aps = space_rows(assembly.rows(s, qp, t + h), qp[1])
            f = in_space(qp[1], assembly.forces(s, qp, up, t + h))
            Rv = in_space(qp[1], momentum(s, up)) - 0.5 * jnp.einsum("kbi,k->bi", Aps, Lam) - 0.5 * h * f
            ps = assembly.psi(s, qp, up, t + h)
            if self.method.stabilisation == "kappa":
                ps = ps.at[self.hol].add(assembly.phi(s, qp, t + h)[self.hol] / h)
            return jnp.concatenate([Rv.reshape(-1), ps])

        J = jax.jacfwd(res)(up).reshape(n + k, n)
        B = jnp.concatenate([-mean_rows.reshape(k, n).T, jnp.zeros((k, k))])
        lu = jax.scipy.linalg.lu_factor(jnp.concatenate([J, B], 1))
        if self.both:
            Ah = Ap[self.hol].reshape(-1, n)
            MA = over_mass(self.inv, Am[self.hol]).reshape(-1, n)
            cho = jax.scipy.linalg.cho_factor(Ah @ over_mass(self.inv, Ap[self.hol]).reshape(-1, n).T)

        def solve(r):
            Rv, ps, ph = r
            x = jax.scipy.linalg.lu_solve(lu, jnp.concatenate([Rv.reshape(-1), ps]))
            du = x[:n]
            dw = 0.5 * du
            dG = jnp.zeros(0)
            if self.both:
                dG = jax.scipy.linalg.cho_solve(cho, ph / h - Ah @ dw)
                dw = dw + MA.T @ dG
            return dw.reshape(s.size, 6), x[n:], dG

        return solve

    def size(self, d):
        dw = d[0]
        s = self.system
        return jnp.sqrt(jnp.sum(momentum(s, dw) * dw) / (jnp.sum(momentum(s, self.u) * self.u) + 1e-300))

    def finish(self, x):
        w, Lam, Gam = x
        qm, qp = self.places(w)
        up, _ = self.end(assembly.rows(self.system, qm, self.t + 0.5 * self.h), w, Gam)
        r, q = carried(self.state, self.h * w)
        return replace(self.state, positions=r, quaternions=q, velocities=up[:, :3], omegas=up[:, 3:], multipliers=Lam / self.h)
