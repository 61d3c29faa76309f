"""The rows of wheels and spheres on planes, in closed form.

The point of contact is at r + a, a = -ρû with u = k - λn(n · k): k the normal of the plane, n the axis of a thin wheel
(λ = 1); of a sphere (λ = 0) u is k itself. Its velocity has no component along the normal and two tangents: for each of
these directions E a row (E, a × E) in space axes. That of the normal is the rate of its height, φ = (r + a - p) · k.
With δn = θ × n for a turn θ in space,

    δa = Kθ,    K = -(ρλ/|u|)(n (k × n)ᵀ + (n · k)(skew n - û(û × n)ᵀ))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from polhode.algebra.arrays import cross, dot, product, skew, turn, turn_back
from polhode.algebra.computed_once import computed_once
from polhode.model.pytree import Static, tree
from polhode.multibody.describe.rolling import Contact
from polhode.multibody.rows.group import Group, Motion, Pose


class _Touch(NamedTuple):
    """Where the wheels touch, (m, 3) each, space axes."""

    R: Any
    n: Any
    along: Any  # n · k, (m, 1)
    size: Any  # |u|
    up: Any  # û
    arm: Any  # from the centre to the contact


@tree
class WheelRows(Group):
    """Height, then slip along two tangents, each on one body."""

    radius: Any  # (m,) ρ
    axis: Any  # (m, 3), body axes
    normal: Any
    point: Any  # of the plane
    tangents: Any  # (m, 2, 3)
    thin: Any  # (m,) λ
    bodies: Static[tuple[tuple[int, ...], ...]]
    numbers: Static[tuple[tuple[int, ...], ...]]
    anchors: Static[tuple[bool, ...]]
    can_be_singular: Static[bool]
    holonomic = 1
    nonholonomic = 2

    @staticmethod
    def of(contacts: Sequence[tuple[Contact, int, int]]) -> WheelRows:
        """Of each wheel: its contact, its body and its first row."""
        numbers: dict[str, Any] = {
            name: np.stack([np.asarray(getattr(c, name), dtype=float) for c, *_ in contacts])
            for name in Contact._fields
        }
        bodies = tuple((body,) for _, body, _ in contacts)
        rows = tuple((first, first + 1, first + 2) for *_, first in contacts)
        thin = any(c.thin for c, *_ in contacts)
        anchors = (True,) * len(rows)
        return WheelRows(**numbers, bodies=bodies, numbers=rows, anchors=anchors, can_be_singular=thin)

    def lengths(self) -> list[float]:
        return np.asarray(self.radius).tolist()

    def _touch(self, q: Pose) -> _Touch:
        R, k = q[1][self.on[:, 0]], jnp.asarray(self.normal)
        n = turn(R, self.axis)
        along = dot(n, k)[:, None]
        u = k - jnp.asarray(self.thin)[:, None] * along * n
        size = jnp.sqrt(dot(u, u))[:, None]
        up = u / size
        return _Touch(R, n, along, size, up, -jnp.asarray(self.radius)[:, None] * up)

    def _directions(self) -> Any:
        """E, (m, 3, 3): a direction a row."""
        return jnp.concatenate([jnp.asarray(self.normal)[:, None], self.tangents], axis=1)

    def _arm_slope(self, w: _Touch) -> Any:
        """K, (m, 3, 3)."""
        scale = -(jnp.asarray(self.radius * self.thin)[:, None] / w.size)[..., None]
        k, n, up = jnp.asarray(self.normal), w.n[:, :, None], w.up[:, :, None]
        leans = skew(w.n) - up * cross(w.up, w.n)[:, None, :]
        return scale * (n * cross(k, w.n)[:, None, :] + w.along[..., None] * leans)

    def _above(self, q: Pose, w: _Touch) -> Any:
        return dot(q[0][self.on[:, 0]] + w.arm - self.point, jnp.asarray(self.normal))

    @computed_once
    def phi(self, q: Pose, t: Any) -> Any:
        return self._above(q, self._touch(q))[:, None]

    @computed_once
    def blocks(self, q: Pose, t: Any) -> Any:
        w, E = self._touch(q), self._directions()
        turns = turn_back(w.R[:, None], cross(jnp.broadcast_to(w.arm[:, None], E.shape), E))
        return jnp.concatenate([E, turns], axis=-1)[:, :, None]

    @computed_once
    def psi(self, q: Pose, u: Motion, t: Any) -> Any:
        w, u = self._touch(q), u[self.on[:, 0]]
        velocity = u[:, :3] + cross(turn(w.R, u[:, 3:]), w.arm)
        return dot(self._directions(), velocity[:, None])

    @computed_once
    def psi_slope(self, q: Pose, u: Motion, t: Any) -> Any:
        w, E, K = self._touch(q), self._directions(), self._arm_slope(self._touch(q))
        omega = jnp.broadcast_to(turn(w.R, u[self.on[:, 0], 3:])[:, None], E.shape)
        arm = jnp.broadcast_to(w.arm[:, None], E.shape)
        turns = turn_back(K[:, None], cross(E, omega)) + cross(omega, cross(arm, E))
        return jnp.concatenate([jnp.zeros_like(E), turn_back(w.R[:, None], turns)], axis=-1)[:, :, None]

    def rate_slope(self, q: Pose, u: Motion, t: Any, Gam: Any) -> Any:
        return Gam[..., None] * self.psi_slope(q, u, t)[:, 0]

    @computed_once
    def wrench_slope(self, q: Pose, u: Motion, t: Any, Lam: Any) -> Any:
        w = self._touch(q)
        push = jnp.sum(Lam[..., None] * self._directions(), axis=1)
        slope = product(jnp.swapaxes(w.R, -1, -2), product(product(-skew(push), self._arm_slope(w)), w.R))
        return jnp.pad(slope, ((0, 0), (3, 0), (3, 0)))[:, None, :, None, :]

    def singular(self, q: Pose, t: Any) -> Any:
        return self._touch(q).size[:, 0]
