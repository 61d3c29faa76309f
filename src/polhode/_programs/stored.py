"""Programs kept on disk as JAX traced them: a new process compiles or loads them without tracing again.

JAX's own cache keeps what XLA compiled, under a key that can only be found by tracing; for a
system of bodies that takes seconds. Here the key is the question itself: the function, its
static arguments, the shapes of its numbers, the version of JAX and every line of polhode. What
cannot be named for sure, such as a user's function, is not kept, and traced as ever.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import types
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache, partial, update_wrapper
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import export

_OURS = ("polhode", "jax", "numpy", "builtins", "math", "functools", "operator")
_FOLDER = "traced"
config: Any = jax.config


class _NamelessError(Exception):
    """An object of which it cannot be told whether it is the same in another process."""


_ALL: list[Stored] = []


def forget() -> None:
    """Lets go of all programs in memory, for `jax.clear_caches`; they are on disk."""
    for function in _ALL:
        function._known.clear()


class Stored:
    """`jax.jit(fn)` that remembers what it traced, in the folder of JAX's cache of compiled programs."""

    def __init__(self, fn: Callable[..., Any], static: int, options: dict[str, Any] | None) -> None:
        update_wrapper(self, fn)
        self._fn, self._static, self._options = fn, static, options
        self.jitted = jax.jit(fn, static_argnums=tuple(range(static)), compiler_options=options)
        self._known: dict[Any, Callable[..., Any]] = {}
        _ALL.append(self)

    def __call__(self, *args: Any) -> Any:
        static, numbers = args[: self._static], args[self._static :]
        leaves, tree = jax.tree.flatten(numbers)
        folder = _folder()
        if folder is None or not all(map(_plain, leaves)):
            return self.jitted(*args)
        leaves = [x if isinstance(x, jax.Array) else np.asarray(x) for x in leaves]
        key = (static, tree, tuple((x.shape, x.dtype) for x in leaves))
        if key not in self._known:
            self._known[key] = self._program(folder, static, tree, leaves)
        return self._known[key](leaves)

    def _program(self, folder: Path, static: Any, tree: Any, leaves: list[Any]) -> Callable[..., Any]:
        def plain(leaves: list[Any]) -> Any:
            return self.jitted(*static, *jax.tree.unflatten(tree, leaves))

        try:
            path = folder / f"{self._fn.__name__}-{self._name(static, tree, leaves)}"
        except _NamelessError:
            return plain
        found = _read(path)
        if found is None:
            found = self._traced(static, tree, leaves)
            if found is None:
                return plain
            _write(path, found)
        example, program = found
        shape, call = jax.tree.structure(example), jax.jit(program.call, compiler_options=self._options)
        return lambda leaves: jax.tree.unflatten(shape, call(*leaves))

    def _traced(self, static: Any, tree: Any, leaves: list[Any]) -> tuple[Any, Any] | None:
        shape: Any = None

        def flat(*leaves: Any) -> list[Any]:
            nonlocal shape
            values, shape = jax.tree.flatten(self._fn(*static, *jax.tree.unflatten(tree, leaves)))
            return values

        try:
            program = export.export(jax.jit(flat))(*(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in leaves))
        except (NotImplementedError, ValueError):  # calls back to Python; or wrong input, which tracing again will name
            return None
        return jax.tree.unflatten(shape, range(shape.num_leaves)), program

    def _name(self, static: Any, tree: Any, leaves: list[Any]) -> str:
        h = hashlib.sha256(_here())
        _add(h, (self._fn, static, [(x.shape, str(x.dtype)) for x in leaves]))
        _add_tree(h, tree)
        return h.hexdigest()[:32]


def stored(fn: Callable[..., Any] | None = None, *, static: int = 0, briefly: bool = False) -> Any:
    """A decorator: compiled, its first `static` arguments static, and remembered from process to process.
    `briefly` compiles what is called a few times only: soon, not well."""
    if fn is None:
        return partial(stored, static=static, briefly=briefly)
    return Stored(fn, static, {"xla_backend_optimization_level": 0} if briefly else None)


def _plain(x: Any) -> bool:
    """A number or array of one device, not one that JAX is tracing."""
    return not isinstance(x, jax.core.Tracer) and not (isinstance(x, jax.Array) and len(x.sharding.device_set) > 1)


def _folder() -> Path | None:
    chosen = config.jax_compilation_cache_dir
    return Path(chosen) / _FOLDER if chosen and config.jax_enable_compilation_cache else None


def _read(path: Path) -> tuple[Any, Any] | None:
    try:
        example, program = pickle.loads(path.read_bytes())
        return example, export.deserialize(program)
    except FileNotFoundError:
        return None
    except Exception:  # cut short, or of another make: as good as none, and written anew
        path.unlink(missing_ok=True)
        return None


def _write(path: Path, found: tuple[Any, Any]) -> None:
    example, program = found
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.{os.getpid()}")
        part.write_bytes(pickle.dumps((example, bytes(program.serialize()))))
        part.replace(path)
    except OSError:  # a full or read-only disk: the program is traced again next time
        return


@cache
def _here() -> bytes:
    """What all programs of this process have in common."""
    h = hashlib.sha256()
    home = Path(__file__).parent
    for path in sorted(home.rglob("*.py")):
        h.update(str(path.relative_to(home)).encode() + b"\0" + path.read_bytes())
    device = jax.devices()[0]
    h.update(f"{jax.__version__} {device.platform} {device.device_kind} {config.jax_enable_x64}".encode())
    return h.digest()


def _add_tree(h: Any, tree: Any) -> None:
    node = tree.node_data()
    if node is not None:
        _add(h, node)
    h.update(b"(")
    for child in tree.children():
        _add_tree(h, child)
    h.update(b")")


def _add(h: Any, x: Any) -> None:
    """All that tells x from others, or `_NamelessError`."""
    h.update(f"{type(x).__module__}.{type(x).__qualname__}:".encode())
    if getattr(x, "calls_back", False):  # to Python, which no program on disk can
        raise _NamelessError
    if x is None or isinstance(x, bool | int | float | complex | str | bytes | np.dtype | np.generic):
        h.update(repr(x).encode())
    elif isinstance(x, tuple | list):
        h.update(b"(")
        for item in x:
            _add(h, item)
        h.update(b")")
    elif isinstance(x, dict):
        _add(h, list(x.items()))
    elif isinstance(x, np.ndarray | jax.Array):
        _add(h, (x.shape, str(x.dtype), np.asarray(x).tobytes()))
    elif isinstance(x, types.CodeType):
        _add(h, (x.co_code, x.co_consts, x.co_names, x.co_firstlineno))
    elif isinstance(x, types.CellType):
        _add(h, x.cell_contents)
    elif not _ours(x if hasattr(x, "__qualname__") else type(x)):
        raise _NamelessError
    elif isinstance(x, types.FunctionType):
        _add(h, (x.__module__, x.__qualname__, x.__code__, x.__closure__, x.__defaults__, x.__kwdefaults__))
    elif isinstance(x, partial):
        _add(h, (x.func, x.args, x.keywords))
    elif isinstance(x, types.MethodType):
        _add(h, (x.__self__, x.__func__))
    elif is_dataclass(x) and not isinstance(x, type):
        _add(h, [(f.name, getattr(x, f.name)) for f in fields(x)])
    elif hasattr(x, "__qualname__"):  # a class, or a compiled function of JAX or numpy
        _add(h, (x.__module__, x.__qualname__))
    else:
        raise _NamelessError


def _ours(x: Any) -> bool:
    return (getattr(x, "__module__", None) or "").split(".")[0] in _OURS
