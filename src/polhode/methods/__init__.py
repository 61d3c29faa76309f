"""The methods, one family a file; each is its mathematics and what it claims."""

from polhode.methods.base import Implicit, Method, Step, Traits
from polhode.methods.conserving import AKW, BBTRAP, BBTRAPWD, SWC1
from polhode.methods.krysl import IMID, IMIDM, TRAP, TRAPM
from polhode.methods.munthe_kaas import MuntheKaas, Tableau
from polhode.methods.registry import all_methods, method_of
from polhode.methods.solfec import RigImp, RigNeg, RigPos

__all__ = [
    "AKW",
    "BBTRAP",
    "BBTRAPWD",
    "IMID",
    "IMIDM",
    "SWC1",
    "TRAP",
    "TRAPM",
    "Implicit",
    "Method",
    "MuntheKaas",
    "RigImp",
    "RigNeg",
    "RigPos",
    "Step",
    "Tableau",
    "Traits",
    "all_methods",
    "method_of",
]
