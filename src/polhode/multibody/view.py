"""`View`: a moment of the motion as users' functions see it, by the names of bodies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from polhode.mechanics.checks import InputError, unknown
from polhode.multibody.arrays import cross, turn
from polhode.multibody.bodies import GROUND


class View:
    """Positions, rotations and velocities of bodies at time `t`. Bodies are named, or
    numbered in the order in which the system lists them; "ground" is at rest at the origin."""

    def __init__(self, names: Sequence[str], slots: dict[str, int], q: Any, u: Any, t: Any) -> None:
        self.t = t
        self._names = tuple(names)
        self._slots = slots
        self._r, self._R = q
        self._v, self._Omega = u
        self.used: list[str] = []  # in the order in which the function asked

    def _slot(self, body: str | int) -> int | None:
        if isinstance(body, int):
            if not -len(self._names) <= body < len(self._names):
                raise InputError(f"there is no body number {body}; the system has {len(self._names)}")
            body = self._names[body]
        if body == GROUND:
            return None
        if body not in self._slots:
            raise unknown("body", body, [*self._slots, GROUND])
        if body not in self.used:
            self.used.append(body)
        return self._slots[body]

    def position(self, body: str | int) -> Any:
        """Of the centre of mass, space axes (m)."""
        i = self._slot(body)
        return jnp.zeros(3) if i is None else self._r[i]

    def rotation(self, body: str | int) -> Any:
        """R, body to space, 3x3."""
        i = self._slot(body)
        return jnp.eye(3) if i is None else self._R[i]

    def velocity(self, body: str | int) -> Any:
        """Of the centre of mass, space axes (m/s)."""
        i = self._slot(body)
        return jnp.zeros(3) if i is None else self._v[i]

    def omega(self, body: str | int) -> Any:
        """Ω, angular velocity in body axes (rad/s)."""
        i = self._slot(body)
        return jnp.zeros(3) if i is None else self._Omega[i]

    def spin(self, body: str | int) -> Any:
        """ω = RΩ, angular velocity in space axes (rad/s)."""
        return turn(self.rotation(body), self.omega(body))

    def direction(self, body: str | int, s: Any) -> Any:
        """R s: a direction of the body, in space axes."""
        return turn(self.rotation(body), jnp.asarray(s, dtype=float))

    def point(self, body: str | int, s: Any) -> Any:
        """r + R s: a point of the body (s in body axes, from the centre of mass), in space."""
        return self.position(body) + self.direction(body, s)

    def point_velocity(self, body: str | int, s: Any) -> Any:
        """v + R(Ω × s), space axes."""
        s = jnp.asarray(s, dtype=float)
        return self.velocity(body) + turn(self.rotation(body), cross(self.omega(body), s))


def bodies_used(fn: Callable[[View], Any], names: Sequence[str]) -> tuple[tuple[str, ...], Any]:
    """The bodies that a function asks for, and the shape of what it returns, from one abstract call."""
    n = len(names)
    used: list[str] = []

    def call(r: Any, R: Any, v: Any, Omega: Any, t: Any) -> Any:
        view = View(names, {name: i for i, name in enumerate(names)}, (r, R), (v, Omega), t)
        value = fn(view)
        used.extend(name for name in names if name in view.used)
        return jnp.asarray(value, dtype=float)

    three, nine = jax.ShapeDtypeStruct((n, 3), float), jax.ShapeDtypeStruct((n, 3, 3), float)
    out = jax.eval_shape(call, three, nine, three, three, jax.ShapeDtypeStruct((), float))
    return tuple(used), out.shape
