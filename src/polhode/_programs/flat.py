"""A function of trees as a function of lists, which is what is traced, kept and compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax import export

from polhode._programs.settings import export_platform


def shapes_of(leaves: list[Any]) -> list[Any]:
    """As JAX will have them: without its 64-bit mode, numbers of half the size."""
    return [jax.ShapeDtypeStruct(x.shape, jax.dtypes.canonicalize_dtype(x.dtype)) for x in leaves]


class Flat:
    """fn of a list of numbers, returning a list; the shape of its result is known once it was traced."""

    def __init__(self, fn: Callable[..., Any], static: Any, tree: Any) -> None:
        self.__name__ = fn.__name__  # for profiles
        self._fn, self.static, self.tree = fn, static, tree
        self._shape: Any = None

    def __call__(self, *leaves: Any) -> list[Any]:
        values, self._shape = jax.tree.flatten(self._fn(*self.static, *jax.tree.unflatten(self.tree, leaves)))
        return values

    @property
    def count(self) -> int:
        return self._shape.num_leaves

    def result(self, values: Any) -> Any:
        return self._shape.unflatten(values)

    def exported(self, leaves: list[Any]) -> Any:
        """Traced, to be kept; None for what calls back to Python, or wrong input, which tracing again will name. As it
        will be read again: kinds that a file does not keep would make another program of it, to be compiled anew."""
        try:
            traced = export.export(jax.jit(self), platforms=[export_platform()])(*shapes_of(leaves))
            return export.deserialize(traced.serialize())
        except (NotImplementedError, ValueError):
            return None
