"""`Called`: what XLA made of a program, as a function of its numbers; some of them may stay as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from polhode._programs.at_once import AtOnce


class Called:
    """`call` of arrays, or of them `packed` into one, with results that `shaped` puts together."""

    def __init__(self, call: Callable[..., Any], shaped: Callable[[Any], Any], packed: AtOnce | None = None) -> None:
        self._call, self._shaped, self._packed = call, shaped, packed

    def __call__(self, leaves: list[Any]) -> Any:
        if self._packed is None:
            return self._shaped(self._call(*arrays(leaves)))
        return self._result(self._packed.packed(leaves))

    def after(self, first: list[Any]) -> Callable[[list[Any]], Any]:
        """The same of the other numbers alone."""
        if self._packed is None:
            return lambda rest: self([*first, *rest])
        front = self._packed.packed(first)
        return lambda rest: self._called(front, rest)[0]

    def followed(self, first: list[Any], then: Callable[[Any], Called]) -> Callable[[list[Any]], Any]:
        """The same, and beside its result that of another program, which `then` makes of a result: it takes the same
        numbers, and the result behind them, where they lie."""
        front, other = None if self._packed is None else self._packed.packed(first), None

        def call(rest: list[Any]) -> Any:
            nonlocal other
            if front is None:
                result = self([*first, *rest])
            else:
                result, both = self._called(front, rest)
            other = other or then(result)
            if front is None or other._packed is None:
                return result, other([*first, *rest, *jax.tree.leaves(result)])
            return result, other._result(np.concatenate(both))

        return call

    def _called(self, front: np.ndarray, rest: list[Any]) -> tuple[Any, tuple[np.ndarray, np.ndarray]]:
        """The result; and all numbers with it, as a program packs them that takes both."""
        packed: Any = self._packed
        given = packed.packed(rest, front)
        found = packed.found(self._call(given))
        return self._shaped(packed.unpacked(found)), (given, found)

    def _result(self, given: np.ndarray) -> Any:
        packed: Any = self._packed
        return self._shaped(packed.unpacked(packed.found(self._call(given))))


def arrays(leaves: list[Any]) -> list[Any]:
    """Of numpy, or of JAX where they are."""
    return [x if isinstance(x, jax.Array) else np.asarray(x) for x in leaves]


def is_plain(x: Any) -> bool:
    """A number or array of one device, not one that JAX is tracing."""
    return not isinstance(x, jax.core.Tracer) and not (isinstance(x, jax.Array) and len(x.sharding.device_set) > 1)
