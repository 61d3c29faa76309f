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
        packed = self._packed
        if packed is None:
            return self._shaped(self._call(*arrays(leaves)))
        return self._shaped(packed.unpacked(np.asarray(self._call(packed.packed(leaves)))))

    def after(self, first: list[Any], then: Callable[[Any], Called] | None = None) -> Callable[[list[Any]], Any]:
        """The same of the other numbers alone; and, beside its result, that of another program, which `then` makes of a
        result: it takes the same numbers, and the result behind them, where they lie."""
        packed, call, shaped, other = self._packed, self._call, self._shaped, None
        front = None if packed is None else packed.packed(first)
        if packed is not None and then is not None:  # now, as who asks for a program waits for it
            other = then(shaped(packed.empty()))

        def called(rest: list[Any]) -> Any:
            nonlocal other
            if packed is None:
                result = self([*first, *rest])
            else:
                given = packed.packed(rest, front)
                found = np.asarray(call(given))
                result = shaped(packed.unpacked(found))
            if then is None:
                return result
            other = other or then(result)
            its = other._packed
            if packed is None or its is None:
                return result, other([*first, *rest, *jax.tree.leaves(result)])
            return result, other._shaped(its.unpacked(np.asarray(other._call(np.concatenate([given, found])))))

        return called


def arrays(leaves: list[Any]) -> list[Any]:
    """Of numpy, or of JAX where they are."""
    return [x if isinstance(x, jax.Array) else np.asarray(x) for x in leaves]


def is_plain(x: Any) -> bool:
    """A number or array of one device, not one that JAX is tracing."""
    return not isinstance(x, jax.core.Tracer) and not (isinstance(x, jax.Array) and len(x.sharding.device_set) > 1)
