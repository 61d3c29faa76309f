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
        return self._shaped(self._packed.unpacked(self._call(self._packed.packed(leaves))))

    def after(self, first: list[Any]) -> Callable[[list[Any]], Any]:
        """The same of the other numbers alone."""
        packed, call, shaped = self._packed, self._call, self._shaped
        if packed is None:
            return lambda rest: self([*first, *rest])
        front = packed.packed(first)
        return lambda rest: shaped(packed.unpacked(call(packed.packed(rest, front))))


def arrays(leaves: list[Any]) -> list[Any]:
    """Of numpy, or of JAX where they are."""
    return [x if isinstance(x, jax.Array) else np.asarray(x) for x in leaves]
