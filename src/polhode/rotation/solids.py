"""Mass, centre and inertia of simple solids, of point masses and of triangle meshes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.model.checks import SMALLEST, InputError, numbers, positive, shown

_overflowing = np.errstate(over="ignore", invalid="ignore")  # to infinity, which a RigidBody refuses


@dataclass(frozen=True)
class Solid:
    """`second` is ∫ x xᵀ dm about the centre of mass; the inertia is trace(second) 1 - second."""

    mass: float
    centre: np.ndarray
    second: np.ndarray

    @_overflowing
    def inertia_about(self, point: np.ndarray) -> np.ndarray:
        arm = self.centre - point
        second = self.second + self.mass * np.outer(arm, arm)
        return np.trace(second) * np.eye(3) - second


@_overflowing
def box(mass: float, size: Any) -> Solid:
    return _centred(mass, _lengths("size", size) ** 2 / 12)


@_overflowing
def ellipsoid(mass: float, semi_axes: Any) -> Solid:
    return _centred(mass, _lengths("semi_axes", semi_axes) ** 2 / 5)


@_overflowing
def cylinder(mass: float, radius: float, height: float) -> Solid:
    r = positive("radius", radius)
    h = numbers("height", height)
    if h.shape != () or h < 0:
        raise InputError(f"height must be one number, zero or more; got {shown(height)}")
    return _centred(mass, np.array([r * r / 4, r * r / 4, float(h) ** 2 / 12]))


@_overflowing
def points(masses: Any, positions: Any) -> Solid:
    x = numbers("positions", positions, (3,))
    m = numbers("masses", masses)
    if x.ndim != 2 or not len(x) or m.shape != x.shape[:1] or (m < SMALLEST).any():
        raise InputError(
            f"n positive masses and n x 3 positions are needed; got shapes {m.shape} and {x.shape}, masses "
            f"{shown(masses)}"
        )
    mass = float(m.sum())
    centre = m @ x / mass
    arms = x - centre
    return Solid(mass, centre, (m[:, None] * arms).T @ arms)


@_overflowing
def mesh(vertices: Any, triangles: Any, density: float) -> Solid:
    """By the signed tetrahedra from the origin to each triangle."""
    v = numbers("vertices", vertices, (3,))
    if v.ndim != 2 or not len(v):
        raise InputError(f"vertices must be n x 3 numbers; got shape {v.shape}")
    shape, faces = numbers("triangles", triangles, (3,)).shape, np.asarray(triangles)
    if len(shape) != 2 or not len(faces) or not np.issubdtype(faces.dtype, np.integer):
        raise InputError(f"triangles must be n x 3 whole numbers; got shape {shape}, {faces.dtype}")
    if faces.min() < 0 or faces.max() >= len(v):
        raise InputError(f"triangles name vertices {faces.min()} to {faces.max()}; there are 0 to {len(v) - 1}")
    edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    _, uses = np.unique(edges, axis=0, return_counts=True)
    if (uses != 2).any():
        raise InputError(
            f"the mesh is not closed: {int((uses != 2).sum())} edges do not belong to exactly two triangles"
        )
    corners = v[faces]
    volumes = np.linalg.det(corners) / 6
    volume = volumes.sum()
    if volume <= 0:
        raise InputError(
            f"the mesh encloses a volume of {volume:.3g}; list each triangle counter-clockwise from outside"
        )
    sums = corners.sum(axis=1)
    centre = volumes @ sums / (4 * volume)
    # ∫ x xᵀ over a tetrahedron with a corner at the origin: volume/20 (s sᵀ + Σ c cᵀ)
    second = np.einsum("f,fi,fj->ij", volumes, sums, sums) + np.einsum("f,fci,fcj->ij", volumes, corners, corners)
    rho = positive("density", density)
    return Solid(rho * volume, centre, rho * (second / 20 - volume * np.outer(centre, centre)))


def _centred(mass: float, second_per_mass: np.ndarray) -> Solid:
    m = positive("mass", mass)
    return Solid(m, np.zeros(3), m * np.diag(second_per_mass))


def _lengths(name: str, values: Any) -> np.ndarray:
    lengths = numbers(name, values, (3,))
    if (lengths <= 0).any():
        raise InputError(f"{name} must be three positive lengths; got {shown(values)}")
    return lengths
