"""Dataclasses as pytrees: fields annotated `Static` shape the program, the others are its numbers."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, TypeVar, dataclass_transform

import jax

T = TypeVar("T")
Static = Annotated[T, "static"]


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def tree(cls: type[T]) -> type[T]:
    """A frozen dataclass registered as a pytree. Changing a number compiles nothing anew;
    changing a static field (a name, a function, a count) does."""
    made: Any = dataclass(frozen=True)(cls)
    static = [f.name for f in fields(made) if str(f.type).startswith("Static[")]
    data = [f.name for f in fields(made) if f.name not in static]
    if "__init__" not in cls.__dict__ and all(f.init for f in fields(made)):
        return jax.tree_util.register_dataclass(made, data, static)

    def flatten(x: Any) -> Any:
        return [getattr(x, name) for name in data], tuple(getattr(x, name) for name in static)

    def flatten_with_keys(x: Any) -> Any:
        leaves, aux = flatten(x)
        return [(jax.tree_util.GetAttrKey(n), leaf) for n, leaf in zip(data, leaves, strict=True)], aux

    def unflatten(aux: Any, leaves: Any) -> Any:
        x = object.__new__(made)  # a constructor checks what users give, and knows nothing of the rest
        for name, value in zip((*data, *static), (*leaves, *aux), strict=True):
            object.__setattr__(x, name, value)
        return x

    jax.tree_util.register_pytree_with_keys(made, flatten_with_keys, unflatten, flatten)
    return made


def replaced(x: T, **changes: Any) -> T:
    """The same with some fields changed, those too that no user gives, so that no constructor checks them again."""
    new = copy.copy(x)
    for name, value in changes.items():
        object.__setattr__(new, name, value)
    return new
