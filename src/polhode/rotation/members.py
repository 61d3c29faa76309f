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
    """`fn(*values, **parameters)` for each member of a batch of that shape, which the function never sees.

    A parameter is one for all, or has one value for each member in its leading axes: whichever the
    function can work with. Where it could work with both, only the user can know."""
    if shape == ():
        return fn(*values, **parameters)
    values = jax.tree.map(lambda x: x if np.ndim(x) == 0 else jnp.broadcast_to(x, shape), values)
    could_be = [name for name, p in parameters.items() if begins_with(shape, p)]
    ways = [names for n in range(len(could_be) + 1) for names in combinations(could_be, n)]
    calls = [partial(_mapped, fn, values, parameters, names, len(shape)) for names in ways]
    if len(calls) == 1:
        return calls[0]()
    working = [call for call in calls if _works(call)]
    if len(working) <= 1:
        return (working or calls)[0]()  # where none works, it says why
    names = " and ".join(repr(name) for name in could_be)
    raise AmbiguousError(
        f"the parameter {names} could be one array for all, or one value for each member of this batch of shape "
        f"{shape}. If it is one array, write it into the function; if it has one value for each member, give the "
        f"start and the parameter one more axis of length 1: shape {(*shape, 1)}"
    )


def begins_with(shape: tuple[int, ...], parameter: Any) -> bool:
    """Whether it has axes of this shape in front."""
    return any(np.shape(leaf)[: len(shape)] == shape for leaf in jax.tree.leaves(parameter))


def _works(call: Callable[[], Any]) -> bool:
    try:
        jax.eval_shape(call)
    except Exception:  # whatever the function raises where it is given what it was not written for
        return False
    return True


def _mapped(
    fn: Callable[..., Any], values: tuple[Any, ...], parameters: dict[str, Any], one_each: Iterable[str], depth: int
) -> Any:
    def call(values: Any, parameters: Any) -> Any:
        return fn(*values, **parameters)

    axes = (
        jax.tree.map(lambda x: 0 if np.ndim(x) else None, values),
        {name: 0 if name in one_each else None for name in parameters},
    )
    if not jax.tree.leaves(axes):  # a function of time alone
        return call(values, parameters)
    for _ in range(depth):
        call = jax.vmap(call, in_axes=axes)
    return call(values, parameters)
