"""What users' functions, events and methods are made of, as a hash: so that nothing goes on with others of those names.

By bytecode, constants, defaults, closures, what of globals and of the user's modules is read, and the attributes of
objects, as they would be pickled. What polhode, Python and installed packages bring is known by its name.
"""

from __future__ import annotations

import dis
import hashlib
import inspect
import json
import sys
import types
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import jax
import numpy as np

from polhode._programs.names import is_from

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
_SET = (*_PLAIN, types.FunctionType, types.ModuleType, np.ndarray, jax.Array)
_MANY = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_DEEP = 50
_PYTHON = f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}, 2"  # others: other bytecode; of
# these hashes the second kind


def made_of(*things: Any) -> str:
    """As an attribute of a folder."""
    return json.dumps({"python": _PYTHON, "sha256": _Digests().of(things, 0).hex()})


def differs(saved: Any, now: str) -> bool:
    """Whether it can be told that they are others; another Python cannot tell."""
    try:
        before = json.loads(saved)
        return bool(before["python"] == _PYTHON and before != json.loads(now))
    except (ValueError, TypeError, KeyError):  # written before there was such an attribute
        return False


class _Digests:
    """Of every object one, the same in every process."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[bytes, Any]] = {}

    def of(self, x: Any, depth: int) -> bytes:
        kind = type(x)
        sha = hashlib.sha256(f"<{kind.__module__}.{kind.__qualname__}".encode())
        if kind in _PLAIN:
            sha.update(repr(x).encode())
            return sha.digest()
        if depth > _DEEP:
            return sha.digest()
        if id(x) not in self._known:
            self._known[id(x)] = sha.digest(), x  # while it is looked at: it may hold itself
            self._add(sha, x, depth + 1)
            self._known[id(x)] = sha.digest(), x
        return self._known[id(x)][0]

    def _add(self, sha: Any, x: Any, depth: int) -> None:
        if isinstance(x, np.ndarray | np.generic | jax.Array) and not x.dtype.hasobject:
            data = np.ascontiguousarray(x)
            sha.update(f"{np.shape(x)}{data.dtype}".encode() + data.tobytes())
        elif isinstance(x, set | frozenset):
            sha.update(b"".join(sorted(self.of(item, depth) for item in x)))
        elif isinstance(x, dict):
            sha.update(b"".join(sorted(self.of(k, depth) + self.of(v, depth) for k, v in x.items())))
        else:
            for part in _parts(x):
                sha.update(self.of(part, depth))


def _parts(x: Any) -> Any:
    """In an order that is the same in every process."""
    if isinstance(x, tuple | list):
        return list(x)
    if isinstance(x, partial):
        return x.func, x.args, x.keywords
    if isinstance(x, types.MethodType):
        return x.__self__, x.__func__
    if isinstance(x, types.CodeType):
        given = x.co_varnames[: x.co_argcount + x.co_kwonlyargcount]
        return x.co_code, x.co_consts, x.co_names, given, x.co_flags & _MANY
    if isinstance(x, types.ModuleType):
        return [x.__name__]
    if isinstance(x, property):
        return x.fget, x.fset
    if isinstance(x, types.FunctionType):
        return _of_function(x)
    if hasattr(x, "__wrapped__"):  # as of jax.jit, lru_cache, staticmethod
        return [x.__wrapped__]
    if isinstance(x, type):
        return _of_class(x)
    if is_dataclass(x):
        return type(x), {f.name: getattr(x, f.name) for f in fields(x)}
    return type(x), getattr(x, "__name__", None), _state(x)


def _of_function(x: types.FunctionType) -> Any:
    inside = [_contents(cell) for cell in x.__closure__ or ()]
    given = inside, x.__defaults__, x.__kwdefaults__
    if _is_installed(x):
        return x.__module__, x.__qualname__, given
    read = {name: x.__globals__[name] for name in _read(x.__code__) if name in x.__globals__}
    modules = [v for v in [*read.values(), *inside] if isinstance(v, types.ModuleType)]
    return x.__code__, given, vars(x), read, _read_from(modules, _names(x.__code__))


def _of_class(x: type) -> Any:
    if _is_installed(x):
        return x.__module__, x.__qualname__
    computing = types.FunctionType | staticmethod | classmethod | property
    own = {name: v for name, v in vars(x).items() if isinstance(v, computing) or not name.startswith("__")}
    return x.__qualname__, own, x.__bases__


def _state(x: Any) -> Any:
    """As it would be pickled; of what cannot be, nothing."""
    try:
        made: Any = x.__reduce_ex__(4)
    except Exception:  # whatever it raises
        return None
    return made if isinstance(made, str) else [*made[:3], *(list(items or ()) for items in made[3:5])]


def _is_installed(x: Any) -> bool:
    """Whether a class or a function is what an installed package, or Python, calls by its name."""
    name = str(x.__globals__.get("__name__") if isinstance(x, types.FunctionType) else x.__module__)
    module = sys.modules.get(name)
    return module is not None and _comes_installed(module) and is_from(x, name.split(".")[0])


def _comes_installed(module: types.ModuleType) -> bool:
    root, file = module.__name__.split(".")[0], getattr(module, "__file__", None) or ""
    return root == "polhode" or root in sys.stdlib_module_names - {"__main__"} or "-packages" in file


def _read_from(modules: list[types.ModuleType], names: set[str]) -> dict[str, Any]:
    """What code with these names in it can read of modules, and of modules in them: of those that come installed,
    numbers and functions that the user may have set there."""
    found, left, seen = dict[str, Any](), list(modules), set[str]()
    while left:
        module = left.pop()
        if module.__name__ in seen:
            continue
        seen.add(module.__name__)
        read = {name: v for name, v in vars(module).items() if name in names}
        if _comes_installed(module):
            read = {name: v for name, v in read.items() if isinstance(v, _SET)}
        left += [v for v in read.values() if isinstance(v, types.ModuleType)]
        found |= {f"{module.__name__}.{name}": v for name, v in read.items()}
    return found


def _read(code: types.CodeType) -> set[str]:
    """Names of globals that it reads, and that functions inside of it read."""
    found = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return found.union(*(_read(c) for c in code.co_consts if isinstance(c, types.CodeType)))


def _names(code: types.CodeType) -> set[str]:
    """Of attributes too."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty
        return None
