"""Rows of constraints of any class, users' own among them, by automatic differentiation (`derivatives`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._programs import is_from, once_in_a_trace, same_everywhere
from polhode.algebra.computed_once import computed_once
from polhode.model.pytree import Static, tree
from polhode.multibody.describe.affine import check_class
from polhode.multibody.describe.bodies import GROUND
from polhode.multibody.describe.constraints import Constraint
from polhode.multibody.describe.views import frame_of
from polhode.multibody.rows.derivatives import Placed
from polhode.multibody.rows.group import Group, Motion, Pose


@tree
class DifferentiatedRows(Group):
    """Constraints of one class, whatever their functions are: `kind` with each number stacked."""

    kind: Constraint
    bodies: Static[tuple[tuple[int, ...], ...]]
    numbers: Static[tuple[tuple[int, ...], ...]]
    anchors: Static[tuple[bool, ...]]

    @property
    def holonomic(self) -> int:
        return self.kind.holonomic

    @property
    def nonholonomic(self) -> int:
        return self.kind.nonholonomic

    @property
    def rheonomic(self) -> bool:
        return self.kind.rheonomic

    @property
    def can_be_singular(self) -> bool:
        return self.kind.can_be_singular

    def traced(self, names: Sequence[str]) -> Group:
        one = jax.tree.map(lambda x: x[0], self.kind)
        known = one.traced(names)  # a function stands in a group of its own
        if not is_from(type(one), "polhode"):
            check_class(one)
        return self if known is one else replace(self, kind=jax.tree.map(lambda x: x[None], known))

    def lengths(self) -> list[float]:
        found: list[float] = []
        for name, side in (("at_a", "a"), ("at_b", "b"), ("at", "body"), ("radius", "body"), ("length", "b")):
            value = getattr(self.kind, name, None)
            if value is not None and getattr(self.kind, side, GROUND) != GROUND:
                found += np.linalg.norm(np.reshape(value, (len(self.bodies), -1)), axis=-1).tolist()
        return found

    def phi(self, q: Pose, t: Any) -> Any:
        return self._each(Placed.phi, q, None, t) if self.holonomic else jnp.zeros((len(self.bodies), 0))

    def psi(self, q: Pose, u: Motion, t: Any) -> Any:
        return self._each(Placed.psi, q, u, t)

    def blocks(self, q: Pose, t: Any) -> Any:
        return self._each(Placed.rows, q, None, t)

    def psi_slope(self, q: Pose, u: Motion, t: Any) -> Any:
        return self._each(Placed.psi_slope, q, u, t)

    def rate_slope(self, q: Pose, u: Motion, t: Any, Gam: Any) -> Any:
        return self._each(Placed.rate_slope, q, u, t, Gam)

    def wrench_slope(self, q: Pose, u: Motion, t: Any, Lam: Any) -> Any:
        return self._each(Placed.wrench_slope, q, u, t, Lam)

    def singular(self, q: Pose, t: Any) -> Any:
        return self._each(Placed.singular, q, None, t)

    def _each(self, fn: Callable[..., Any], q: Pose, u: Motion | None, t: Any, *more: Any) -> Any:
        """fn(placed, ...) of every constraint, from the poses and motions of all bodies."""
        u = jnp.zeros((len(q[0]), 6)) if u is None else u
        if same_everywhere(self.kind):
            return _of_each(fn, self.bodies, 0, self.kind, q, u, t, more)
        with once_in_a_trace() as number:
            return _of_each(fn, self.bodies, number, self.kind, q, u, t, more)


@computed_once(static_argnums=(0, 1, 2))  # traced once for each fn, however often it is asked for
def _of_each(
    fn: Callable[..., Any], bodies: Any, number: int, kinds: Any, q: Pose, u: Motion, t: Any, more: Any
) -> Any:
    where = np.array(bodies)

    def one(kind: Any, q: Pose, u: Any, *more: Any) -> Any:
        frames = [frame_of(q[0][i], q[1][i], u[i]) for i in range(where.shape[1])]
        return fn(Placed(kind, frames, t, number), *more)

    return jax.vmap(one)(kinds, (q[0][where], q[1][where]), u[where], *more)
