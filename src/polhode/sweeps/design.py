"""`Design`: which members a sweep has: a grid, a list, random ones, or Sobol's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from polhode.model.checks import InputError, nearest, numbers, shortened, shown, whole
from polhode.model.family import MOST

DESIGNS = ("grid", "list", "random", "sobol")
_RANGE = ("from", "to", "count", "scale")
_SCALES = ("linear", "log")


@dataclass(frozen=True)
class Design:
    """Of every swept name its value in every member, in the order of the members; and the dimensions they make."""

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    values: dict[str, list[Any]]

    @property
    def count(self) -> int:
        return math.prod(self.shape)

    def member(self, i: int) -> dict[str, Any]:
        """What is swept, by name, in one of them."""
        return {name: values[i] for name, values in self.values.items()}

    def coordinate(self, name: str) -> tuple[tuple[str, ...], np.ndarray]:
        """Its dimensions and its values along them."""
        values = np.array(self.values[name]).reshape(*self.shape)
        if name not in self.dims:
            return self.dims, values
        axis = self.dims.index(name)
        return (name,), np.moveaxis(values, axis, 0).reshape(self.shape[axis], -1)[:, 0]


def design_of(over: Any, kind: str = "grid", members: Any = None, seed: Any = 0) -> Design:
    """over  names of parameters, "method" and "step", each with a list of values, or a range {from, to}: with `count`
             values in a grid or a list, any number between in random and Sobol designs; scale = "log" spaces them so
    kind     "grid": every value with every other; "list": the first of each, the second of each, ...; "random" and
             "sobol": so many `members`, from this `seed`
    """
    if kind not in DESIGNS:
        raise InputError(f"unknown design {shown(kind)}{nearest(str(kind), DESIGNS)} Known: {', '.join(DESIGNS)}")
    if not isinstance(over, Mapping) or not over:
        raise InputError(f"a sweep is over names with lists or ranges, as in {{speed = [1, 2, 3]}}; got {shown(over)}")
    drawn = kind in ("random", "sobol")
    if drawn != (members is not None):
        words = "how many, as in members = 64" if drawn else f"no members: a {kind} has as many as its values make"
        raise InputError(f"a {kind} design takes {words}; got {shown(members)}")
    axes = {str(name): _Axis.of(shortened(name), value, drawn) for name, value in over.items()}
    if drawn:
        count = whole("members", members, 1)
        _check_count(count)
        points = _points(kind, count, len(axes), whole("seed", seed, 0))
        values = {name: axis.at(points[:, k]) for k, (name, axis) in enumerate(axes.items())}
        return Design(("member",), (count,), values)
    lists = {name: axis.values for name, axis in axes.items()}
    if kind == "list":
        lengths = {name: len(values) for name, values in lists.items()}
        if len(set(lengths.values())) > 1:
            said = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise InputError(f"in a list design all have as many values; got {said}")
        _check_count(len(next(iter(lists.values()))))
        return Design(("member",), (len(next(iter(lists.values()))),), lists)
    shape = tuple(len(values) for values in lists.values())
    _check_count(math.prod(shape))
    rows = list(product(*lists.values()))
    return Design(tuple(lists), shape, {name: [row[k] for row in rows] for k, name in enumerate(lists)})


def _check_count(count: int) -> None:
    if not 1 <= count <= MOST:
        raise InputError(f"a sweep has between 1 and {MOST:,} members; this one has {count:,}")


def _points(kind: str, count: int, dimensions: int, seed: int) -> np.ndarray:
    """In the unit cube."""
    if kind == "random":
        return np.random.default_rng(seed).random((count, dimensions))
    from scipy.stats import qmc

    sequence = qmc.Sobol(dimensions, scramble=True, seed=seed)
    return sequence.random_base2(math.ceil(math.log2(count)))[:count] if count > 1 else sequence.random(1)


@dataclass(frozen=True)
class _Axis:
    """What one name may be: these values, or all between two numbers."""

    values: list[Any]
    between: tuple[float, float] | None = None
    log: bool = False

    @classmethod
    def of(cls, name: str, given: Any, drawn: bool) -> _Axis:
        if isinstance(given, np.ndarray):
            given = given.tolist()
        if isinstance(given, list | tuple):
            return cls(_listed(name, list(given)))
        if isinstance(given, Mapping) and name != "method":
            return cls._between(name, dict(given), drawn)
        raise InputError(
            f"{name} is swept over a list, or a range {{from = 0, to = 1, count = 11}}; got {shown(given)}"
        )

    @classmethod
    def _between(cls, name: str, given: dict[str, Any], drawn: bool) -> _Axis:
        for key in given:
            if key not in _RANGE:
                raise InputError(
                    f"{name}: a range has no {shown(key)}{nearest(str(key), _RANGE)} It has from, to, count"
                )
        if not {"from", "to"} <= set(given) or drawn == ("count" in given):
            needs = "from and to" if drawn else "from, to and count"
            raise InputError(f"{name}: a range has {needs} in this design; got {shown(given)}")
        ends = float(numbers(f"{name}: from", given["from"])), float(numbers(f"{name}: to", given["to"]))
        scale = given.get("scale", "linear")
        if scale not in _SCALES:
            raise InputError(f"{name}: scale is linear or log; got {shown(scale)}")
        if scale == "log" and not min(ends) > 0:
            raise InputError(f"{name}: a range with scale = log is between positive numbers; got {shown(given)}")
        axis = cls([], ends, scale == "log")
        if drawn:
            return axis
        count = whole(f"{name}: count", given["count"], 1)
        _check_count(count)
        return cls(axis.at(np.linspace(0.0, 1.0, count)))

    def at(self, places: np.ndarray) -> list[Any]:
        """Values at these places between 0 and 1."""
        if self.between is None:
            return [self.values[min(int(p * len(self.values)), len(self.values) - 1)] for p in places]
        low, high = np.log(self.between) if self.log else self.between
        found = low + (high - low) * places
        exact = np.where(places == 0.0, self.between[0], self.between[1])
        return np.where((places == 0.0) | (places == 1.0), exact, np.exp(found) if self.log else found).tolist()


def _listed(name: str, given: list[Any]) -> list[Any]:
    if not given:
        raise InputError(f"{name}: the list is empty; give one value or more")
    if name == "method":
        for method in given:
            if not isinstance(method, str):
                raise InputError(f"method is swept over names; got {shown(method)}")
        return given
    found = [x.tolist() if (x := numbers(f"{name}[{i}]", value)).ndim else float(x) for i, value in enumerate(given)]
    if len({np.shape(x) for x in found}) > 1:
        raise InputError(f"{name}: its values have different shapes; got {shown(given)}")
    return found
