"""A method as data, for files: its class and every option, nested; and back again.

{"class": "polhode.methods:IMIDM", "options": {"solver": {"class": "polhode.solve:FixedPoint", ...}}}
"""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cached_property
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from polhode.model.checks import InputError, shown
from polhode.model.imported import imported


class NotRecordableError(Exception):
    """Something about a method cannot be written down as data."""


def recorded(method: Any, by_name: Callable[[str], Any]) -> Any:
    """The shortest data from which the same method can be made: its name, or its class and options."""
    data = described(method)
    try:
        if _same(data, described(by_name(method.name))):
            return method.name
    except (InputError, NotRecordableError):
        pass
    if not _same(data, described(made(data, trust=True))):
        raise NotRecordableError(f"{method.name} is not made of its options alone")
    return data


def described(value: Any, what: str = "the method") -> Any:
    """Numbers and texts as they are, tuples as lists, dataclasses as their class and options."""
    if isinstance(value, np.float64 | np.int64 | np.bool_):
        value = value.item()
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is tuple:
        return [described(each, what) for each in value]
    if not is_dataclass(value) or isinstance(value, type):
        raise NotRecordableError(f"{what} is {value!r}, which a file cannot hold")
    kind = type(value)
    ours = [f.name for f in fields(value)]
    hidden = [k for k in getattr(value, "__dict__", {}) if not isinstance(getattr(kind, k, None), cached_property)]
    if more := sorted(set(hidden) - set(ours)):
        raise NotRecordableError(f"{what} keeps {more[0]!r}, which is not one of its options")
    options = {f.name: described(getattr(value, f.name), f"{what}'s {f.name}") for f in fields(value) if f.init}
    return {"class": _path_of(kind, what), "options": options}


def made(data: Any, *, trust: bool) -> Any:
    """What `described` was given. Modules that are not polhode's are imported only with `trust`."""
    if isinstance(data, list):
        return tuple(made(each, trust=trust) for each in data)
    if not isinstance(data, dict):
        return data
    if data.keys() != {"class", "options"} or not isinstance(data["options"], dict):
        raise InputError(f"the recipe is spoilt: {data!r:.80} is not a class and its options")
    kind = imported(data["class"], trust=trust)
    known = isinstance(kind, type) and is_dataclass(kind)
    if not known or not (trust or kind.__module__.startswith("polhode.")):  # a path may lead on from a module of ours
        raise InputError(f"the recipe is spoilt: {data['class']!r} is not a class with options")
    options = {name: made(each, trust=trust) for name, each in data["options"].items()}
    hints = get_type_hints(kind)
    for name, each in options.items():
        if not _fits(each, hints.get(name, Any)):
            raise InputError(f"the recipe is spoilt: {data['class']} cannot have {name} = {shown(each)}")
    try:
        return kind(**options)
    except (TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{data['class']} no longer has the options of the recipe: {error}") from error


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is what the annotation of a field says, as far as that can be told."""
    parts = get_args(hint)
    if get_origin(hint) is Literal:
        return value in parts
    if get_origin(hint) is tuple:
        each = [parts[0]] * len(value) if parts[1:] == (...,) and isinstance(value, tuple) else list(parts)
        return isinstance(value, tuple) and len(value) == len(each) and all(map(_fits, value, each))
    if parts:
        return get_origin(hint) not in (Union, UnionType) or any(_fits(value, part) for part in parts)
    if hint is Any:
        return True
    if hint is float:
        return type(value) in (int, float) and math.isfinite(value)
    if hint is int:
        return type(value) is int and abs(value) < 2**31
    return not isinstance(hint, type) or isinstance(value, hint)


def _path_of(kind: type, what: str) -> str:
    """`module:Class`; for polhode's own the package, as files move inside it."""
    module = kind.__module__
    package = ".".join(module.split(".")[:2])
    if module.startswith("polhode.") and getattr(importlib.import_module(package), kind.__name__, None) is kind:
        return f"{package}:{kind.__name__}"
    path = f"{module}:{kind.__qualname__}"
    try:
        if module != "__main__" and imported(path, trust=True) is kind:
            return path
    except InputError:
        pass
    raise NotRecordableError(f"{what} is of the class {kind.__qualname__}, which cannot be imported as {path}")


def _same(one: Any, other: Any) -> bool:
    """As text: 1, 1.0 and true are equal in Python."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
