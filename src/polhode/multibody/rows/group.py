"""`Group`: constraints of one kind, whose rows are evaluated together; and what rows ask of a system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, Self

import jax.numpy as jnp
import numpy as np

from polhode.model.pytree import Static
from polhode.multibody.describe.applied import Applied
from polhode.multibody.describe.state import State
from polhode.multibody.describe.views import View

Pose = tuple[Any, Any]  # positions (N, 3), rotations (N, 3, 3)
Motion = Any  # (N, 6): v in space axes, Ω in body axes

NOWHERE = -1  # the ground, among the numbers of bodies


class Group:
    """Constraints of one kind, each with as many rows of φ, then of ψ, on as many bodies.

    Virtual displacements are (translation in space axes, rotation in body axes), R -> R(1 + skew δ). Numbers are of
    every constraint of the group: φ (c, holonomic), ψ (c, count), A and ∂ψ/∂q (c, count, bodies, 6). What would stand
    on the ground is zero."""

    bodies: Static[tuple[tuple[int, ...], ...]]
    numbers: Static[tuple[tuple[int, ...], ...]]  # of their rows in the system
    anchors: Static[tuple[bool, ...]]  # which hold their bodies to the ground, or make them roll

    holonomic: Any = 0
    nonholonomic: Any = 0
    rheonomic: Any = False
    can_be_singular: Any = False

    @property
    def count(self) -> int:
        """Rows of each constraint."""
        return self.holonomic + self.nonholonomic

    @property
    def on(self) -> np.ndarray:
        """(c, bodies)."""
        return np.array(self.bodies)

    @property
    def together(self) -> tuple[tuple[int, ...], ...]:
        """The bodies of each block of `wrench_slope`: those of each constraint, or of all that are on the same."""
        return self.bodies

    @property
    def rows(self) -> np.ndarray:
        """(c, count): the rows of each constraint in the system."""
        return np.array(self.numbers)

    def traced(self, names: Sequence[str]) -> Group:
        """With users' functions as they are now."""
        return self

    def lengths(self) -> list[float]:
        """From bodies to where they are held, radii and rods (m); of numbers that are known."""
        return []

    def phi(self, q: Pose, t: Any) -> Any:
        raise NotImplementedError

    def psi(self, q: Pose, u: Motion, t: Any) -> Any:
        """Of all rows: φ' where they are holonomic."""
        raise NotImplementedError

    def blocks(self, q: Pose, t: Any) -> Any:
        """A."""
        raise NotImplementedError

    def psi_slope(self, q: Pose, u: Motion, t: Any) -> Any:
        """∂ψ/∂q."""
        raise NotImplementedError

    def rate_slope(self, q: Pose, u: Motion, t: Any, Gam: Any) -> Any:
        """∂(Γ·φ')/∂q, (c, bodies, 6), body axes."""
        raise NotImplementedError

    def wrench_slope(self, q: Pose, u: Motion, t: Any, Lam: Any) -> Any:
        """∂(AᵀΛ)/∂q, (together, bodies, 6, bodies, 6), of its components on the axes that the bodies have now."""
        raise NotImplementedError

    def singular(self, q: Pose, t: Any) -> Any:
        """(c,) how near its rows are to having no meaning: 0 there, 1 far away."""
        return jnp.ones(len(self.bodies))


class Gathered(Protocol):
    """A system, as far as rows know it."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def masses(self) -> Any: ...
    @property
    def inertias(self) -> Any: ...
    @property
    def forces(self) -> tuple[Applied, ...]: ...
    @property
    def within(self) -> tuple[bool, ...]: ...
    @property
    def groups(self) -> tuple[Group, ...]: ...
    @property
    def start(self) -> State: ...
    @property
    def row_names(self) -> tuple[str, ...]: ...
    @property
    def holonomic(self) -> tuple[bool, ...]: ...
    @property
    def redundant(self) -> tuple[int, ...]: ...
    @property
    def tolerance(self) -> float: ...
    @property
    def size(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def holonomic_rows(self) -> np.ndarray: ...
    def view(self, state: State, t: Any) -> View: ...
    def seen(self, q: tuple[Any, Any], u: Any, t: Any) -> View: ...
    def bare(self) -> Self: ...
