"""Whether a user's function computes what it did before, told without tracing it.

A function is its code and all that the code can read: defaults, closure, globals. Where each of these is a number, an
array, a text, a function like itself, or part of JAX, numpy, math or polhode that computes the same whenever it is
called, their values are its fingerprint. Where one is anything else, an object with attributes, a module of the user's,
a file, something random, there is none, and the function is traced anew.
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
from polhode._programs.pure import KNOWN, is_known, is_pure, read_from

# What a function may call and still compute the same.
_PURE = {
    *("abs", "all", "any", "bool", "complex", "dict", "divmod", "enumerate", "float", "frozenset", "int", "isinstance"),
    *("len", "list", "map", "max", "min", "pow", "range", "reversed", "round", "set", "slice", "sorted", "str", "sum"),
    *("tuple", "zip", "True", "False", "None", "ValueError", "TypeError"),
}
_CHANGING = {"random", "__dict__", "__globals__", "__self__", "__closure__", "__code__"}  # attributes
_BEYOND = {"IMPORT_NAME", "STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_NAME", "STORE_DEREF", "LOAD_BUILD_CLASS"}
_WRAPPED = frozenset(vars(jax.jit(len)))  # what JAX puts on a function of its own
_LARGE = 4096  # numbers in an array: to compare more takes longer than to trace
_DEEP = 8


class UnknownError(Exception):
    """Something that may have changed without a trace."""


def fingerprint(*things: Any) -> Hashable | None:
    """Equal to that of before only if all of these compute the same as they did; None if that cannot be told. What it
    holds keeps its identity for as long as the fingerprint is kept."""
    try:
        return tuple([_of(x, 0) for x in things])
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
        return kind, tuple([_of(item, depth + 1) for item in x])
    if kind is dict:
        return kind, tuple([(_of(k, depth + 1), _of(v, depth + 1)) for k, v in x.items()])
    if isinstance(x, np.generic) or kind is np.ndarray:
        if x.size > _LARGE or x.dtype.hasobject or x.dtype.names:  # whose names may change
            raise UnknownError
        return kind, x.shape, x.dtype.str, x.tobytes()
    if isinstance(x, jax.Array) and not isinstance(x, jax.core.Tracer):
        return kind, _Same(x)  # nothing changes it
    return _of_what_computes(x, depth + 1)


def _of_what_computes(x: Any, depth: int) -> Hashable:
    kind = type(x)
    if kind is partial:
        return kind, _of(x.func, depth), _of(x.args, depth), _of(x.keywords, depth)
    if kind is types.MethodType:
        return kind, _of(x.__self__, depth), _of(x.__func__, depth)
    if hasattr(x, "__qualname__") and getattr(x, "__closure__", None) is None and is_from(x, *KNOWN):
        if not is_pure(x):
            raise UnknownError
        return kind, x if kind in (type, types.FunctionType) else _Same(x)  # those are equal to themselves alone
    if isinstance(x, PjitFunction):
        if not _WRAPPED.issuperset(vars(x)):  # something of the user's hangs on it
            raise UnknownError
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
    names, attributes, whole = _read_by(fn.__code__)
    for name in names:
        if name in fn.__globals__:
            x = fn.__globals__[name]
            if name in whole and isinstance(x, types.ModuleType):  # others may read anything of it
                raise UnknownError
            read.append((name, None if x is fn else _of_read(x, attributes, depth)))
        elif name not in _PURE:
            raise UnknownError
    closure = tuple(_of_read(cell.cell_contents, attributes, depth) for cell in fn.__closure__ or ())
    return fn.__code__, _of(fn.__defaults__, depth), _of(fn.__kwdefaults__, depth), closure, tuple(read)


def _of_read(x: Any, attributes: tuple[str, ...], depth: int) -> Hashable:
    """Of what code with these attributes in it reads by a name: a module by what of it may be read."""
    if not isinstance(x, types.ModuleType):
        return _of(x, depth), _hung_on(x, attributes, depth)
    if depth > _DEEP or not is_known(x):
        raise UnknownError
    return x.__name__, tuple((name, _of_attribute(y, attributes, depth + 1)) for name, y in read_from(x, attributes))


def _of_attribute(x: Any, attributes: tuple[str, ...], depth: int) -> Hashable:
    """Of what a module has by a name: itself, or what a user has put in its place; or a number of the user's."""
    if isinstance(x, types.ModuleType):
        return _of_read(x, attributes, depth)
    if hasattr(x, "__qualname__") or (callable(x) and is_from(type(x), *KNOWN)):
        if not is_pure(x):
            raise UnknownError
        return _Same(x), _hung_on(x, attributes, depth)
    return _of(x, depth)


def _hung_on(x: Any, attributes: tuple[str, ...], depth: int) -> Hashable:
    """What code with these attributes in it may read of a function or class itself."""
    if not hasattr(x, "__qualname__"):
        return ()
    there: Any = getattr(x, "__dict__", {})
    return tuple([(name, _of_hanging(there[name], depth)) for name in attributes if name in there])


def _of_hanging(x: Any, depth: int) -> Hashable:
    if isinstance(x, bool | int | float | str | list | dict | tuple | np.ndarray | np.generic | jax.Array):
        return _of(x, depth + 1)
    return _Same(x)  # a method, say


@lru_cache(maxsize=1024)
def _read_by(code: types.CodeType) -> tuple[tuple[str, ...], tuple[str, ...], frozenset[str]]:
    """Names of all that it reads from outside, in functions inside of it too; of attributes that it reads; and which of
    the names it does more with than to read an attribute."""
    names, attributes, whole = set(), set(), set[str]()
    last = ""
    for step in dis.get_instructions(code):
        if step.opname == "EXTENDED_ARG":
            continue
        if last and step.opname not in ("LOAD_ATTR", "LOAD_METHOD"):
            whole.add(last)
        last = ""
        if step.opname == "LOAD_GLOBAL":
            names.add(step.argval)
            last = step.argval
        elif step.opname in _BEYOND or (step.opname.startswith("LOAD_") and step.argval in _CHANGING):
            raise UnknownError
        elif step.opname.startswith("LOAD_") and isinstance(step.argval, str):
            attributes.add(step.argval)
        if isinstance(step.argval, types.CodeType):
            inner = _read_by(step.argval)
            names.update(inner[0])
            attributes.update(inner[1])
            whole |= inner[2]
    return tuple(sorted(names)), tuple(sorted(attributes)), frozenset(whole)


class _Same:
    """Equal to itself alone."""

    def __init__(self, x: Any) -> None:
        self._x = x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self._x is other._x

    def __hash__(self) -> int:
        return id(self._x)
