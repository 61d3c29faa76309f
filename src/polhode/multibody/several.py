"""A System whose numbers have leading axes: a batch of systems."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.model.checks import InputError
from polhode.model.family import MOST, Coordinate, Problems
from polhode.model.problem import Problem
from polhode.multibody.describe.members import batch_shape, member, numbers_of

_PARTS = ("bodies", "forces", "constraints")


def several(kind: Any, *bodies: Any, **given: Any) -> Problems | None:
    """`kind(...)` of what is given, for every member; None if nothing there has an axis of a batch."""
    given |= {"bodies": bodies[0]} if bodies else {}
    parts = {name: given[name] for name in _PARTS if isinstance(given.get(name), list | tuple)}
    things = [thing for part in parts.values() for thing in part]
    shape = batch_shape(things)
    if shape == ():
        return None
    if 0 in shape or np.prod(shape) > MOST:
        raise InputError(f"a batch has between 1 and {MOST:,} members; this one has the shape {shape}")
    members = np.empty(shape, dtype=object)
    for index in np.ndindex(*shape):
        own = {name: [member(thing, shape, index) for thing in part] for name, part in parts.items()}
        try:
            members[index] = Problem(kind(**{**given, **own}))
        except InputError as error:
            raise type(error)(f"member {list(index)}: {error.args[0]}") from error
    dims = ("member",) if len(shape) == 1 else tuple(f"member{i}" for i in range(len(shape)))
    values = {name: a for thing in things for name, a in numbers_of(thing).items()}
    return Problems(members, dims, {name: Coordinate(dims, np.broadcast_to(a, shape)) for name, a in values.items()})
