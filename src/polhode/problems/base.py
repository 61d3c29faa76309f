"""What a built-in problem is: parameters with units, and a problem made from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polhode.model import InputError
from polhode.model.checks import nearest, numbers, shown
from polhode.model.family import Problems, Range, problems_of
from polhode.model.problem import Problem
from polhode.rotation.inertia import UnphysicalError

Value = float | tuple[float, ...]


@dataclass(frozen=True)
class Parameter:
    """A number of a built-in problem, or a few: its default, unit and meaning."""

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
    """A system from the papers, with its parameters, and how its paper ran it: `step` (s), `until` (s), `method`."""

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
        self._check_names(given)
        return {name: p.check(given[name]) if name in given else p.default for name, p in known.items()}

    def _check_names(self, given: Mapping[str, Any]) -> None:
        known = [p.name for p in self.parameters]
        for name in given:
            if name not in known:
                raise InputError(
                    f"problem {self.name!r} has no parameter {shown(name)}{nearest(name, known)} It has: "
                    f"{', '.join(known)}"
                )

    def problem(self, **given: Any) -> Any:
        """With these parameters, and defaults for the rest. A parameter with more axes than it has for one problem is
        a batch: one problem for every member."""
        natural = {p.name: np.shape(p.default) for p in self.parameters}
        for name, value in given.items():
            if isinstance(value, Range) and natural.get(name):
                raise InputError(f"parameter {name!r} is {natural[name][0]} numbers, of which there is no range")
        if any(_axes(value) > len(natural.get(name, ())) for name, value in given.items()):
            self._check_names(given)
            made = problems_of(self._one, given, natural, {p.name: p.unit for p in self.parameters})
            return replace(made, content=self._content_of(given, made))
        return self._one(**given)

    def _content_of(self, given: Mapping[str, Any], made: Problems) -> dict[str, Any] | None:
        """What a file holds of them: lists of numbers, if it can."""
        lists = {name: numbers(name, value).tolist() for name, value in given.items()}
        flat = all(not isinstance(v, list) or not any(isinstance(x, list) for x in v) for v in lists.values())
        rest = {k: v for k, v in (made.first.content or {})["parameters"].items() if k not in given}
        return {"problem": self.name, "parameters": {**rest, **lists}} if flat else None

    def _one(self, **given: Any) -> Problem:
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


def _axes(value: Any) -> int:
    try:
        return np.ndim(value)
    except ValueError:  # ragged: no number is meant, and that is said where it is looked at
        return 0
