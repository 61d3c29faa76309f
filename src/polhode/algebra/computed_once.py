"""Numbers that are worked out once, then read.

XLA's CPU backend joins what makes a number to what reads it, and then makes it anew for every
reader: all of a constraint for each place of a matrix. At a call that may not be inlined it stops.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import jax
from jax.experimental.xla_metadata import set_xla_metadata

from polhode._programs import platform


def computed_once(fn: Callable[..., Any] | None = None, /, **options: Any) -> Callable[..., Any]:
    """A decorator: `jax.jit` with these options, whose results are kept as they are."""
    if fn is None:
        return partial(computed_once, **options)
    compiled = jax.jit(fn, **options)

    @wraps(fn)
    def call(*args: Any) -> Any:
        values = compiled(*args)
        # Said of a value, this is attached to the call that makes it. On a GPU every call would be a launch.
        return set_xla_metadata(values, inlineable="false") if platform() == "cpu" else values

    return call


def once(fn: Callable[..., Any], *args: Any) -> Any:
    """`fn(*args)`, where components are arrays in a program that is being made: kept as it is."""
    traced = any(isinstance(x, jax.core.Tracer) and x.ndim for x in jax.tree.leaves(args))
    return computed_once(fn)(*args) if traced else fn(*args)
