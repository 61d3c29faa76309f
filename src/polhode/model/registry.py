"""Methods by name, of every kind, and a user's own by `module:Class`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from polhode.model.checks import InputError, closest, shown, unknown
from polhode.model.composition import WEIGHTS, Composition
from polhode.model.halving import Halving
from polhode.model.imported import imported, told
from polhode.model.method import KINDS, Method

FAMILIES = ("polhode.methods", "polhode.multibody")  # they register what they have when they are imported
DEFAULTS = {"rotation": "imidm", "system": "three-field"}  # what moves systems of a kind, unless something is said
LONGEST = 100  # of a name: prefixes may be repeated, and each is a call deeper

_METHODS: dict[str, Method] = {}
_UNLISTED: dict[str, Method] = {}  # to measure others against: understood by name
_PREFIXES: dict[str, Callable[[str, Method], Method]] = {}


@lru_cache(maxsize=256)
def combined(name: str) -> Method:
    """By name, or `PREFIX-METHOD` as in kahan-li6-imidm and strang-dmv."""
    known = _METHODS | _UNLISTED
    if name in known:
        return known[name]
    for prefix, made in _PREFIXES.items():
        if name.startswith(f"{prefix}-"):
            return made(prefix, combined(name.removeprefix(f"{prefix}-")))
    raise unknown("method", name, _METHODS)


def register(*methods: Method, listed: bool = True) -> None:
    """To be known by their names, and listed by `polhode methods`."""
    combined.cache_clear()
    (_METHODS if listed else _UNLISTED).update({method.name: method for method in methods})


def register_prefix(prefix: str, made: Callable[[str, Method], Method]) -> None:
    """PREFIX-METHOD is `made(prefix, method)`, or an InputError that says why not."""
    combined.cache_clear()
    _PREFIXES[prefix] = made


def _composed(prefix: str, base: Method) -> Method:
    if not base.traits.symmetric or base.traits.order != 2:
        raise InputError(
            f"{prefix}-{base.name}: {prefix} composes symmetric methods of order 2; {base.name} is not one"
        )
    return Composition(WEIGHTS[prefix], base)


for _prefix in WEIGHTS:
    register_prefix(_prefix, _composed)
register_prefix("halving", lambda prefix, base: Halving(base))


@cache
def _loaded() -> None:
    for family in FAMILIES:
        importlib.import_module(family)


def all_methods(kind: str | None = None) -> dict[str, Method]:
    """Every built-in method, or those that move systems of this kind, by name."""
    _loaded()
    return {name: method for name, method in _METHODS.items() if kind in (None, method.kind)}


def method_of(given: Any, kind: str | None = None) -> Method:
    """A method from its name, from `module:Class`, from its class or from itself; one of this `kind`, if it is said."""
    _loaded()
    method = _found(given, kind)
    if kind not in (None, method.kind):
        raise _of_another_kind(given, method, str(kind))
    return method


def _found(given: Any, kind: str | None) -> Method:
    if not isinstance(given, str):
        if isinstance(given, Method):
            return given
        if isinstance(given, type) and issubclass(given, Method):
            return _made(given)
        raise InputError(f"a method is a name or an instance of polhode.Method; got {shown(given)}")
    if ":" in given:
        return _imported(given)
    name = given.lower().replace("rig-", "rig_")
    if len(name) > LONGEST:
        raise unknown("method", name, all_methods(kind))
    try:
        return combined(name)
    except InputError:
        meant = closest(_without_prefixes(name), _METHODS)
        if kind is None or meant is None or _without_prefixes(name) in _METHODS | _UNLISTED:
            raise
    if _METHODS[meant].kind == kind:
        raise unknown("method", name, all_methods(kind))
    raise _of_another_kind(given, _METHODS[meant], kind)


def _of_another_kind(given: Any, method: Method, kind: str) -> InputError:
    what, _ = KINDS[method.kind]
    this, instead = KINDS[kind]
    said = f"{shown(given)}: " if isinstance(given, str) and given != method.name else ""
    return InputError(f"{said}{method.name} moves {what}, and this is for {this}. Use {instead}")


def _without_prefixes(name: str) -> str:
    for prefix in _PREFIXES:
        if name.startswith(f"{prefix}-"):
            return _without_prefixes(name.removeprefix(f"{prefix}-"))
    return name


def _imported(path: str) -> Method:
    found = imported(path, trust=True)  # the user named it
    if not (isinstance(found, Method) or (isinstance(found, type) and issubclass(found, Method))):
        raise InputError(f"{shown(path)} is not a polhode.Method")
    return found if isinstance(found, Method) else _made(found)


def _made(kind: type[Method]) -> Method:
    try:
        method = kind()
    except (Exception, SystemExit) as error:
        raise InputError(f"{kind.__name__} cannot be made without arguments: {told(error)}") from error
    missing = [name for name in ("name", "traits") if not hasattr(method, name)]
    if missing:
        raise InputError(f"{kind.__name__} is not a whole method: it has no {' and no '.join(missing)}")
    return method
