"""Where arrays are worked with: by numpy, or by JAX where it has them, so that those on a GPU stay there."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

_NEAR = ("cpu",)  # platforms whose memory is that of this process


def on_gpu(x: Any) -> bool:
    """Whether it is an array that is kept on a GPU: looking at its numbers from here takes longer than working with
    all of them there."""
    if not isinstance(x, jax.Array) or isinstance(x, jax.core.Tracer):
        return False
    return all(device.platform not in _NEAR for device in x.devices())


def here(tree: Any) -> Any:
    """With what is on a GPU brought here."""
    return jax.tree.map(np.asarray, tree) if any(map(on_gpu, jax.tree.leaves(tree))) else tree


def library_of(*arrays: Any) -> Any:
    """numpy, or jax.numpy if any of them is JAX's."""
    return jnp if any(isinstance(x, jax.Array) for x in arrays) else np


def lengths(vectors: Any) -> Any:
    """Of vectors in the last axis, also of those whose squares overflow or vanish."""
    if not isinstance(vectors, jax.Array):
        return np.hypot.reduce(np.asarray(vectors), axis=-1)
    size = jnp.abs(vectors).max(axis=-1)
    scale = jnp.where((size > 0) & jnp.isfinite(size), size, 1.0)
    return scale * jnp.sqrt(jnp.sum((vectors / scale[..., None]) ** 2, axis=-1))
