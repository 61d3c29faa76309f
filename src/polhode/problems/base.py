"""What a built-in problem is: parameters with units, and a problem made from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polhode.model import InputError
from polhode.model.checks import nearest, numbers, shown
from polhode.model.problem import Problem
from polhode.rotation.inertia import UnphysicalError

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
class BuiltIn:
    """A system from the papers, with its parameters, and how its paper ran it."""

    name: str
    title: str
    paper: str
    parameters: tuple[Parameter, ...]
    make: Callable[..., Problem]  # with every parameter by name
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

    def problem(self, **given: Any) -> Problem:
        """With these parameters, and defaults for the rest."""
        values = self.filled(given)
        try:
            made = self.make(**values)
        except UnphysicalError as error:  # no parameter of a problem allows it
            raise InputError(f"problem {self.name!r}: {error.args[0]}; choose other parameters") from error
        plain = {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}
        return replace(
            made,
            name=self.name,
            method=self.method,
            step=self.step,
            until=self.until,
            content={"problem": self.name, "parameters": plain},
        )
