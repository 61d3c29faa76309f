"""`RigidBody`: an inertia tensor, checked, with its principal axes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jax import lax

from polhode.algebra import Mat3, Quaternion, Vec3
from polhode.model.checks import SMALLEST, InputError, numbers, shape_of, shown
from polhode.model.functions import is_traced
from polhode.rotation import solids


class UnphysicalError(InputError):
    """Moments that no mass distribution has. What to do is said where it can be done: a `RigidBody` takes a flag,
    a built-in problem has none."""

    def __str__(self) -> str:
        return f"{self.args[0]}. If this is meant, pass allow_unphysical=True"


@dataclass(frozen=True, eq=False)
class RigidBody:
    """A rigid body that turns about a fixed point or about its centre of mass.

    `inertia` (kg m²) is three principal moments along the axes of the body frame, or a
    symmetric 3x3 tensor in any body frame. A tensor is diagonalised here and every method
    works in principal axes; what users give and get stays in their own body frame.
    Moments that no mass distribution has (one larger than the sum of the others) are
    refused unless `allow_unphysical=True`.

    Inside jit, vmap and grad the inertia may be traced; what has no value yet is not checked. A traced tensor is
    always diagonalised, and derivatives by its entries need three different principal moments: axes of equal ones are
    not determined, and the derivatives are NaN.
    """

    inertia: Any
    allow_unphysical: bool = field(default=False, kw_only=True)
    mass: float | None = field(default=None, kw_only=True)
    centre: Any = field(default=None, kw_only=True)  # of mass, in the body frame

    twist_axis: ClassVar[Vec3 | None] = None  # about which the body may not turn; see NonTwistingBody

    tensor: np.ndarray = field(init=False, repr=False)
    moments: Vec3 = field(init=False, repr=False)
    axes: Quaternion | None = field(init=False, repr=False)  # principal to body frame; None: they are the same

    def __post_init__(self) -> None:
        if is_traced(self.inertia):
            tensor, values, axes = _diagonalised(self.inertia)
        else:
            tensor, values, axes = self._looked_at()
        object.__setattr__(self, "tensor", tensor)
        object.__setattr__(self, "moments", Vec3.of(values))
        object.__setattr__(self, "axes", axes)

    def _looked_at(self) -> tuple[Any, Any, Any]:
        """Tensor, principal moments and axes, checked."""
        tensor = _tensor(self.inertia)
        off_diagonal = tensor - np.diag(np.diag(tensor))
        if off_diagonal.any():
            values, vectors = np.linalg.eigh(tensor)
            vectors = vectors * np.linalg.det(vectors)  # right-handed
            axes = Quaternion.from_matrix(Mat3.of(vectors))
        else:
            values, axes = np.diag(tensor), None
        _check_moments(values, self.allow_unphysical)
        return tensor, values, axes

    @classmethod
    def box(cls, mass: float, size: Any, *, about: Any = (0, 0, 0)) -> RigidBody:
        """A homogeneous box of edge lengths `size`, about a point of the body frame
        whose origin is the box's centre."""
        return cls._of(solids.box(mass, size), about)

    @classmethod
    def ellipsoid(cls, mass: float, semi_axes: Any, *, about: Any = (0, 0, 0)) -> RigidBody:
        """A homogeneous ellipsoid; three equal semi-axes make a sphere."""
        return cls._of(solids.ellipsoid(mass, semi_axes), about)

    @classmethod
    def cylinder(cls, mass: float, radius: float, height: float, *, about: Any = (0, 0, 0)) -> RigidBody:
        """A homogeneous cylinder along the body's z axis; height 0 is a disk."""
        return cls._of(solids.cylinder(mass, radius, height), about)

    @classmethod
    def points(cls, masses: Any, positions: Any, *, about: Any = None) -> RigidBody:
        """Point masses at `positions` (n x 3), about their centre of mass if no point is given."""
        return cls._of(solids.points(masses, positions), about)

    @classmethod
    def mesh(cls, vertices: Any, triangles: Any, *, density: float = 1.0, about: Any = None) -> RigidBody:
        """A homogeneous solid bounded by triangles (n x 3 indices into `vertices`, seen
        counter-clockwise from outside), about its centre of mass if no point is given."""
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
    be a principal axis: the inertia splits from D3 (32)."""

    twist_axis = Vec3(0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if is_traced(self.inertia):
            return
        across = np.abs(self.tensor[:2, 2]).max()
        if across > 1e-12 * np.abs(self.tensor).max():
            raise InputError(
                f"the inertia of a non-twisting body must split from D3: J13 = J23 = 0, so that the third body axis is "
                f"a principal axis; got J13 = {self.tensor[0, 2]:g}, J23 = {self.tensor[1, 2]:g}. Choose body axes "
                "whose third is principal"
            )


def _diagonalised(inertia: Any) -> tuple[Any, Any, Any]:
    """Tensor, principal moments and axes of what is traced: of its shape alone anything can be said."""
    given = jnp.asarray(inertia, dtype=float)
    if given.shape == (3,):
        return jnp.diag(given), given, None
    if given.shape != (3, 3):
        raise InputError(f"inertia must be 3 principal moments or a symmetric 3x3 tensor; got shape {given.shape}")
    tensor = (given + given.T) / 2
    values, vectors = jnp.linalg.eigh(tensor)
    vectors = vectors * jnp.sign(jnp.linalg.det(lax.stop_gradient(vectors)))  # right-handed
    return tensor, values, Quaternion.from_matrix(Mat3.of(vectors))


def _tensor(inertia: Any) -> np.ndarray:
    shape = shape_of("inertia must be 3 principal moments or a symmetric 3x3 tensor", inertia)
    if shape not in ((3,), (3, 3)):
        raise InputError(
            f"inertia must be 3 principal moments or a symmetric 3x3 tensor; got shape {shape}: {shown(inertia)}"
        )
    tensor = numbers("inertia", inertia)
    if shape == (3,):
        return np.diag(tensor)
    skewness = np.abs(tensor / 2 - tensor.T / 2).max() * 2
    if skewness > 1e-10 * np.abs(tensor).max():
        raise InputError(
            f"inertia must be symmetric; entries across the diagonal differ by up to {skewness:.3g}: {shown(inertia)}"
        )
    return tensor / 2 + tensor.T / 2


def _check_moments(moments: np.ndarray, allow_unphysical: bool) -> None:
    if not (moments >= SMALLEST).all():
        raise InputError(
            f"inertia must be positive definite, with moments of at least {SMALLEST:.2g}; its principal moments are "
            f"{moments.tolist()}"
        )
    excess = 2.0 - (moments / moments.max()).sum()
    if excess > 1e-12 and not allow_unphysical:
        raise UnphysicalError(
            f"no body has principal moments {moments.tolist()}: the largest exceeds the sum of the other two by "
            f"{excess * moments.max():.3g} (triangle inequality)"
        )
