"""A program that takes its numbers as one array and gives one back, and is one call of native code.

Each array that enters or leaves a program takes some microseconds, and so does each operation around its loop: XLA
hands them out to threads, which have to wake up. For few numbers that is longer than what is computed. So these are
packed on the host, and all that is done with them is the body of a loop that is gone through once: XLA makes one
function of a small loop, if it cannot tell how often it is gone through.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

_FEW = 2**14  # numbers, in and out: to copy more of them takes longer than what it saves
_KINDS = (np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.bool_))


class AtOnce:
    """`call` of numbers of these kinds, with results of those: what is compiled, and how its array is read."""

    def __init__(self, call: Callable[..., Any], given: Sequence[Any], results: Sequence[Any]) -> None:
        self._call, self._given, self._results = call, given, results
        self._places = [(x.dtype == np.float64, place, not x.shape) for x, place in _laid_out(given, 1)]
        parts = _laid_out(results, 0)
        self._parts = [(x.dtype == np.float64, place) for x, place in parts]
        self._shapes = [(i, x.shape) for i, x in enumerate(results) if len(x.shape) > 1]
        self._flags = [i for i, x in enumerate(results) if x.dtype == np.bool_]
        self._size, self._filled = 1 + _count(given), _count(results)
        self.__name__ = getattr(call, "__name__", "at_once")

    @staticmethod
    def fits(given: Sequence[Any], results: Sequence[Any]) -> bool:
        """Whether these are few numbers, of kinds that can be packed."""
        both = [*given, *results]
        return all(x.dtype in _KINDS for x in both) and _count(both) <= _FEW

    @property
    def shape(self) -> jax.ShapeDtypeStruct:
        """Of what `packed` makes."""
        return jax.ShapeDtypeStruct((self._size,), np.int64)

    def packed(self, leaves: Sequence[Any], front: np.ndarray | None = None) -> np.ndarray:
        """A one, how often it is done, and the numbers, bit by bit: the first of them, or, behind those that were
        packed in `front`, the last."""
        if front is None:
            whole, places = np.empty(self._size, np.int64), self._places
            whole[0] = 1
        else:
            whole, places = front.copy(), self._places[-len(leaves) :]
        floats = whole.view(np.float64)
        for x, (is_float, place, alone) in zip(leaves, places, strict=False):
            (floats if is_float else whole)[place] = x if alone else np.reshape(x, -1)
        return whole

    def empty(self) -> list[Any]:
        """Results like those it gives."""
        return self.unpacked(np.zeros(self._filled, np.int64))

    def unpacked(self, whole: np.ndarray) -> list[Any]:
        """The results, as parts of one array."""
        floats = whole.view(np.float64)
        values = [(floats if is_float else whole)[place] for is_float, place in self._parts]
        for i, shape in self._shapes:
            values[i] = values[i].reshape(shape)
        for i in self._flags:
            values[i] = values[i] != 0
        return values

    def __call__(self, packed: Any) -> Any:
        size = max(self._size, self._filled)

        def body(_: Any, array: Any) -> Any:
            values = [_as(array[place], x) for x, place in _laid_out(self._given, 1)]
            parts = [_bits(x).reshape(-1) for x in self._call(*values)]
            return jnp.pad(jnp.concatenate(parts), (0, size - self._filled))

        found = lax.fori_loop(0, packed[0], body, jnp.pad(packed, (0, size - self._size)))
        return found if size == self._filled else found[: self._filled]


def _count(arrays: Sequence[Any]) -> int:
    return sum(math.prod(x.shape) for x in arrays)


def _laid_out(arrays: Sequence[Any], start: int) -> list[tuple[Any, int | slice]]:
    """Each with where it is; a number by itself has one index."""
    places: list[tuple[Any, int | slice]] = []
    for x in arrays:
        end = start + math.prod(x.shape)
        places.append((x, slice(start, end) if x.shape else start))
        start = end
    return places


def _as(bits: Any, like: Any) -> Any:
    bits = bits.reshape(like.shape)
    return lax.bitcast_convert_type(bits, np.float64) if like.dtype == np.float64 else bits.astype(like.dtype)


def _bits(x: Any) -> Any:
    return lax.bitcast_convert_type(x, np.int64) if x.dtype == np.float64 else x.astype(np.int64)
