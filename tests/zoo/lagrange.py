"""The reference: Lagrange's equations of the second kind in the mechanism's own coordinates, with multipliers where
these close loops or roll, in index-1 form, by scipy's DOP853. Nothing of polhode takes part.

    L(q, q', t) = T - V,   H q'' = ∂L/∂q - (∂L/∂q')˙ at constant q' + Jᵀ loads + Aᵀλ,   A q'' = -γ

Rows of A that follow from others are no hindrance: λ of least norm gives the same accelerations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import DOP853

from zoo.mechanism import Mechanism
from zoo.turns import cross_matrix

RTOL, ATOL = 1e-12, 1e-13
BRIEFLY: dict[str, Any] = {"xla_backend_optimization_level": 0}


@dataclass(frozen=True)
class Motion:
    """Over times (n) and bodies (N)."""

    positions: np.ndarray  # (n, N, 3)
    rotations: np.ndarray  # (n, N, 3, 3)
    velocities: np.ndarray  # (n, N, 3)
    omegas: np.ndarray  # (n, N, 3) body axes
    accelerations: np.ndarray  # (n, N, 6) of velocities and omegas
    reactions: np.ndarray  # (n, N, 6) force in space axes and torque in body axes that the constraints add
    coordinates: np.ndarray  # (n, m)


class Terms(NamedTuple):
    """All that the equations need at a moment."""

    H: Any  # ∂²L/∂q'²
    push: Any
    A: Any
    gamma: Any
    r: Any
    R: Any
    v: Any
    Omega: Any
    J: Any  # (N, 6, m) of (v, Ω) by q'
    bias: Any  # (N, 6) their rates at constant q'
    loads: Any  # (N, 6) all that is applied


class Lagrange:
    def __init__(self, mechanism: Mechanism) -> None:
        self.m = mechanism
        self.masses = np.array([mass for mass, _ in mechanism.bodies.values()])
        J = [np.asarray(inertia, dtype=float) for _, inertia in mechanism.bodies.values()]
        self.inertias = np.array([np.diag(j) if j.ndim == 1 else j for j in J])
        self.gravity = np.zeros(3) if mechanism.gravity is None else np.array(mechanism.gravity)
        q, t = mechanism.where, 0.0
        self._terms = jax.jit(self._equations).lower(q, q, t).compile(compiler_options=BRIEFLY)

    def _twist(self, q: Any, s: Any, t: Any) -> tuple[Any, Any, Any, Any]:
        """r, R, v, Ω of all bodies."""

        def stacked(q: Any, t: Any) -> tuple[Any, Any]:
            pose = self.m.pose(q, t)
            return jnp.stack([r for r, _ in pose]), jnp.stack([R for _, R in pose])

        (r, R), (v, dR) = jax.jvp(stacked, (q, t), (s, jnp.ones_like(t)))
        W = jnp.einsum("nji,njk->nik", R, dR)
        return r, R, v, jnp.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], -1)

    def _potential(self, r: Any, R: Any, t: Any) -> Any:
        V = -jnp.sum(self.masses[:, None] * r * self.gravity)
        if self.m.potential is not None:
            V = V + self.m.potential([(r[i], R[i]) for i in range(len(self.masses))], t)
        return V

    def _lagrangian(self, q: Any, s: Any, t: Any) -> Any:
        r, R, v, Omega = self._twist(q, s, t)
        turning = jnp.einsum("ni,nij,nj->", Omega, self.inertias, Omega)
        return 0.5 * (jnp.sum(self.masses[:, None] * v * v) + turning) - self._potential(r, R, t)

    def _loads(self, r: Any, R: Any, v: Any, Omega: Any, t: Any) -> Any:
        """(N, 6) without those of potentials."""
        if self.m.loads is None:
            return jnp.zeros((len(self.masses), 6))
        n = range(len(self.masses))
        given = self.m.loads([(r[i], R[i]) for i in n], [(v[i], Omega[i]) for i in n], t)
        return jnp.stack([jnp.concatenate([jnp.asarray(f, float), jnp.asarray(T, float)]) for f, T in given])

    def _rows(self, q: Any, s: Any, t: Any) -> Any:
        rows = []
        if self.m.closure is not None:
            closure = self.m.closure
            rows.append(
                jnp.atleast_1d(jax.jvp(lambda q, t: jnp.asarray(closure(q, t)), (q, t), (s, jnp.ones_like(t)))[1])
            )
        if self.m.rolling is not None:
            rows.append(jnp.atleast_1d(jnp.asarray(self.m.rolling(q, s, t))))
        return jnp.concatenate(rows) if rows else jnp.zeros(0)

    def _equations(self, q: Any, s: Any, t: Any) -> Terms:
        one, n = jnp.ones_like(t), len(self.masses)
        momentum = jax.grad(self._lagrangian, argnums=1)
        H = jax.jacfwd(momentum, argnums=1)(q, s, t)
        drift = jax.jvp(lambda q, t: momentum(q, s, t), (q, t), (s, one))[1]
        r, R, v, Omega = self._twist(q, s, t)
        loads = self._loads(r, R, v, Omega, t)
        J = jax.jacfwd(lambda s: jnp.concatenate(self._twist(q, s, t)[2:], -1))(s)
        push = jax.grad(self._lagrangian)(q, s, t) - drift + jnp.einsum("nij,ni->j", J, loads)
        A = jax.jacfwd(self._rows, argnums=1)(q, s, t)
        gamma = jax.jvp(lambda q, t: self._rows(q, s, t), (q, t), (s, one))[1]
        bias = jax.jvp(lambda q, t: jnp.concatenate(self._twist(q, s, t)[2:], -1), (q, t), (s, one))[1]

        def energy(shift: Any, turn: Any) -> Any:
            turned = R + jnp.stack([R[i] @ cross_matrix(turn[i]) for i in range(n)])
            return self._potential(r + shift, turned, t)

        slope = jnp.concatenate(jax.grad(energy, argnums=(0, 1))(jnp.zeros((n, 3)), jnp.zeros((n, 3))), -1)
        return Terms(H, push, A, gamma, r, R, v, Omega, J, bias, loads - slope)

    def terms(self, q: np.ndarray, s: np.ndarray, t: float) -> Terms:
        return Terms(*(np.asarray(x) for x in self._terms(q, s, np.float64(t))))

    @staticmethod
    def acceleration(now: Terms) -> np.ndarray:
        free = np.linalg.solve(now.H, now.push)
        if not len(now.gamma):
            return free
        MA = np.linalg.solve(now.H, now.A.T)
        return free - MA @ np.linalg.lstsq(now.A @ MA, now.A @ free + now.gamma, rcond=1e-11)[0]

    def _moment(self, q: np.ndarray, s: np.ndarray, t: float) -> tuple[np.ndarray, ...]:
        """What `Motion` has of one time."""
        now = self.terms(q, s, t)
        rate = now.J @ self.acceleration(now) + now.bias
        spin = np.einsum("nij,nj->ni", self.inertias, now.Omega)
        force = self.masses[:, None] * rate[:, :3]
        torque = np.einsum("nij,nj->ni", self.inertias, rate[:, 3:]) + np.cross(now.Omega, spin)
        reactions = np.concatenate([force, torque], -1) - now.loads
        return now.r, now.R, now.v, now.Omega, rate, reactions, q

    def motion(self, times: np.ndarray) -> Motion:
        """At these times, the first of which is 0."""
        q, s = self.m.where, self.m.moving
        m = len(q)

        def rate(t: float, y: np.ndarray) -> np.ndarray:
            return np.concatenate([y[m:], self.acceleration(self.terms(y[:m], y[m:], t))])

        found: list[Any] = []
        size: float | None = None
        now, y = 0.0, np.concatenate([q, s])
        for end in times.tolist():
            if end > now:
                first = None if size is None else min(size, end - now)
                stepper = DOP853(rate, now, y, end, first_step=first, rtol=RTOL, atol=ATOL)
                while stepper.status == "running":
                    stepper.step()
                assert stepper.status == "finished", f"{self.m.name}: the reference ends at t = {stepper.t}"
                now, y, size = end, stepper.y, stepper.h_abs
            found.append(self._moment(y[:m], y[m:], end))
        return Motion(*(np.array(x) for x in zip(*found, strict=True)))
