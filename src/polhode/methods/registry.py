"""The methods of one rotating body, by name."""

from __future__ import annotations

from polhode.methods.conserving import AKW, BBTRAP, BBTRAPWD, SWC1
from polhode.methods.directors import DLA, EM
from polhode.methods.directors_full import FullDLA, FullEM
from polhode.methods.exact import Exact
from polhode.methods.krysl import IMID, IMIDM, TRAP, TRAPM
from polhode.methods.moser_veselov import DMV, Midpoint, PreprocessedDMV
from polhode.methods.munthe_kaas import TABLEAUX, MuntheKaas
from polhode.methods.rattle import Rattle
from polhode.methods.solfec import RigImp, RigNeg, RigPos
from polhode.methods.splitting import SymmetricRotation, ThreeRotation
from polhode.methods.with_potential import SCHEMES, Split
from polhode.model.checks import InputError
from polhode.model.method import Method
from polhode.model.registry import combined, register, register_prefix

register(
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
register(FullEM(), FullDLA(), listed=False)


def _split(prefix: str, kinetic: Method) -> Method:
    """`strang-KINETIC`, `nystrom4-KINETIC` or `rkn6-KINETIC`."""
    scheme = SCHEMES[prefix]
    if kinetic.kind != "rotation":
        raise InputError(f"{prefix}-{kinetic.name}: {prefix} splits the motion of one rotating body")
    if kinetic.traits.order < scheme.order:
        raise InputError(
            f"{prefix}-{kinetic.name}: {scheme.name} has order {scheme.order} and needs a kinetic method of at least "
            f"that order; {kinetic.name} has {kinetic.traits.order}"
        )
    return Split(scheme, kinetic)


for _prefix in SCHEMES:
    register_prefix(_prefix, _split)

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
register(*map(combined, _COMBINED))
