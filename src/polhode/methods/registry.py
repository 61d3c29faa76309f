"""Methods by name, and a user's own by `module:Class`."""

from __future__ import annotations

from functools import cache
from typing import Any

from polhode.methods.base import Method
from polhode.methods.composition import WEIGHTS, Composition
from polhode.methods.conserving import AKW, BBTRAP, BBTRAPWD, SWC1
from polhode.methods.directors import DLA, EM
from polhode.methods.directors_full import FullDLA, FullEM
from polhode.methods.exact import Exact
from polhode.methods.imported import imported, told
from polhode.methods.krysl import IMID, IMIDM, TRAP, TRAPM
from polhode.methods.moser_veselov import DMV, Midpoint, PreprocessedDMV
from polhode.methods.munthe_kaas import TABLEAUX, MuntheKaas
from polhode.methods.rattle import Rattle
from polhode.methods.solfec import RigImp, RigNeg, RigPos
from polhode.methods.splitting import SymmetricRotation, ThreeRotation
from polhode.methods.with_potential import SCHEMES, Split
from polhode.model.checks import InputError, closest, shown, unknown

_PLAIN: tuple[Method, ...] = (
    TRAP(),
    IMID(),
    TRAPM(),
    IMIDM(),
    SWC1(),
    AKW(),
    BBTRAP(),
    BBTRAPWD(),
    RigPos(),
    RigNeg(),
    RigImp(),
    *(MuntheKaas(tableau=tableau) for tableau in TABLEAUX.values()),
    Exact(),
    ThreeRotation(),
    *(SymmetricRotation(axis) for axis in (3, 1, 2)),
    Midpoint(),
    DMV(),
    *(PreprocessedDMV(high_order=order) for order in (4, 6, 8, 10)),
    Rattle(),
    EM(),
    DLA(),
)
_REFERENCES = (FullEM(), FullDLA())  # to measure others against: understood by name, not listed
_COMBINED = (  # a few of the many; any other name of this form is understood too
    "strang-dmv",
    "strang-symmetric-rotation",
    "strang-exact",
    "nystrom4-exact",
    "nystrom4-dmv10",
    "rkn6-dmv10",
    "triple4-strang-exact",
    "suzuki4-strang-exact",
    "kahan-li6-strang-dmv",
    "kahan-li8-strang-dmv",
    "kahan-li6-imidm",
)


# Methods of `multibody`, which is built on this part: named here so that they are not taken for misspelt ones.
OF_SYSTEMS = ("three-field", "three-field-sparse", "three-field-literal", "mm-dae")
LONGEST = 100  # of a name: prefixes may be repeated, and each is a call deeper


@cache
def all_methods() -> dict[str, Method]:
    """Every built-in method, by name."""
    methods = {method.name: method for method in _PLAIN}
    return methods | {name: _combined(name, methods) for name in _COMBINED}


def _combined(name: str, methods: dict[str, Method]) -> Method:
    """`strang-KINETIC`, `nystrom4-KINETIC`, `rkn6-KINETIC`, or `WEIGHTS-METHOD` as in kahan-li6-imidm."""
    if name in methods:
        return methods[name]
    for prefix, scheme in SCHEMES.items():
        if name.startswith(f"{prefix}-"):
            kinetic = _combined(name.removeprefix(f"{prefix}-"), methods)
            if kinetic.traits.order < scheme.order:
                raise InputError(
                    f"{name}: {scheme.name} has order {scheme.order} and needs a kinetic method of at least "
                    f"that order; {kinetic.name} has {kinetic.traits.order}"
                )
            return Split(scheme, kinetic)
    for prefix, weights in WEIGHTS.items():
        if name.startswith(f"{prefix}-"):
            base = _combined(name.removeprefix(f"{prefix}-"), methods)
            if not base.traits.symmetric or base.traits.order != 2:
                raise InputError(f"{name}: {prefix} composes symmetric methods of order 2; {base.name} is not one")
            return Composition(weights, base)
    raise unknown("method", name, [*methods, *_COMBINED])


def method_of(given: Any) -> Method:
    """A method from its name, from `module:Class`, from its class or from itself."""
    if isinstance(given, Method):
        return given
    if isinstance(given, type) and issubclass(given, Method):
        return _made(given)
    if not isinstance(given, str):
        raise InputError(f"a method is a name or an instance of polhode.Method; got {shown(given)}")
    if ":" in given:
        return _imported(given)
    name = given.lower().replace("rig-", "rig_")
    if len(name) > LONGEST:
        raise unknown("method", name, all_methods())
    known = all_methods() | {method.name: method for method in _REFERENCES}
    try:
        return _combined(name, known)
    except InputError:
        meant = _without_prefixes(name)
        if closest(meant, [*known, *OF_SYSTEMS]) not in OF_SYSTEMS:
            raise
    raise InputError(
        f"{shown(given)}: {closest(meant, OF_SYSTEMS)} moves systems of bodies (polhode.multibody), and this is one "
        "rotating body. Use imidm, or another that `polhode methods` lists"
    )


def _without_prefixes(name: str) -> str:
    for prefix in (*WEIGHTS, "halving"):
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
