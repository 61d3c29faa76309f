"""How what is made of numbers is written where a person reads it: short, in one line; of a batch its shape."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import jax
import numpy as np

_FEW = 12  # numbers of one array


def number_or_shape(value: Any) -> str:
    """A number to 7 digits, the few of an array, or the shape of one."""
    if isinstance(value, jax.core.Tracer):
        return f"traced {value.aval.str_short()}"
    if not isinstance(value, np.ndarray | np.generic | jax.Array | float):
        return repr(value)
    numbers = np.asarray(value)
    return f"of shape {numbers.shape}" if numbers.size > _FEW else _short(numbers.tolist())


def _short(numbers: Any) -> str:
    if isinstance(numbers, list):
        return f"[{', '.join(map(_short, numbers))}]"
    return f"{numbers:.7g}" if isinstance(numbers, float) else repr(numbers)


def components(self: Any) -> str:
    """Of a class whose fields are numbers: `Vec3(0, 0, 50)`."""
    values = [getattr(self, f.name) for f in fields(self)]
    shapes = {np.shape(value) for value in values}
    inside = ", ".join(map(number_or_shape, values)) if shapes == {()} else f"of shape {max(shapes, key=len)}"
    return f"{type(self).__name__}({inside})"


def by_name(self: Any) -> str:
    """Of a class whose fields are arrays: each by its name, but those that are as they always are."""
    shown = [(f, getattr(self, f.name)) for f in fields(self) if f.repr]
    inside = (f"{f.name}={number_or_shape(value)}" for f, value in shown if value is not f.default)
    return f"{type(self).__name__}({', '.join(inside)})"
