"""Traced programs in files: JSON and JAX's own flatbuffers, under a checksum, and never pickle.

A file is read only if nobody else could have written it, and used only if it is whole. Any
other is as good as none.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import jax
from jax import export

_MAGIC = b"polhode program 1"


def read(path: Path) -> tuple[Any, Any] | None:
    """(example of the result, exported program); None where there is none that can be used."""
    content = read_bytes(path)
    try:
        tree, program = (content or b"").split(b"\n", 1)
        return _decoded(json.loads(tree)), export.deserialize(bytearray(program))
    except Exception:  # missing, or of another make: all the same to who asks
        return None


def read_bytes(path: Path) -> bytes | None:
    """What was written there, if it is whole and ours."""
    try:
        if hasattr(os, "geteuid"):
            found = path.lstat()
            if found.st_uid != os.geteuid() or found.st_mode & 0o022:
                return None
        magic, digest, content = path.read_bytes().split(b"\n", 2)
        return content if magic == _MAGIC and digest.decode() == _digest(path, content) else None
    except Exception:  # missing, cut short, spoilt
        return None


def write(path: Path, example: Any, program: Any) -> None:
    """Not at all where the result is of a kind that JSON cannot name."""
    with suppress(TypeError):
        write_bytes(path, json.dumps(_encoded(example)).encode() + b"\n" + bytes(program.serialize()))


def write_bytes(path: Path, content: bytes) -> None:
    """Beside its place, then moved there; not at all on a full or read-only disk."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(b"\n".join([_MAGIC, _digest(path, content).encode(), content]))
        part.replace(path)
    except OSError:
        with suppress(OSError):
            part.unlink()


def _digest(path: Path, content: bytes) -> str:
    return hashlib.sha256(path.name.encode() + b"\0" + content).hexdigest()


def _encoded(x: Any) -> Any:
    """A pytree of leaf numbers as JSON: containers, and dataclasses of polhode by name."""
    if x is None or type(x) is int:
        return x
    if type(x) in (tuple, list):
        return [type(x).__name__, *map(_encoded, x)]
    if type(x) is dict and all(type(k) is str for k in x):
        return ["dict", {k: _encoded(v) for k, v in x.items()}]
    kind = type(x)
    if not is_dataclass(x) or kind.__module__.split(".")[0] != "polhode" or len(jax.tree.leaves(x)) < 1:
        raise TypeError(f"no name for {kind}")
    return [f"{kind.__module__}:{kind.__qualname__}", {f.name: _encoded(getattr(x, f.name)) for f in fields(x)}]


def _decoded(x: Any) -> Any:
    if x is None or type(x) is int:
        return x
    kind, *items = x
    if kind in ("tuple", "list"):
        return (tuple if kind == "tuple" else list)(map(_decoded, items))
    values = {k: _decoded(v) for k, v in items[0].items()}
    if kind == "dict":
        return values
    module, _, name = kind.partition(":")
    if module.split(".")[0] != "polhode" or "__main__" in module:
        raise ValueError(f"{kind} is not polhode's")
    made = getattr(importlib.import_module(module), name)
    if not (isinstance(made, type) and is_dataclass(made) and made.__module__ == module):
        raise ValueError(f"{kind} is not one of the classes that are written")
    return made(**values)
