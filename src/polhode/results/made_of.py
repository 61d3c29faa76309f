"""What users' functions and methods are made of, as a hash: so that no run goes on with others of the same names.

By bytecode, constants, defaults, closures and the globals that are read, as far as they are numbers, texts, arrays or
functions; of other things by their class. What polhode itself brings is known by its version.
"""

from __future__ import annotations

import hashlib
import json
import sys
import types
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import jax
import numpy as np

from polhode._programs.names import is_from

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_DEEP = 12
_PYTHON = f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}"  # others have other bytecode


def made_of(*things: Any) -> str:
    """As an attribute of a folder."""
    sha = hashlib.sha256()
    for x in things:
        _add(sha, x, 0)
    return json.dumps({"python": _PYTHON, "sha256": sha.hexdigest()})


def differs(saved: Any, now: str) -> bool:
    """Whether it can be told that they are others; another Python cannot tell."""
    try:
        before = json.loads(saved)
        return bool(before["python"] == _PYTHON and before != json.loads(now))
    except (ValueError, TypeError, KeyError):  # written before there was such an attribute
        return False


def _add(sha: Any, x: Any, depth: int) -> None:
    kind = type(x)
    sha.update(f"<{kind.__module__}.{kind.__qualname__}".encode())
    if depth > _DEEP:
        return
    if isinstance(x, _PLAIN):
        sha.update(repr(x).encode())
    elif isinstance(x, np.ndarray | np.generic | jax.Array):
        data = np.ascontiguousarray(x)
        sha.update(f"{data.shape}{data.dtype}".encode() + (b"" if data.dtype.hasobject else data.tobytes()))
    else:
        for part in _parts(x):
            _add(sha, part, depth + 1)
    sha.update(b">")


def _parts(x: Any) -> Any:
    """In an order that is the same in every process."""
    if isinstance(x, tuple | list):
        return list(x)
    if isinstance(x, dict):
        return sorted(x.items(), key=lambda item: str(item[0]))
    if isinstance(x, frozenset):  # of constants
        return sorted(map(repr, x))
    if isinstance(x, partial):
        return x.func, x.args, x.keywords
    if isinstance(x, types.MethodType):
        return x.__self__, x.__func__
    if isinstance(x, types.CodeType):
        return x.co_code, x.co_consts, x.co_names
    if isinstance(x, types.FunctionType):
        if is_from(x, "polhode"):
            return x.__module__, x.__qualname__, _cells(x)
        read = {name: x.__globals__[name] for name in _names(x.__code__) if name in x.__globals__}
        known = {name: v for name, v in read.items() if not isinstance(v, types.ModuleType)}
        return x.__code__, x.__defaults__, x.__kwdefaults__, _cells(x), known
    if isinstance(x, type):
        own = {} if is_from(x, "polhode", "jax", "numpy", "builtins") else vars(x)
        functions = {name: v for name, v in own.items() if isinstance(v, (types.FunctionType, *_PLAIN))}
        return x.__qualname__, {n: v for n, v in functions.items() if not n.startswith("__")}
    if is_dataclass(x):
        return type(x).__mro__, {f.name: getattr(x, f.name) for f in fields(x)}
    return type(x).__mro__


def _names(code: types.CodeType) -> set[str]:
    """What it reads, and what functions inside of it read."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def _cells(x: types.FunctionType) -> list[Any]:
    found = []
    for cell in x.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # empty
            found.append(None)
    return found
