"""`for_each_member`: a function written for one body, called for every member of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.model.checks import InputError


class AmbiguousError(InputError):
    """A parameter that could be one for all or one for each member."""


def batch_shape(values: Any) -> tuple[int, ...]:
    """Of all numbers in `values` together."""
    return np.broadcast_shapes(*(np.shape(x) for x in jax.tree.leaves(values)))


def together(**shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The batch that these make; an InputError names them where they make none."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError as error:
        named = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise InputError(
            f"batch shapes do not go together: {named}. From the last axis on, lengths must be equal, or 1"
        ) from error


def for_each_member(
    fn: Callable[..., Any], values: tuple[Any, ...], parameters: dict[str, Any], shape: tuple[int, ...]
) -> Any:
    """`fn(*values, **parameters)` for each member of a batch of that shape, which the function never sees."""
    return mapped(fn, values, parameters, one_each(fn, values, parameters, shape), shape)


def one_each(
    fn: Callable[..., Any], values: tuple[Any, ...], parameters: dict[str, Any], shape: tuple[int, ...]
) -> tuple[str, ...]:
    """Parameters with one value for each member in their leading axes; the others are one for all: whichever the
    function can work with. Where it could work with both, only the user can know."""
    could_be = [name for name, p in parameters.items() if shape and begins_with(shape, p)]
    ways = [names for n in range(len(could_be) + 1) for names in combinations(could_be, n)]
    if len(ways) == 1:
        return ways[0]
    working = [names for names in ways if _works(partial(mapped, fn, each=names, shape=shape), values, parameters)]
    if len(working) <= 1:
        return (working or ways)[0]  # where none works, the call says why
    names = " and ".join(repr(name) for name in could_be)
    raise AmbiguousError(
        f"the parameter {names} could be one array for all, or one value for each member of this batch of shape "
        f"{shape}. If it is one array, write it into the function; if it has one value for each member, give the "
        f"start and the parameter one more axis of length 1: shape {(*shape, 1)}"
    )


def begins_with(shape: tuple[int, ...], parameter: Any) -> bool:
    """Whether it has axes of this shape in front."""
    return any(np.shape(leaf)[: len(shape)] == shape for leaf in jax.tree.leaves(parameter))


def _works(call: Callable[..., Any], values: Any, parameters: Any) -> bool:
    try:
        jax.eval_shape(call, values, parameters)
    except Exception:  # whatever the function raises where it is given what it was not written for
        return False
    return True


def mapped(
    fn: Callable[..., Any], values: tuple[Any, ...], parameters: dict[str, Any], each: Iterable[str],
    shape: tuple[int, ...],
) -> Any:  # fmt: skip
    """`fn` for each member, where these parameters have one value for each."""

    def call(values: Any, parameters: Any) -> Any:
        return fn(*values, **parameters)

    values = jax.tree.map(lambda x: x if np.ndim(x) == 0 else jnp.broadcast_to(x, shape), values)
    axes = (
        jax.tree.map(lambda x: 0 if np.ndim(x) else None, values),
        {name: 0 if name in each else None for name in parameters},
    )
    if not jax.tree.leaves(axes):  # one body, or a function of time alone
        return call(values, parameters)
    for _ in shape:
        call = jax.vmap(call, in_axes=axes)
    return call(values, parameters)
