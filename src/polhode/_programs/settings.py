"""Settings of JAX that a traced program depends on, and one of how a program is called."""

from __future__ import annotations

from contextlib import suppress
from operator import attrgetter
from typing import Any

import jax
import jax.export
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

# On a CPU a program is then run by who calls it: to wake another thread for it takes as long as a hundred steps. It has
# no effect once JAX has started, and JAX takes this from no variable of the environment.
with suppress(AttributeError):
    config.update("jax_cpu_enable_async_dispatch", False)


_values = attrgetter(*(name for name in _SETTINGS if hasattr(config, name)))


def settings() -> tuple[Any, ...]:
    """As they are now."""
    return _values(config)


def platform() -> str:
    """Where programs run that are made now: "cpu", "gpu", ..."""
    chosen = config.jax_default_device
    return str(getattr(chosen, "platform", chosen)) if chosen is not None else str(jax.default_backend())


def export_platform() -> str:
    """The same, as `jax.export` calls it, which tells GPUs of one maker from those of others."""
    here = platform()
    return here if here != "gpu" else str(jax.export.default_export_platform())


def has_64_bits() -> bool:
    """Whether JAX computes in float64 here and now."""
    return jax.dtypes.canonicalize_dtype(float) == np.float64
