"""Methods for systems of bodies, by name."""

from __future__ import annotations

from typing import Any

from polhode.methods import method_of
from polhode.methods.composition import WEIGHTS
from polhode.methods.registry import LONGEST
from polhode.model.checks import InputError, shown, unknown
from polhode.multibody.step.composed import Composed
from polhode.multibody.step.halving import Halving
from polhode.multibody.step.method import Method
from polhode.multibody.step.mm_dae import MMDAE
from polhode.multibody.step.three_field import ThreeField
from polhode.multibody.step.three_field_literal import ThreeFieldLiteral
from polhode.multibody.step.three_field_sparse import ThreeFieldSparse

_PLAIN: dict[str, Method] = {
    "three-field": ThreeField(),
    "three-field-sparse": ThreeFieldSparse(),
    "three-field-literal": ThreeFieldLiteral(),
    "mm-dae": MMDAE(),
}


def multibody_methods() -> dict[str, Method]:
    """Those listed; any other name of the form WEIGHTS-NAME or halving-NAME is understood too."""
    more = ("triple4-three-field", "suzuki4-three-field", "kahan-li6-three-field", "halving-three-field")
    return _PLAIN | {name: multibody_method_of(name) for name in more}


def multibody_method_of(given: Any) -> Method:
    """A method from its name, or itself."""
    if isinstance(given, Method):
        return given
    if isinstance(given, type) and issubclass(given, Method):
        return given()
    if not isinstance(given, str):
        raise InputError(f"a method for a system is a name, or one of polhode.multibody; got {shown(given)}")
    given = given.lower()
    if ":" in given:
        raise InputError(
            f"{shown(given)}: module:Class names a method of one rotating body; give a system the name of one of "
            f"{', '.join(_PLAIN)}, or in Python an instance"
        )
    if len(given) > LONGEST:
        raise unknown("method", given, _PLAIN)
    if given in _PLAIN:
        return _PLAIN[given]
    if given.startswith("halving-"):
        return Halving(multibody_method_of(given.removeprefix("halving-")))
    for prefix, weights in WEIGHTS.items():
        if given.startswith(f"{prefix}-"):
            return Composed(weights, multibody_method_of(given.removeprefix(f"{prefix}-")))
    if _moves_one_body(given):
        raise InputError(
            f"{given} moves one rotating body; this is a system with positions and constraints. Use one of "
            f"{', '.join(_PLAIN)}"
        )
    raise unknown("method", given, [*_PLAIN, "kahan-li6-three-field", "halving-three-field"])


def _moves_one_body(name: str) -> bool:
    try:
        method_of(name)
    except InputError:
        return False
    return True
