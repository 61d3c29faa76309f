"""The methods, one family a file; each is its mathematics and what it claims."""

from polhode.methods import registry as _registry  # noqa: F401 (registers them)
from polhode.methods.base import Implicit
from polhode.methods.conserving import AKW, BBTRAP, BBTRAPWD, SWC1
from polhode.methods.directors import DLA, EM
from polhode.methods.exact import Exact, exact
from polhode.methods.krysl import IMID, IMIDM, TRAP, TRAPM
from polhode.methods.moser_veselov import DMV, Midpoint, PreprocessedDMV
from polhode.methods.munthe_kaas import MuntheKaas, Tableau
from polhode.methods.rattle import Rattle
from polhode.methods.solfec import RigImp, RigNeg, RigPos
from polhode.methods.splitting import SymmetricRotation, ThreeRotation
from polhode.methods.with_potential import Nystrom4, RKN6Split, Scheme, Split, Stage, Strang
from polhode.model.composition import Composition, Weights
from polhode.model.method import Method, Step
from polhode.model.registry import all_methods, method_of
from polhode.model.traits import Traits

__all__ = [
    "AKW",
    "BBTRAP",
    "BBTRAPWD",
    "DLA",
    "DMV",
    "EM",
    "IMID",
    "IMIDM",
    "SWC1",
    "TRAP",
    "TRAPM",
    "Composition",
    "Exact",
    "Implicit",
    "Method",
    "Midpoint",
    "MuntheKaas",
    "Nystrom4",
    "PreprocessedDMV",
    "RKN6Split",
    "Rattle",
    "RigImp",
    "RigNeg",
    "RigPos",
    "Scheme",
    "Split",
    "Stage",
    "Step",
    "Strang",
    "SymmetricRotation",
    "Tableau",
    "ThreeRotation",
    "Traits",
    "Weights",
    "all_methods",
    "exact",
    "method_of",
]
