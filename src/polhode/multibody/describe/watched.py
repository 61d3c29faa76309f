"""What a user gives to a system besides its mechanics, and how it is checked: functions to watch, lists, names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from polhode.model.checks import InputError, positive
from polhode.model.pytree import Code, Static, tree
from polhode.multibody.describe.applied import Applied
from polhode.multibody.describe.bodies import Body
from polhode.multibody.describe.constraints import Constraint
from polhode.multibody.describe.views import OfView, View, shape_of

_KINDS: dict[type, str] = {Body: "bodies", Applied: "forces", Constraint: "constraints"}

Observed = Callable[[View], Any] | tuple[Callable[[View], Any], str]  # a function of a view, or with its unit


@tree
class Watched:
    """A function of a view, by name, for results and pictures."""

    name: Static[str]
    fn: Code[Callable[[View], Any]]
    shape: Static[tuple[int, ...]] = ()

    def __iter__(self) -> Iterator[Any]:
        return iter((self.name, self.fn))

    def traced(self, names: Sequence[str]) -> Watched:
        return replace(self, fn=OfView.of(repr(self.name), self.fn, names, {}, self.shape))


def with_unit(name: str, given: Any) -> tuple[Any, str]:
    if callable(given) or not isinstance(given, tuple):
        return given, ""
    if len(given) != 2 or not isinstance(given[1], str):
        raise InputError(
            f'observable {name!r} must be a function of a view, or a pair of one and its unit, (fn, "rad"), or '
            f'"1" where it has none; got {given!r}'
        )
    return given


def tolerance_of(given: Any) -> float:
    positive("tolerance", given)
    if not 1e-14 <= given <= 0.1:
        raise InputError(f"tolerance must be between 1e-14 (round-off) and 0.1; got {given!r}")
    return float(given)


def check_mapping(what: str, given: Any) -> None:
    if given is not None and not isinstance(given, Mapping):
        raise InputError(f"{what}s must be a dictionary of names and functions of a view; got {given!r}")


def check_functions(what: str, given: Mapping[str, Any] | None, shape: tuple[int, ...], names: tuple[str, ...]) -> None:
    check_mapping(what, given)
    for name, fn in (given or {}).items():
        if not callable(fn):
            raise InputError(f"{what} {name!r} must be a function of a view; got {fn!r}")
        found = shape_of(fn, names, f"{what} {name!r}")
        if found != shape:
            wanted = "one number" if shape == () else "a point, three numbers"
            raise InputError(f"{what} {name!r} must return {wanted}; its function returned shape {found}")


def named_bodies(bodies: Sequence[Body]) -> dict[str, Body]:
    if not bodies:
        raise InputError("a system needs at least one body")
    named = {body.name: body for body in bodies}
    if len(named) < len(bodies):
        names = [body.name for body in bodies]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise InputError(f"each body needs a name of its own; more than one is called {', '.join(map(repr, twice))}")
    return named


def each_of(what: str, items: Sequence[Any], kind: type) -> tuple[Any, ...]:
    """As a tuple, each looked at."""
    if isinstance(items, kind):
        raise InputError(f"{what} must be a list, also of one: {what}=[...]; got {type(items).__name__} alone")
    if not isinstance(items, Iterable) or isinstance(items, str | Mapping):
        raise InputError(f"{what} must be a list; got {items!r}")
    made = tuple(items)
    for item in made:
        if not isinstance(item, kind):
            raise InputError(f"{what} must be a list of {_KINDS[kind]} of polhode.multibody; got {item!r}")
    return made
