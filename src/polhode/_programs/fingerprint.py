"""Whether a user's function computes what it did before, told without tracing it.

A function is its code and all that the code can read: defaults, closure, globals. Where each of these is a number, an
array, a text, a function like itself, or part of JAX, numpy, math or polhode, their values are its fingerprint. Where
one is anything else, an object with attributes, a module of the user's, something random, there is none, and the
function is traced anew.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Hashable
from dataclasses import fields, is_dataclass
from functools import lru_cache, partial
from typing import Any

import jax
import numpy as np

from polhode._programs.names import PjitFunction, is_from

_KNOWN = ("jax", "numpy", "math", "polhode")
# What a function may call and still compute the same.
_PURE = {
    *("abs", "all", "any", "bool", "complex", "dict", "divmod", "enumerate", "float", "frozenset", "int", "isinstance"),
    *("len", "list", "map", "max", "min", "pow", "range", "reversed", "round", "set", "slice", "sorted", "str", "sum"),
    *("tuple", "zip", "True", "False", "None", "ValueError", "TypeError"),
}
_CHANGING = {"random", "__dict__", "__globals__", "__self__", "__closure__", "__code__"}  # attributes
_BEYOND = {"IMPORT_NAME", "STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_NAME", "STORE_DEREF", "LOAD_BUILD_CLASS"}
_LARGE = 4096  # numbers in an array: to compare more takes longer than to trace
_DEEP = 8


class UnknownError(Exception):
    """Something that may have changed without a trace."""


def fingerprint(*things: Any) -> Hashable | None:
    """Equal to that of before only if all of these compute the same as they did; None if that cannot be told. What it
    holds keeps its identity for as long as the fingerprint is kept."""
    try:
        return tuple(_of(x, 0) for x in things)
    except (UnknownError, ValueError):  # a cell of a closure may be empty
        return None


def _of(x: Any, depth: int) -> Hashable:
    kind = type(x)
    if depth > _DEEP:
        raise UnknownError
    if x is None or kind in (bool, int, str, bytes, np.dtype):
        return kind, x
    if kind is float:
        return kind, x.hex()
    if kind in (tuple, list):
        return kind, tuple(_of(item, depth + 1) for item in x)
    if kind is dict:
        return kind, tuple((_of(k, depth + 1), _of(v, depth + 1)) for k, v in x.items())
    if isinstance(x, np.generic) or kind is np.ndarray:
        if x.size > _LARGE or x.dtype.hasobject:
            raise UnknownError
        return kind, x.shape, x.dtype.str, x.tobytes()
    if isinstance(x, jax.Array) and not isinstance(x, jax.core.Tracer):
        return kind, _Same(x)  # nothing changes it
    return _of_what_computes(x, depth + 1)


def _of_what_computes(x: Any, depth: int) -> Hashable:
    kind = type(x)
    if kind is types.ModuleType:
        if x.__name__.split(".")[0] not in _KNOWN:
            raise UnknownError
        return kind, x.__name__
    if kind is partial:
        return kind, _of(x.func, depth), _of(x.args, depth), _of(x.keywords, depth)
    if kind is types.MethodType:
        return kind, _of(x.__self__, depth), _of(x.__func__, depth)
    if hasattr(x, "__qualname__") and getattr(x, "__closure__", None) is None and is_from(x, *_KNOWN):
        return kind, _Same(x)
    if isinstance(x, PjitFunction):
        return kind, _of(vars(x)["__wrapped__"], depth)
    if kind is types.FunctionType:
        return kind, _of_function(x, depth)
    if is_dataclass(x) and is_from(kind, "polhode"):
        return kind, tuple(_of(getattr(x, f.name), depth) for f in fields(x))
    raise UnknownError


def _of_function(fn: types.FunctionType, depth: int) -> Hashable:
    if vars(fn):
        raise UnknownError
    read = []
    for name in _globals_of(fn.__code__):
        if name in fn.__globals__:
            read.append((name, None if fn.__globals__[name] is fn else _of(fn.__globals__[name], depth)))
        elif name not in _PURE:
            raise UnknownError
    closure = tuple(_of(cell.cell_contents, depth) for cell in fn.__closure__ or ())
    return fn.__code__, _of(fn.__defaults__, depth), _of(fn.__kwdefaults__, depth), closure, tuple(read)


@lru_cache(maxsize=1024)
def _globals_of(code: types.CodeType) -> tuple[str, ...]:
    """Names of all that it reads from outside, in functions inside of it too."""
    names = set()
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_GLOBAL":
            names.add(step.argval)
        elif step.opname in _BEYOND or (step.opname.startswith("LOAD_") and step.argval in _CHANGING):
            raise UnknownError
        if isinstance(step.argval, types.CodeType):
            names.update(_globals_of(step.argval))
    return tuple(sorted(names))


class _Same:
    """Equal to itself alone."""

    def __init__(self, x: Any) -> None:
        self._x = x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self._x is other._x

    def __hash__(self) -> int:
        return id(self._x)
