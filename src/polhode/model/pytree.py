"""Dataclasses as pytrees: fields annotated `Static` shape the program, `Code` are users' functions, the others
are its numbers."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, TypeVar, dataclass_transform

import jax

from polhode._programs import Traced

T = TypeVar("T")
Static = Annotated[T, "static"]
Code = Annotated[T, "code"]  # a function; once it is traced, its numbers are numbers of the pytree


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def tree(cls: type[T]) -> type[T]:
    """A frozen dataclass registered as a pytree. Changing a number compiles nothing anew;
    changing a static field (a name, a count) does. A constructor that checks its arguments is for users,
    not for traced numbers: it is not called when a pytree is put together."""
    made: Any = dataclass(frozen=True)(cls)
    marks = _marks(made, sys._getframe(1).f_locals)
    data, static, code = ([f.name for f in fields(made) if marks.get(f.name) == kind] for kind in (None, Static, Code))

    def flatten(x: Any) -> Any:
        functions = [getattr(x, name) for name in code]
        known = [isinstance(f, Traced) for f in functions]
        children = [getattr(x, name) for name in data]
        children += [f if k else None for f, k in zip(functions, known, strict=True)]
        raw = [None if k else f for f, k in zip(functions, known, strict=True)]
        return children, (*(getattr(x, name) for name in static), *raw)

    def flatten_with_keys(x: Any) -> Any:
        children, aux = flatten(x)
        keys = map(jax.tree_util.GetAttrKey, (*data, *code))
        return list(zip(keys, children, strict=True)), aux

    def unflatten(aux: Any, children: Any) -> Any:
        x = object.__new__(made)
        values = dict(zip((*data, *code), children, strict=True)) | dict(zip(static, aux, strict=False))
        values |= {name: f for name, f in zip(code, aux[len(static) :], strict=True) if f is not None}
        for name, value in values.items():
            object.__setattr__(x, name, value)
        return x

    jax.tree_util.register_pytree_with_keys(made, flatten_with_keys, unflatten, flatten)
    return made


def _marks(cls: type, here: Mapping[str, Any]) -> dict[str, Any]:
    """`Static` or `Code` of the fields so annotated, under whatever name the annotation calls them by."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        module = sys.modules.get(base.__module__)  # none for what was made by `exec`
        names = {**(vars(module) if module else {}), **here}
        for name, annotation in inspect.get_annotations(base).items():
            found[name] = _mark(annotation, names, f"{base.__qualname__}.{name}")
    return {name: mark for name, mark in found.items() if mark is not None}


def _mark(annotation: Any, names: Mapping[str, Any], field: str) -> Any:
    if isinstance(annotation, str):
        outer = ast.parse(annotation, mode="eval").body
        outer = outer.value if isinstance(outer, ast.Subscript) else outer
        try:
            annotation = eval(compile(ast.Expression(outer), field, "eval"), {}, dict(names))
        except Exception as error:
            raise TypeError(
                f"{field}: cannot tell whether the annotation {annotation!r} means Static ({error}); import its names "
                "where the class is"
            ) from error
    return next((m for m in (Static, Code) if m.__metadata__ == getattr(annotation, "__metadata__", None)), None)


def changed(x: T, **changes: Any) -> T:
    """A dataclass with some fields changed, as `dataclasses.replace` makes it of one whose constructor does nothing
    else, in a tenth of the time. What a `cached_property` keeps stays behind."""
    new, known, names = object.__new__(type(x)), x.__dict__, x.__dataclass_fields__  # type: ignore[attr-defined]
    if len(known) > len(names):
        known = {name: known[name] for name in names}
    new.__dict__.update(known, **changes)
    return new


def replaced(x: T, **changes: Any) -> T:
    """The same with some fields changed, those too that no user gives, so that no constructor checks them again."""
    new = object.__new__(type(x))
    new.__dict__.update(x.__dict__, **changes)
    return new
