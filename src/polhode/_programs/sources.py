"""The source that a program is made from: the modules of what it names, and all of polhode's that these import."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_HOME = Path(__file__).parents[1]
_IMPORT = re.compile(rb"^(?:from (polhode[\w.]*) import (\([^)]*\)|[^\n]*)|import (polhode[\w.]*))", re.MULTILINE)


@cache
def _text(module: str) -> bytes | None:
    """Of a module of polhode; None for what is none."""
    path = _HOME.joinpath(*module.split(".")[1:])
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file() and (file.name == "__init__.py" or module != "polhode"):
            return file.read_bytes()
    return None


@cache
def _imported(module: str) -> frozenset[str]:
    """The modules that a module imports where it begins; nothing imports in a function (tests/test_house.py)."""
    found = set()
    for base, names, whole in _IMPORT.findall(_text(module) or b""):
        parent = (base or whole).decode()
        # A name may be a module of its own; one that is none has no text.
        found |= {parent, *(f"{parent}.{name}" for name in re.findall(r"\w+", names.decode()))}
    return frozenset(name for name in found if name != "polhode" and _text(name) is not None)


def modules_behind(modules: Iterable[str]) -> list[str]:
    """These, as far as they are polhode's, and all that they import, directly or not."""
    found: set[str] = set()
    left = {name for name in modules if name.startswith("polhode.") and _text(name) is not None}
    while left:
        found |= left
        left = set().union(*map(_imported, left)) - found
    return sorted(found)


@cache
def source_of(modules: frozenset[str]) -> bytes:
    """A digest of all the source behind these modules."""
    h = hashlib.sha256()
    for name in modules_behind(modules):
        h.update(name.encode() + b"\0" + (_text(name) or b"") + b"\0")
    return h.digest()
