"""`RigidBody`: an inertia tensor, checked, with its principal axes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from polhode.algebra import Quaternion, Vec3
from polhode.algebra.written import by_name
from polhode.model.checks import InputError, numbers
from polhode.model.functions import is_traced
from polhode.rotation import solids
from polhode.rotation.inertia import of_member, principal, principal_of_traced


@dataclass(frozen=True, eq=False)
class RigidBody:
    """A rigid body that turns about a fixed point or about its centre of mass.

    `inertia` (kg m²) is three principal moments along the axes of the body frame, or a
    symmetric 3x3 tensor in any body frame. A tensor is diagonalised here and every method
    works in principal axes; what users give and get stays in their own body frame.
    Moments that no mass distribution has (one larger than the sum of the others) are
    refused unless `allow_unphysical=True`. `mass` (kg) and `centre`, of mass (m, body axes),
    are kept where they are known; no rotation depends on them.

    More axes in front are a batch of bodies: (..., 3) moments, or (..., 3, 3) tensors. What ends in 3x3 is always
    tensors: a plain 3x3 is one of them, and three bodies by their moments m are given as m[:, :, None] * numpy.eye(3).
    If one tensor of a batch is not diagonal, all have axes of their own; those of a diagonal one are the body's, and
    change none of its bits. A run has the batch that start, inertia and load make together.

    Inside jit, vmap and grad the inertia may be traced; what has no value yet is not checked. A traced tensor is
    always diagonalised, and derivatives by its entries need three different principal moments: axes of equal ones are
    not determined, and the derivatives are NaN.
    """

    __repr__ = by_name

    inertia: Any
    allow_unphysical: bool = field(default=False, kw_only=True)
    mass: float | None = field(default=None, kw_only=True)
    centre: Any = field(default=None, kw_only=True)  # of mass, in the body frame

    twist_axis: ClassVar[Vec3 | None] = None  # about which the body may not turn; see NonTwistingBody

    tensor: np.ndarray = field(init=False, repr=False)
    moments: Vec3 = field(init=False, repr=False)
    axes: Quaternion | None = field(init=False, repr=False)  # principal to body frame; None: they are the same

    def __post_init__(self) -> None:
        traced = is_traced(self.inertia)
        found = principal_of_traced(self.inertia) if traced else principal(self.inertia, self.allow_unphysical)
        tensor, values, axes = found
        object.__setattr__(self, "tensor", tensor)
        object.__setattr__(self, "moments", Vec3.of(values))
        object.__setattr__(self, "axes", axes)

    @classmethod
    def box(cls, mass: float, size: Any, *, about: Any = (0, 0, 0)) -> RigidBody:
        """A homogeneous box of `mass` (kg) and edges `size` (m), `about` a point (m) of the body frame
        whose origin is the box's centre."""
        return cls._of(solids.box(mass, size), about)

    @classmethod
    def ellipsoid(cls, mass: float, semi_axes: Any, *, about: Any = (0, 0, 0)) -> RigidBody:
        """A homogeneous ellipsoid of `mass` (kg), semi-axes (m) along the body axes, `about` a point (m, body axes,
        from its centre); three equal semi-axes make a sphere."""
        return cls._of(solids.ellipsoid(mass, semi_axes), about)

    @classmethod
    def cylinder(cls, mass: float, radius: float, height: float, *, about: Any = (0, 0, 0)) -> RigidBody:
        """A homogeneous cylinder of `mass` (kg), radius and height (m) along the body's z axis, `about` a point (m,
        body axes, from its centre); height 0 is a disk."""
        return cls._of(solids.cylinder(mass, radius, height), about)

    @classmethod
    def points(cls, masses: Any, positions: Any, *, about: Any = None) -> RigidBody:
        """Point masses (kg) at `positions` (n x 3, m, body axes), about their centre of mass if no point is given."""
        return cls._of(solids.points(masses, positions), about)

    @classmethod
    def mesh(cls, vertices: Any, triangles: Any, *, density: float = 1.0, about: Any = None) -> RigidBody:
        """A homogeneous solid of a `density` (kg/m³) bounded by triangles (n x 3 indices into `vertices`
        (m, body axes), counter-clockwise from outside), about its centre of mass if no point is given."""
        return cls._of(solids.mesh(vertices, triangles, density), about)

    @classmethod
    def _of(cls, solid: solids.Solid, about: Any) -> RigidBody:
        point = solid.centre if about is None else numbers("about", about, (3,))
        return cls(solid.inertia_about(point), mass=solid.mass, centre=solid.centre)


@dataclass(frozen=True, eq=False)
class NonTwistingBody(RigidBody):
    """A body on the non-twisting frame of Gebhardt & Romero (2020): it never turns about its
    third axis, w∥ = ω · d3 = 0, a nonholonomic constraint. Without a load the kinetic energy
    and Π1, Π2 are constant (74), and d3 moves along a great circle. The third body axis must
    be a principal axis: the inertia splits from D3 (32). `inertia` (kg m², body axes), `mass` (kg)
    and `centre` (m, body axes) as of a `RigidBody`."""

    twist_axis = Vec3(0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if is_traced(self.inertia):
            return
        across, size = np.abs(self.tensor[..., :2, 2]).max(axis=-1), np.abs(self.tensor).max(axis=(-1, -2))
        wrong = np.argwhere(across > 1e-12 * size)
        if len(wrong):
            J = self.tensor[tuple(wrong[0])]
            raise InputError(
                f"the inertia{of_member(wrong[0])} of a non-twisting body must split from D3: J13 = J23 = 0, so that "
                f"the third body axis is a principal axis; got J13 = {J[0, 2]:g}, J23 = {J[1, 2]:g}. Choose body axes "
                "whose third is principal"
            )
