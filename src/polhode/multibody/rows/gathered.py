"""The constraints of a system gathered by kind, so that a step evaluates like with like."""

from __future__ import annotations

from collections import Counter
from copy import copy
from typing import Any

import jax
import numpy as np

from polhode._programs import is_from
from polhode.model.checks import InputError
from polhode.multibody.describe.bodies import GROUND
from polhode.multibody.describe.constraints import Constraint
from polhode.multibody.describe.joint import Joint
from polhode.multibody.describe.rolling import RollingDisk, RollingSphere
from polhode.multibody.rows.differentiated_rows import DifferentiatedRows
from polhode.multibody.rows.group import NOWHERE, Group
from polhode.multibody.rows.joint_rows import JointRows
from polhode.multibody.rows.wheel_rows import WheelRows


def gathered(
    constraints: list[Constraint], held: list[bool], names: tuple[str, ...]
) -> tuple[Any, Any, tuple[Group, ...]]:
    labels: list[str] = []
    holonomic: list[bool] = []
    number = {name: i for i, name in enumerate(names)} | {GROUND: NOWHERE}
    joints: list[Any] = []
    wheels: list[Any] = []
    kinds: dict[Any, list[tuple[Constraint, int, bool]]] = {}
    for c, anchored in zip(constraints, held, strict=True):
        first, known = len(labels), is_from(type(c), "polhode")
        if known and isinstance(c, Joint):
            closed = c.projections()
            joints += [(row, (number[c.a], number[c.b]), first + i, anchored) for i, row in enumerate(closed)]
            for drive in c.driven():
                kinds.setdefault(_kind(drive), []).append((drive, first + len(closed), anchored))
        elif known and isinstance(c, RollingDisk | RollingSphere):
            wheels.append((c.contact(), number[c.body], first))
        else:
            kinds.setdefault(_kind(c), []).append((c, first, anchored))
        labels += c.labels
        holonomic += [True] * c.holonomic + [False] * c.nonholonomic
    repeated = sorted(label for label, count in Counter(labels).items() if count > 1)
    if repeated:
        raise InputError(f"constraints need names of their own (name=...); more than one row is called {repeated[0]!r}")
    groups: list[Group] = [JointRows.of(joints)] if joints else []
    groups += [WheelRows.of(wheels)] if wheels else []
    for members in kinds.values():
        leaves = [jax.tree.leaves(c) for c, *_ in members]
        stacked = [np.stack([np.asarray(x, dtype=float) for x in column]) for column in zip(*leaves, strict=True)]
        kind = jax.tree.unflatten(jax.tree.structure(members[0][0]), stacked)
        bodies = tuple(tuple(number[body] for body in c.bodies) for c, *_ in members)
        rows = tuple(tuple(range(first, first + len(c.labels))) for c, first, _ in members)
        groups.append(DifferentiatedRows(kind, bodies, rows, tuple(anchored for *_, anchored in members)))
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
