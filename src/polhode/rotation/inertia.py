"""Inertia as users give it, of one body or of a batch: checked, and in principal axes."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from polhode.algebra import Mat3, Quaternion
from polhode.model.checks import SMALLEST, InputError, numbers, shape_of, shown

_NEEDED = "inertia must be 3 principal moments or a symmetric 3x3 tensor"
_MORE = "a batch of bodies has more axes in front"


class UnphysicalError(InputError):
    """Moments that no mass distribution has. What to do is said where it can be done: a `RigidBody` takes a flag,
    a built-in problem has none."""

    def __str__(self) -> str:
        return f"{self.args[0]}. If this is meant, pass allow_unphysical=True"


def principal(inertia: Any, allow_unphysical: bool) -> tuple[np.ndarray, np.ndarray, Quaternion | None]:
    """Tensors, principal moments and the axes they are along, checked; no axes where every tensor is diagonal."""
    tensor = _tensor(inertia)
    moments = np.diagonal(tensor, axis1=-2, axis2=-1)
    turned = (tensor != moments[..., None] * np.eye(3)).any(axis=(-1, -2))
    axes = None
    if turned.any():
        # A member whose tensor is diagonal keeps its axes, and so the bits that it has alone.
        values, vectors = np.linalg.eigh(tensor)
        vectors = vectors * np.linalg.det(vectors)[..., None, None]  # right-handed
        moments = np.where(turned[..., None], values, moments)
        axes = Quaternion.from_matrix(Mat3.of(np.where(turned[..., None, None], vectors, np.eye(3))))
    _check_moments(moments, allow_unphysical)
    return tensor, moments, axes


def principal_of_traced(inertia: Any) -> tuple[Any, Any, Quaternion | None]:
    """The same of what is traced: of its shape alone anything can be said."""
    given = jnp.asarray(inertia, dtype=float)
    if given.shape[-1:] != (3,):
        raise InputError(f"{_NEEDED}; got shape {given.shape}; {_MORE}")
    if given.shape[-2:] != (3, 3):
        return given[..., None] * jnp.eye(3), given, None
    tensor = (given + jnp.swapaxes(given, -1, -2)) / 2
    values, vectors = jnp.linalg.eigh(tensor)
    vectors = vectors * jnp.sign(jnp.linalg.det(lax.stop_gradient(vectors)))[..., None, None]  # right-handed
    return tensor, values, Quaternion.from_matrix(Mat3.of(vectors))


def of_member(index: Any) -> str:
    """The end of 'the inertia', for one member of a batch."""
    return f" of member {list(map(int, index))}" if len(index) else ""


def _tensor(inertia: Any) -> np.ndarray:
    shape = shape_of(_NEEDED, inertia)
    if shape[-1:] != (3,):
        raise InputError(f"{_NEEDED}; got shape {shape}: {shown(inertia)}; {_MORE}")
    if 0 in shape:
        raise InputError(f"inertia is an empty batch, of shape {shape}; give at least one member")
    tensor = numbers("inertia", inertia)
    if shape[-2:] != (3, 3):
        return tensor[..., None] * np.eye(3)
    other = np.swapaxes(tensor, -1, -2)
    skewness = np.abs(tensor / 2 - other / 2).max(axis=(-1, -2)) * 2
    wrong = np.argwhere(skewness > 1e-10 * np.abs(tensor).max(axis=(-1, -2)))
    if len(wrong):
        first = tuple(wrong[0])
        raise InputError(
            f"inertia{of_member(first)} must be symmetric; entries across the diagonal differ by up to "
            f"{skewness[first]:.3g}: {shown(tensor[first].tolist())}. What ends in 3x3 is "
            "tensors; three bodies by their moments m, 3x3 too, are given as m[:, :, None] * numpy.eye(3)"
        )
    return tensor / 2 + other / 2


def _check_moments(moments: np.ndarray, allow_unphysical: bool) -> None:
    small = np.argwhere((moments < SMALLEST).any(axis=-1))
    if len(small):
        first = tuple(small[0])
        raise InputError(
            f"inertia{of_member(first)} must be positive definite, with moments of at least {SMALLEST:.2g}; its "
            f"principal moments are {moments[first].tolist()}"
        )
    excess = 2.0 - (moments / moments.max(axis=-1, keepdims=True)).sum(axis=-1)
    large = np.argwhere(excess > 1e-12)
    if len(large) and not allow_unphysical:
        first = tuple(large[0])
        raise UnphysicalError(
            f"no body has principal moments {moments[first].tolist()}{of_member(first)}: the largest exceeds the sum "
            f"of the other two by {excess[first] * moments[first].max():.3g} (triangle inequality)"
        )
