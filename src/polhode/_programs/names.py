"""Names of what a program is made from: the same in every process, or none at all."""

from __future__ import annotations

import hashlib
import sys
import types
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from typing import Any

import jax
import numpy as np

_KNOWN = ("polhode", "jax", "jaxlib", "numpy", "builtins", "math", "functools", "operator")
PjitFunction = type(jax.jit(len))
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


class NamelessError(Exception):
    """An object of which it cannot be told whether it is the same in another process."""


class Key:
    """A hash, and the modules of all classes and functions that went into it."""

    def __init__(self, start: bytes = b"") -> None:
        self._hash = hashlib.sha256(start)
        self.modules: set[str] = set()

    def update(self, data: bytes) -> None:
        self._hash.update(data)

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


def same_everywhere(x: Any) -> bool:
    """Whether x, or a pytree with its structure, has a name."""
    try:
        add_tree(Key(), jax.tree.structure(x))
    except NamelessError:
        return False
    return True


def calls_back(x: Any) -> bool:
    """Whether x, or what it is made of, says that it calls back to Python, which no program on disk can."""
    parts = [getattr(x, f.name) for f in fields(x)] if is_dataclass(x) and not isinstance(x, type) else []
    return bool(getattr(x, "calls_back", False)) or any(map(calls_back, parts))


def is_from(x: Any, *packages: str) -> bool:
    """Whether x, a class or a function, is what a module of these packages calls by its name. What says so of
    itself may have been made elsewhere, as functions made by `exec` are in 'builtins'."""
    function = isinstance(x, types.FunctionType)
    module = sys.modules.get((x.__globals__.get("__name__") if function else getattr(x, "__module__", None)) or "")
    if module is None or module.__name__.split(".")[0] not in packages:
        return False
    if function:  # lambdas, inner functions and wrappers too
        return x.__globals__ is vars(module)
    found: Any = module
    for part in x.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is x


def add_tree(h: Key, tree: Any) -> None:
    """All that tells a pytree's structure from others."""
    node = tree.node_data()
    if node is not None:
        add(h, node)
    h.update(b"(")
    for child in tree.children():
        add_tree(h, child)
    h.update(b")")


def add(h: Key, x: Any) -> None:
    """All that tells x from others, or `NamelessError`."""
    kind = type(x)
    h.update(f"{kind.__module__}.{kind.__qualname__}:".encode())
    h.modules |= {kind.__module__, str(getattr(x, "__module__", ""))}
    if x is type(None):  # a name that no module has
        return
    digest = getattr(x, "digest", None)
    if kind in _PLAIN or (isinstance(x, np.dtype | np.generic) and is_from(kind, "numpy")):
        h.update(repr(x).encode())
    elif kind in (tuple, list):
        h.update(b"(")
        for item in x:
            add(h, item)
        h.update(b")")
    elif kind is dict:
        add(h, list(x.items()))
    elif isinstance(x, np.ndarray | jax.Array):
        add(h, (x.shape, str(x.dtype), np.asarray(x).tobytes()))
    elif kind is types.CodeType:
        add(h, (x.co_code, x.co_consts, x.co_names, x.co_firstlineno))
    elif kind is types.CellType:
        add(h, x.cell_contents)
    elif kind is partial:
        add(h, (x.func, x.args, x.keywords))
    elif isinstance(x, PjitFunction):
        add(h, vars(x)["__wrapped__"])
    elif kind is types.MethodType:
        add(h, (x.__self__, x.__func__))
    elif not is_from(x if hasattr(x, "__qualname__") else kind, *_KNOWN):
        raise NamelessError
    elif kind is types.FunctionType:
        add(h, (x.__module__, x.__qualname__, x.__code__, x.__closure__, x.__defaults__, x.__kwdefaults__))
    elif digest is not None:  # a `Program`
        if not x.nameable:
            raise NamelessError
        h.update(digest.encode())
    elif isinstance(x, Enum):
        h.update(x.name.encode())
    elif is_dataclass(x) and not isinstance(x, type):
        add(h, [(f.name, getattr(x, f.name)) for f in fields(x)])
    elif isinstance(x, tuple):  # one with names
        add(h, tuple(x))
    elif hasattr(x, "__qualname__"):  # a class, or a compiled function of JAX or numpy
        add(h, (x.__module__, x.__qualname__))
    else:
        raise NamelessError
