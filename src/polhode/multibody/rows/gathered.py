"""Constraints gathered by kind, so that a step evaluates like with like; and what rows ask of a system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Protocol, Self

import jax
import numpy as np

from polhode._programs import is_from
from polhode.model.checks import InputError
from polhode.model.pytree import Static, tree
from polhode.multibody.describe.affine import check_class
from polhode.multibody.describe.applied import Applied
from polhode.multibody.describe.bodies import GROUND
from polhode.multibody.describe.constraints import Constraint
from polhode.multibody.describe.state import State
from polhode.multibody.describe.views import View


@tree
class Group:
    """Constraints of one kind: `kind` with each number stacked, the bodies and rows of each."""

    kind: Constraint
    bodies: Static[tuple[tuple[int, ...], ...]]  # of each constraint, in the order of kind.bodies
    first: Static[tuple[int, ...]]  # row of each constraint
    anchors: Static[bool]  # they hold their bodies to the ground, or make them roll

    @property
    def rows(self) -> int:
        return self.kind.holonomic + self.kind.nonholonomic

    def traced(self, names: Sequence[str]) -> Group:
        """With users' functions as they are now."""
        one = jax.tree.map(lambda x: x[0], self.kind)
        known = one.traced(names)  # a function stands in a group of its own
        if not is_from(type(one), "polhode"):
            check_class(one)
        return self if known is one else replace(self, kind=jax.tree.map(lambda x: x[None], known))


class Gathered(Protocol):
    """A system, as far as rows know it."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def masses(self) -> Any: ...
    @property
    def inertias(self) -> Any: ...
    @property
    def forces(self) -> tuple[Applied, ...]: ...
    @property
    def within(self) -> tuple[bool, ...]: ...
    @property
    def groups(self) -> tuple[Group, ...]: ...
    @property
    def start(self) -> State: ...
    @property
    def row_names(self) -> tuple[str, ...]: ...
    @property
    def holonomic(self) -> tuple[bool, ...]: ...
    @property
    def redundant(self) -> tuple[int, ...]: ...
    @property
    def tolerance(self) -> float: ...
    @property
    def size(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def holonomic_rows(self) -> np.ndarray: ...
    def view(self, state: State, t: Any) -> View: ...
    def seen(self, q: tuple[Any, Any], u: Any, t: Any) -> View: ...
    def bare(self) -> Self: ...


def gathered(
    constraints: list[Constraint], held: list[bool], names: tuple[str, ...]
) -> tuple[Any, Any, tuple[Group, ...]]:
    labels: list[str] = []
    holonomic: list[bool] = []
    kinds: dict[Any, list[tuple[Constraint, int]]] = {}
    for c, anchored in zip(constraints, held, strict=True):
        kinds.setdefault((_kind(c), anchored), []).append((c, len(labels)))
        labels += c.labels
        holonomic += [True] * c.holonomic + [False] * c.nonholonomic
    repeated = sorted(label for label, count in Counter(labels).items() if count > 1)
    if repeated:
        raise InputError(f"constraints need names of their own (name=...); more than one row is called {repeated[0]!r}")
    groups = []
    number = {name: i for i, name in enumerate(names)}
    for (_, anchored), members in kinds.items():
        leaves = [jax.tree.leaves(c) for c, _ in members]
        stacked = [np.stack([np.asarray(x, dtype=float) for x in column]) for column in zip(*leaves, strict=True)]
        kind = jax.tree.unflatten(jax.tree.structure(members[0][0]), stacked)
        bodies = tuple(tuple(number[body] for body in c.bodies) for c, _ in members)
        groups.append(Group(kind, bodies, tuple(first for _, first in members), anchored))
    return tuple(labels), tuple(holonomic), tuple(groups)


def _kind(c: Constraint) -> Any:
    """Two constraints with the same kind differ in numbers, names and bodies only: those that their fields a, b and
    body name. A function asks for bodies by their names, so it has a kind of its own."""
    tree: Any = jax.tree.structure(c)
    if tree.node_data() is None:
        raise InputError(
            f"constraint {c.name!r} is of the class {type(c).__name__}, which JAX cannot take apart; decorate the "
            "class with polhode.multibody.tree"
        )
    if any(callable(x) for x in tree.node_data()[1]):
        return (type(c), c.name)
    place = {GROUND: -1} | {name: i for i, name in enumerate(c.bodies)}
    named = {field: getattr(c, field, None) for field in _BODIES}
    alike = {field: f"body {place[n]}" for field, n in named.items() if isinstance(n, str) and n in place}
    if is_from(type(c), "polhode"):  # a class of the user's may make something of its name
        alike["name"] = ""
    unnamed = copy(c)
    for field, value in alike.items():
        object.__setattr__(unnamed, field, value)
    return (type(c), jax.tree.structure(unnamed), tuple(np.shape(x) for x in jax.tree.leaves(c)))


_BODIES = ("a", "b", "body")  # fields in which constraints name a body
