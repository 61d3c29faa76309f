"""Settings of JAX that a traced program depends on."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

config: Any = jax.config
_SETTINGS = (
    "jax_default_matmul_precision",
    "jax_default_device",
    "jax_numpy_dtype_promotion",
    "jax_numpy_rank_promotion",
    "jax_debug_nans",
    "jax_debug_infs",
    "jax_default_prng_impl",
    "jax_threefry_partitionable",
    "jax_enable_checks",
)


def settings() -> tuple[Any, ...]:
    """As they are now."""
    return tuple(getattr(config, name, None) for name in _SETTINGS)


def has_64_bits() -> bool:
    """Whether JAX computes in float64 here and now."""
    return jax.dtypes.canonicalize_dtype(float) == np.float64
