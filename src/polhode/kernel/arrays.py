"""Small arrays inside a kernel: they are arrays of texts, one of a number each, and moving them costs nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from polhode.kernel.operations import literal


def constant(value: Any, dtype: Any = None) -> np.ndarray:
    value = np.asarray(value, dtype)
    out = np.empty(value.shape, object)
    for at in np.ndindex(value.shape):
        out[at] = literal(value[at], value.dtype)
    return out


def moved(name: str, params: Any, args: list[np.ndarray], shape: tuple[int, ...], count: int) -> list[Any] | None:
    """The results of an operation that only moves numbers; None for any other."""
    x = args[0] if args else None
    if x is None:
        return [constant(_iota(params))] if name == "iota" else None
    if name == "broadcast_in_dim":
        inner = [1] * len(shape)
        for axis, length in zip(params["broadcast_dimensions"], x.shape, strict=True):
            inner[axis] = length
        return [np.broadcast_to(x.reshape(inner), shape)]
    if name in ("reshape", "squeeze", "expand_dims"):
        return [x.reshape(shape)]
    if name == "transpose":
        return [np.transpose(x, params["permutation"])]
    if name == "rev":
        return [np.flip(x, params["dimensions"])]
    if name == "concatenate":
        return [np.concatenate(args, axis=params["dimension"])]
    if name == "stack":
        return [np.stack(args, axis=params.get("axis", 0))]
    if name == "unstack":
        return [np.take(x, i, axis=params["axis"]) for i in range(count)]
    if name == "split":
        return np.split(x, np.cumsum(params["sizes"])[:-1], axis=params["axis"])
    if name == "slice":
        strides = params["strides"] or [1] * x.ndim
        ends = zip(params["start_indices"], params["limit_indices"], strides, strict=True)
        return [x[tuple(slice(*end) for end in ends)]]
    if name == "pad" and all(low >= 0 and high >= 0 and not inner for low, high, inner in params["padding_config"]):
        out = np.full(shape, args[1][()], dtype=object)
        out[tuple(slice(low, low + n) for (low, _, _), n in zip(params["padding_config"], x.shape, strict=True))] = x
        return [out]
    return None


def _iota(params: Any) -> np.ndarray:
    shape, axis = params["shape"], params["dimension"]
    line = np.arange(shape[axis], dtype=params["dtype"])
    return np.broadcast_to(line.reshape([-1 if k == axis else 1 for k in range(len(shape))]), shape)


def rows_reduced(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """The numbers that are put together, in front."""
    front = np.moveaxis(x, axes, range(len(axes)))
    return front.reshape(math.prod(front.shape[: len(axes)]), *front.shape[len(axes) :])


def factors(a: np.ndarray, b: np.ndarray, dimension_numbers: Any) -> list[tuple[tuple[int, ...], list[Any]]]:
    """Of a product of arrays: for every place of the result, the pairs whose products are summed."""
    (sum_a, sum_b), (with_a, with_b) = dimension_numbers
    free_a = [k for k in range(a.ndim) if k not in (*sum_a, *with_a)]
    free_b = [k for k in range(b.ndim) if k not in (*sum_b, *with_b)]
    left, right = np.transpose(a, (*with_a, *free_a, *sum_a)), np.transpose(b, (*with_b, *free_b, *sum_b))
    both, n = len(with_a), len(sum_a)
    found = []
    for at in np.ndindex(left.shape[: left.ndim - n]):
        for more in np.ndindex(right.shape[both : right.ndim - n]):
            pairs = zip(np.ravel(left[at]), np.ravel(right[(*at[:both], *more)]), strict=True)
            found.append(((*at, *more), list(pairs)))
    return found
