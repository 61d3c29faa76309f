"""Dataclasses as pytrees: fields annotated `Static` shape the program, the others are its numbers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, TypeVar, dataclass_transform

import jax

T = TypeVar("T")
Static = Annotated[T, "static"]


@dataclass_transform(frozen_default=True)
def tree(cls: type[T]) -> type[T]:
    """A frozen dataclass registered as a pytree. Changing a number compiles nothing anew;
    changing a static field (a name, a function, a count) does."""
    made: Any = dataclass(frozen=True)(cls)
    static = [f.name for f in fields(made) if str(f.type).startswith("Static[")]
    data = [f.name for f in fields(made) if f.name not in static]
    return jax.tree_util.register_dataclass(made, data, static)
