"""`Measures`: all that is measured of methods of one kind, and the one place that tells kinds apart."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from polhode.model.method import Method
from polhode.verify.conservation import Kept
from polhode.verify.order import Trial

Defect = Callable[[Method], float]

_HOMES = {"rotation": "polhode.verify.rotations", "system": "polhode.verify.systems"}


@dataclass(frozen=True)
class Measures:
    """Of methods of one kind. A defect of one step below `holds` is round-off, one above `broken` is not."""

    trials: Callable[[Method], Sequence[Trial]]  # of the order
    kept: Callable[[Method], Sequence[Kept]]
    geometry: Mapping[str, tuple[str, Defect]]  # of one step: trait and defect, by what it is called
    columns: tuple[str, ...]  # of a table: what may hold of one step, and traits
    title: str  # of that table
    about: str  # the same for a page
    holds: float
    broken: float
    invariants: Callable[[Method], dict[str, float]] = lambda method: {}  # changes in one long step
    exact: Mapping[str, str] = field(default_factory=dict)  # invariants that are traits in the long run too


def measures_of(method: Method) -> Measures:
    found: Measures = importlib.import_module(_HOMES[method.kind]).MEASURES
    return found
