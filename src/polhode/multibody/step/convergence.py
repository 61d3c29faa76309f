"""When the equations of a step are solved: corrections and openings of rows, relative to the motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from polhode.algebra.arrays import dot, turn
from polhode.multibody.rows.momenta import extent, gyration, over_mass

_ROUND_OFF = 1e-15


class Convergence:
    """Of `Equations`, which derive from it."""

    # Of the largest position over the step: round-off leaves ε|r|/h of a velocity, which `_idle` magnifies, some
    # hundred times, where a system moves slower than gravity would make it in a step. Corrections that no longer
    # fall are taken for round-off below 1e-10 of their scale (`Chord`).
    round_off: ClassVar[float] = 1e-3

    system: Any
    h: Any
    u: Any  # velocities at the start of the step
    q: tuple[Any, Any]  # and poses
    A: Any  # and rows
    both: bool  # positions of rows are among the equations
    hol: Any  # holonomic rows
    per_mass: tuple[Any, Any]
    guess: Callable[[], Any]
    pull: Callable[[Any, Any], Any]
    along: Callable[[Any, Any], Any]

    def norm(self, residual: Any) -> Any:
        """Of what is left of the equations, (47) and (48): of momentum in the metric of kinetic energy, and of rows."""
        balance, psi, phi, off, _ = residual
        rows = jnp.sum(psi * psi) + jnp.sum(phi * phi) + jnp.sum(off * off)
        return jnp.sqrt(jnp.sum(balance * over_mass(self.per_mass, balance)) + rows)

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
