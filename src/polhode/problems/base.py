"""What a built-in problem is: parameters with units, and a body, load and start made from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.model import InputError
from polhode.model.checks import nearest, numbers, shown
from polhode.multibody import System
from polhode.rotation import RigidBody, Start
from polhode.rotation.body import UnphysicalError
from polhode.rotation.loads import Load

Value = float | tuple[float, ...]


@dataclass(frozen=True)
class Parameter:
    name: str
    default: Value
    unit: str
    meaning: str

    def check(self, value: Any) -> Value:
        """A number, or as many numbers as the default has."""
        array = numbers(f"parameter {self.name!r}", value)
        if array.shape != np.shape(self.default):
            count = np.size(self.default)
            raise InputError(f"parameter {self.name!r} is {count} number{'s' * (count > 1)}; got {shown(value)}")
        return tuple(array.tolist()) if array.ndim else float(array)


@dataclass(frozen=True)
class Setup:
    """A problem with its parameters filled in."""

    body: RigidBody
    load: Load | None
    start: Start


@dataclass(frozen=True)
class SystemSetup:
    """A problem of several bodies, or of one that rolls, with its parameters filled in."""

    system: System


@dataclass(frozen=True)
class Problem:
    """A system from the papers, and how its paper ran it."""

    name: str
    title: str
    paper: str
    parameters: tuple[Parameter, ...]
    make: Callable[..., Setup | SystemSetup]
    step: float
    until: float
    method: str = "imidm"

    def filled(self, given: Mapping[str, Any]) -> dict[str, Value]:
        """Every parameter by name: those given, checked, and defaults for the rest."""
        known = {p.name: p for p in self.parameters}
        for name in given:
            if name not in known:
                raise InputError(
                    f"problem {self.name!r} has no parameter {shown(name)}{nearest(name, known)} It has: "
                    f"{', '.join(known)}"
                )
        return {name: p.check(given[name]) if name in given else p.default for name, p in known.items()}

    def made(self, values: Mapping[str, Value]) -> Setup | SystemSetup:
        """From every parameter by name, as `filled` gives them."""
        try:
            return self.make(**values)
        except UnphysicalError as error:  # no parameter of a problem allows it
            raise InputError(f"problem {self.name!r}: {error.args[0]}; choose other parameters") from error

    def setup(self, **given: Any) -> Setup:
        """The body, load and start of a problem about one rotating body."""
        made = self.made(self.filled(given))
        if not isinstance(made, Setup):
            raise InputError(f"{self.name} is a multibody problem; call system(...) instead of setup(...)")
        return made

    def system(self, **given: Any) -> System:
        """The system of a multibody problem, with these parameters."""
        made = self.made(self.filled(given))
        if not isinstance(made, SystemSetup):
            raise InputError(f"{self.name} is about one rotating body; call setup(...) instead of system(...)")
        return made.system
