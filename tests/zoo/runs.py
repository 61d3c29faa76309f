"""A mechanism run by polhode, in one compiled program for all scales, turns and steps, and in its own units again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from scipy.spatial.transform import Rotation

from polhode import multibody as mb
from polhode.model.functions import as_arrays
from zoo.lagrange import BRIEFLY, Motion
from zoo.mechanism import Mechanism
from zoo.scene import Scene


@dataclass(frozen=True)
class Run:
    """Over steps (n) and bodies as the mechanism lists them, in its own units and axes."""

    ok: bool
    worst: float  # error left by the solver
    positions: np.ndarray
    rotations: np.ndarray
    velocities: np.ndarray
    omegas: np.ndarray
    energy: np.ndarray
    gap: np.ndarray  # per row that has positions
    slip: np.ndarray  # per row that has velocities only
    reactions: np.ndarray  # (n, N, 6) Aᵀλ, as in `Motion`, with A where the reference is at the middle of the step
    linear: np.ndarray
    angular: np.ndarray
    redundant: bool  # some rows follow from others


METHODS = (mb.ThreeField(solver=mb.Chord()), mb.ThreeField())  # the second where the first fails, as in a run


def program(method: mb.ThreeField, system: mb.System, start: mb.State, middles: mb.State, h: Any) -> Any:
    """Steps from `start`; `middles` are where the reference is half a step before each end."""

    def one(state: mb.State, at: Any) -> Any:
        n, middle = at
        result = method.step(system, state, n * h, h)
        new, t = result.state, (n + 1.0) * h

        def rows(v: Any, Omega: Any) -> Any:
            there = mb.State(middle.positions, middle.quaternions, v, Omega, new.multipliers)
            return mb.residuals(system, there, t - 0.5 * h)[0]

        force, torque = jax.vjp(rows, new.velocities, new.omegas)[1](new.multipliers)
        psi, phi = mb.residuals(system, new, t)
        momenta = (mb.linear_momentum(system, new), mb.angular_momentum(system, new))
        kept = (result.report, new, sum(mb.energy(system, new, t)), psi, phi, jnp.concatenate([force, torque], -1))
        return new, (*kept, momenta)

    count = middles.positions.shape[0]
    return sum(mb.energy(system, start, 0.0)), lax.scan(one, start, (jnp.arange(count) * 1.0, middles))[1]


_COMPILED: dict[Any, Any] = {}  # by the shape of the system: disks that spin and disks that fall are one program


def compiled(method: mb.ThreeField, *given: Any) -> Any:
    leaves, shape = jax.tree.flatten(given)
    key = (method, shape, tuple((np.shape(x), np.asarray(x).dtype) for x in leaves))
    if key not in _COMPILED:
        _COMPILED[key] = jax.jit(partial(program, method)).lower(*given).compile(compiler_options=BRIEFLY)
    return _COMPILED[key]


def quaternion(R: np.ndarray) -> np.ndarray:
    """w, x, y, z of rotations (..., 3, 3), by scipy."""
    return np.roll(Rotation.from_matrix(R.reshape(-1, 3, 3)).as_quat(), 1, axis=-1).reshape(*R.shape[:-2], 4)


def turned(Q: np.ndarray) -> np.ndarray:
    """Rotations of quaternions w, x, y, z (..., 4), by scipy."""
    return Rotation.from_quat(np.roll(Q.reshape(-1, 4), -1, axis=-1)).as_matrix().reshape(*Q.shape[:-1], 3, 3)


def states(scene: Scene, motion: Motion, rows: int) -> mb.State:
    """Of the reference, as polhode would have them in this scene: one for every time."""
    count, bodies = motion.positions.shape[:2]
    places = scene.places(bodies)
    turn = np.broadcast_to(scene.turn, (count, bodies, 3, 3))
    return mb.State(
        scene.length * (motion.positions @ scene.turn.T + scene.shift)[:, places],
        quaternion(turn @ motion.rotations)[:, places],
        (motion.velocities @ scene.turn.T * (scene.length / scene.time))[:, places],
        (motion.omegas / scene.time)[:, places],
        np.zeros((count, rows)),
    )


def run(m: Mechanism, begin: Motion, middles: Motion, h: float, **how: Any) -> Run:
    """Steps of h, in the mechanism's own time, as many as `middles` has times."""
    start = zip(begin.positions[0], begin.rotations[0], strict=True)
    twist = zip(begin.velocities[0], begin.omegas[0], strict=True)
    scene = m.scene(list(start), list(twist), **how)
    made = scene.system()
    system = as_arrays(made.bare())
    given = [
        jax.tree.map(lambda x: x[0], states(scene, begin, made.rows)),
        states(scene, middles, made.rows),
        np.float64(h * scene.time),
    ]
    for method in METHODS:
        first, out = jax.tree.map(np.asarray, compiled(method, system, *given)(system, *given))
        report, new, energy, psi, phi, reactions, (linear, angular) = out
        if report.converged.all() and np.isfinite(new.positions).all():
            break
    back = np.argsort(scene.places(len(m.bodies)))
    length, speed, force = scene.length, scene.length / scene.time, scene.scale((1, 1, -2))
    holonomic, sizes = np.array(made.holonomic, dtype=bool), scene.row_lengths(made)
    return Run(
        ok=bool(report.converged.all()) and bool(np.isfinite(new.positions).all()),
        worst=float(report.error.max()),
        positions=(new.positions[:, back] / length - scene.shift) @ scene.turn,
        rotations=scene.turn.T @ turned(_finite(new.quaternions[:, back])),
        velocities=new.velocities[:, back] @ scene.turn / speed,
        omegas=new.omegas[:, back] * scene.time,
        energy=np.concatenate([[first], energy]) / scene.scale((1, 2, -2)),
        gap=np.abs(phi / sizes)[:, holonomic],
        slip=np.abs(psi / sizes)[:, ~holonomic] * scene.time,
        reactions=np.concatenate(
            [reactions[:, back, :3] @ scene.turn / force, reactions[:, back, 3:] / (force * length)], -1
        ),
        linear=linear @ scene.turn / (scene.mass * speed),
        angular=(angular - np.cross(length * scene.shift, linear)) @ scene.turn / (scene.mass * speed * length),
        redundant=bool(made.redundant),
    )


def _finite(Q: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(Q).all(-1, keepdims=True) & (np.abs(Q).sum(-1, keepdims=True) > 0), Q, np.eye(4)[0])
