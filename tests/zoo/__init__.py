"""Mechanisms, small and quick, each with coordinates of its own in which Lagrange's equations tell how it moves.

`ZOO` has them all; `tests/test_zoo.py` asks of each what must hold."""

from zoo.chains import CHAINS
from zoo.driven import DRIVEN
from zoo.floating import FLOATING
from zoo.linkages import LINKAGES
from zoo.parallel import PARALLEL
from zoo.rolling import ROLLING

ZOO = (*CHAINS, *LINKAGES, *PARALLEL, *ROLLING, *DRIVEN, *FLOATING)
