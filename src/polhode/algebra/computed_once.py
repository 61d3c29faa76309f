"""Numbers that are worked out once, then read.

XLA's CPU backend joins what makes a number to what reads it, and then makes it anew for every
reader: all of a constraint for each place of a matrix. At a call that may not be inlined it stops, and at a division.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental.xla_metadata import set_xla_metadata
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

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


def evaluated(values: Any) -> Any:
    """A pytree of real numbers as it is, each worked out before it is read: for chains of products and sums, every
    number of which is read several times. On a CPU that costs a division by a 1 that XLA cannot know to be 1; anywhere
    else nothing."""
    return jax.tree.map(_evaluated.bind, values)


_evaluated = Primitive("evaluated")
_evaluated.def_impl(lambda x: x)
_evaluated.def_abstract_eval(lambda x: x)
batching.defvectorized(_evaluated)
ad.deflinear2(_evaluated, lambda slope, x: [evaluated(slope)])
mlir.register_lowering(_evaluated, lambda _, x: [x])
_by_division = mlir.lower_fun(lambda x: x / jnp.where(jnp.isnan(x), 2.0, 1.0), multiple_results=False)
mlir.register_lowering(_evaluated, _by_division, platform="cpu")
