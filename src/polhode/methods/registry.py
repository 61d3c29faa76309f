"""Methods by name, and a user's own by `module:Class`."""

from __future__ import annotations

import importlib
import sys
from functools import cache
from typing import Any

from polhode.mechanics.checks import InputError, unknown
from polhode.methods.base import Method
from polhode.methods.conserving import AKW, BBTRAP, BBTRAPWD, SWC1
from polhode.methods.krysl import IMID, IMIDM, TRAP, TRAPM
from polhode.methods.munthe_kaas import TABLEAUX, MuntheKaas
from polhode.methods.solfec import RigImp, RigNeg, RigPos

_FAMILIES: tuple[type[Method], ...] = (
    TRAP,
    IMID,
    TRAPM,
    IMIDM,
    SWC1,
    AKW,
    BBTRAP,
    BBTRAPWD,
    RigPos,
    RigNeg,
    RigImp,
)


@cache
def all_methods() -> dict[str, Method]:
    """Every built-in method, by name."""
    methods: list[Method] = [family() for family in _FAMILIES]
    methods += [MuntheKaas(tableau=tableau) for tableau in TABLEAUX.values()]
    return {method.name: method for method in methods}


def method_of(given: Any) -> Method:
    """A method from its name, from `module:Class`, from its class or from itself."""
    if isinstance(given, Method):
        return given
    if isinstance(given, type) and issubclass(given, Method):
        return given()
    if not isinstance(given, str):
        raise InputError(f"a method is a name or an instance of polhode.Method; got {given!r}")
    if ":" in given:
        return _imported(given)
    name = given.lower().replace("rig-", "rig_")
    if name not in all_methods():
        raise unknown("method", given, all_methods())
    return all_methods()[name]


def _imported(path: str) -> Method:
    module_name, _, class_name = path.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")  # a module beside the user, as with `python -m`
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"cannot import method {path!r}: {error}; write module:Class") from error
    if not (isinstance(found, Method) or (isinstance(found, type) and issubclass(found, Method))):
        raise InputError(f"{path!r} is not a polhode.Method")
    return method_of(found)
