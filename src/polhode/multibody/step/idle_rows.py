"""Rows do no work but that of drives: what is taken off the momentum so that they do none, and the momenta of what
floats."""

from __future__ import annotations

from itertools import compress
from typing import Any

import jax.numpy as jnp

from polhode.algebra.arrays import cross, dot
from polhode.multibody.rows import assembly
from polhode.multibody.rows.floating import Parts
from polhode.multibody.rows.momenta import as_torques, in_space, momentum, over_mass
from polhode.multibody.step.slender import along
from polhode.multibody.system import System

# What is about to stop has no direction of motion, and neither has a part afloat whose bodies hardly move within it.
# The correction that uses this direction fades where the kinetic energy along it is not many times the work to mend,
# and below this part of all its kinetic energy, where round-off in the work would decide.
_SLOW = 10.0
_STIFF = 1e-6
# A body afloat is turned by it only where torques, by the energy that they would give it, are more than this part
# of what forces do.
_UNTURNED = 1e-6
# What moves slower than this part of what the rows' impulses would make of it has only round-off for kinetic energy.
_STILL = 1e-6


class IdleRows:
    """Of `Equations`, which derive from it."""

    system: System
    parts: Parts
    t: Any
    h: Any
    u: Any
    q: tuple[Any, Any]
    per_mass: tuple[Any, Any]

    def nothing_idle(self) -> tuple[Any, Any]:
        return jnp.zeros(len(self.parts.bodies)), jnp.zeros(())

    def net(self, impulse: Any, w: Any, pull: Any, mid: Any) -> Any:
        """What impulses within parts that float would change of their momenta, (N, 6), as a motion of each as one rigid
        body: joints that gape half-way have a moment, and Γ, by which the mean of the end velocities differs from w."""
        moves = impulse - as_torques(self.h * cross(w[:, :3], pull[:, :3]))
        return moves - self.parts.within(self.system, mid, moves, jnp.eye(3))

    def idle(self, impulse: Any, x: Any, u_end: Any, mid: Any, end: Any, pull: Any, loose: Any) -> tuple[Any, Any, Any]:
        """What to take off the impulse of the rows so that they do no work but that of drives: a share of
        the momentum, for each part of the system; where it floats, of the momentum within. The kinetic energy
        grows by w·(impulse) - Γ·A(ϑ⁺ - ϑ); drives bring -Λ·(∂ψ/∂t). Then what is left of
        that work where this fades, of the kinetic energy at both ends, the most in any part; and the momentum."""
        bodies = self.parts.bodies
        w, Lam = x[:2]
        # The spin of a slender body that is loose is no part of what moves: nothing could give it back.
        p = momentum(self.system, w)
        p = p - as_torques(along(loose, p[:, 3:]))
        w_space, p_space = in_space(mid[1], w), in_space(mid[1], p)
        if not len(bodies):
            return *self.nothing_idle(), p_space
        # Summed by bodies, as all bodies of a row are in one part.
        work = bodies @ jnp.sum(impulse * w_space - pull * (u_end - self.u), axis=-1)
        drift = assembly.drift(self.system, mid, self.t + 0.5 * self.h)
        work = work + self.parts.rows @ (Lam * drift)
        if any(self.parts.internal):
            work = work + self._gained(mid, 0.5 * (self.u + u_end), w, end, u_end)
        whole = bodies @ jnp.sum(p_space * w_space, axis=-1)
        push = in_space(jnp.swapaxes(mid[1], -1, -2), impulse)
        gain = push * over_mass(self.per_mass, push)
        if len(self.parts.afloat):
            # A body that nothing turns is left alone.
            moved, turned = jnp.sum(gain[:, :3], axis=-1), jnp.sum(gain[:, 3:], axis=-1)
            turns = turned / (turned + _UNTURNED * moved + 1e-300)
            free = jnp.eye(3) if loose is None else jnp.eye(3) - loose
            p_space = self.parts.within(self.system, mid, p_space, turns[:, None, None] * free)
        kinetic = bodies @ jnp.sum(p_space * w_space, axis=-1)
        faded = kinetic / (kinetic**2 + (_SLOW * work) ** 2 + (_STIFF * whole) ** 2 + 1e-300)
        ends = self.u * momentum(self.system, self.u) + u_end * momentum(self.system, u_end)
        there = bodies @ jnp.sum(0.5 * ends + _STILL * gain, axis=-1)
        left = jnp.abs(work) * (1.0 - kinetic * faded) / (there + 1e-300)
        return work * faded, jnp.max(left), p_space

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
