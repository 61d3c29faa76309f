"""`Problems`: a problem with other numbers for every member, along named dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from polhode.model.checks import InputError, numbers, shown
from polhode.model.problem import Problem

MOST = 100_000  # members; each is run by itself
# Names in the dataset of a family; a parameter called like one of these, or like a quantity, is `parameter_NAME` there.
RESERVED = {
    *("t", "step", "step_count", "axis", "quaternion", "body", "row", "point", "member", "event", "event_time"),
    *("status", "end_step", "end_time", "failed_step"),
}


@dataclass(frozen=True)
class Coordinate:
    """A number of every member: its values along some of the dimensions."""

    dims: tuple[str, ...]
    values: np.ndarray
    unit: str = ""


@dataclass(frozen=True)
class Problems:
    """What `simulate` runs one by one, and gathers in a `Family`. `content` is what a file holds to make the same
    problems again, None where that is not possible."""

    members: np.ndarray  # of Problem
    dims: tuple[str, ...]
    coordinates: Mapping[str, Coordinate] = field(default_factory=dict)
    content: dict[str, Any] | None = None

    @property
    def first(self) -> Problem:
        return self.members.flat[0]

    def __getattr__(self, name: str) -> Any:
        """What is the same for all of them: the kind, the name, the method, ..."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.first, name)


class Range(list[float]):
    """Numbers of a range, which are those of a batch, never of one parameter that has several."""


def problems_of(
    make: Callable[..., Problem],
    given: Mapping[str, Any],
    natural: Mapping[str, tuple[int, ...]],
    units: Mapping[str, str],
) -> Problems:
    """`make(**numbers)` for every member. `natural`: the shape of each parameter for one problem; axes in front of it
    are those of the batch, and go together as numpy's do. One parameter with one such axis names it."""
    arrays = {name: numbers(f"parameter {name!r}", value) for name, value in given.items()}
    for name, a in arrays.items():
        if (end := natural.get(name, ())) != a.shape[a.ndim - len(end) :]:
            raise InputError(
                f"parameter {name!r} is {end[0]} numbers for every member; got an array of shape {a.shape}"
            )
    shapes = {name: a.shape[: a.ndim - len(natural.get(name, ()))] for name, a in arrays.items()}
    try:
        shape = np.broadcast_shapes(*shapes.values())
    except ValueError:
        said = ", ".join(f"{name} {s}" for name, s in shapes.items() if s)
        raise InputError(f"these parameters are batches whose shapes do not go together: {said}") from None
    if 0 in shape or np.prod(shape) > MOST:
        raise InputError(f"a batch has between 1 and {MOST:,} members; this one has the shape {shape}")
    varied = [name for name, s in shapes.items() if s]
    one = len(varied) == 1 and len(shape) == 1 and not natural.get(varied[0])
    dims = (varied[0],) if one else ("member",) if len(shape) == 1 else tuple(f"member{i}" for i in range(len(shape)))
    whole = {name: np.broadcast_to(a, (*shape, *natural.get(name, ()))) for name, a in arrays.items()}
    members = np.empty(shape, dtype=object)
    for index in np.ndindex(*shape):
        try:
            members[index] = make(**{name: a[index].tolist() for name, a in whole.items()})
        except InputError as error:
            at = ", ".join(f"{name} = {whole[name][index].tolist()}" for name in varied)
            raise type(error)(f"member {list(index)} ({at}): {error.args[0]}") from error
    check_alike(members)
    taken = {q.name for q in members.flat[0].system.quantities} | RESERVED
    called = {n: f"parameter_{n}" if n in taken else n for n in varied}
    dims = tuple(called.get(d, d) for d in dims)
    return Problems(
        members, dims, {called[n]: Coordinate(dims, whole[n], units.get(n, "")) for n in varied if not natural.get(n)}
    )


def check_alike(members: np.ndarray) -> None:
    """An InputError unless one dataset can hold them all."""
    first = members.flat[0]
    for index in np.ndindex(*members.shape):
        problem: Any = members[index]
        alike = problem.kind == first.kind and problem.system.labels == first.system.labels
        if not alike or [q.name for q in problem.system.quantities] != [q.name for q in first.system.quantities]:
            raise InputError(
                f"members of a batch must have the same bodies, rows and observables; member {list(index)} differs"
            )
        own = (problem.start, problem.system.moments) if problem.kind == "rotation" else ()
        if any(np.ndim(x) for x in jax.tree.leaves(own)):
            raise InputError(f"member {list(index)} of the batch starts as a batch itself; give every member one start")


def batch_of(make: Callable[..., Any], made: Callable[[Any], Problem], **parameters: Any) -> Problems:
    """A function of the user's that makes what `simulate` takes, for every member of these parameters."""
    if not callable(make):
        raise InputError(f"batch needs a function that makes a system of its parameters; got {shown(make)}")
    if not parameters:
        raise InputError("batch needs parameters, by name: batch(make, mass=[1, 2, 3])")

    def one(**numbers: Any) -> Problem:
        try:
            return made(make(**numbers))
        except InputError:
            raise
        except Exception as error:
            raise InputError(f"the function of batch failed: {type(error).__name__}: {error}") from error

    return problems_of(one, parameters, {}, {})
