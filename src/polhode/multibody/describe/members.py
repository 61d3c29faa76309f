"""Members of what was given with leading axes: a mass, an anchor, a radius or a weight for every member of a batch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from polhode.algebra.reals import reals
from polhode.model.checks import InputError
from polhode.model.pytree import replaced
from polhode.multibody.describe.bodies import Body
from polhode.rotation.state import attitude_of

_SCALARS = ("mass", "radius", "cylinder", "length", "stiffness", "coefficient")
_VECTORS = ("position", "velocity", "omega", "at", "axis", "axis_b", "normal", "point", "at_a", "at_b", "g", "fn")


def _split(thing: Any) -> dict[str, np.ndarray]:
    """The numbers of a thing that have more axes than one system's, by field, those of the batch in front."""
    found: dict[str, np.ndarray] = {}
    for f in fields(thing) if is_dataclass(thing) else ():
        value = getattr(thing, f.name, None)
        if (not f.init and f.name not in ("at", "axis")) or value is None or callable(value):
            continue
        try:
            own = _values(f.name, value)
        except (TypeError, ValueError, InputError):  # no numbers: what is wrong is said where it is looked at
            continue
        if own is not None:
            found[f.name] = own
    return found


def _values(name: str, value: Any) -> np.ndarray | None:
    """As an array, if it is a batch."""
    if name == "attitude":
        q = np.asarray(attitude_of(value).array)
        return q if q.ndim > 1 else None
    if name not in (*_SCALARS, *_VECTORS, "inertia"):
        return None
    array = np.asarray(reals(value))
    natural = 0 if name in _SCALARS else 1
    if name == "inertia":
        natural = 2 if array.shape[-2:] == (3, 3) else 1
    if natural and array.shape[-1:] != (3,):
        return None
    return array if array.ndim > natural else None


def _shape(name: str, array: np.ndarray) -> tuple[int, ...]:
    if name in _SCALARS:
        return array.shape
    return array.shape[:-2] if name == "inertia" and array.shape[-2:] == (3, 3) else array.shape[:-1]


def batch_shape(things: Iterable[Any]) -> tuple[int, ...]:
    """Of all of them together."""
    shapes = {f"{_name(thing)}: {n}": _shape(n, a) for thing in things for n, a in _split(thing).items()}
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        said = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise InputError(f"these are batches whose shapes do not go together: {said}") from None


def member(thing: Any, shape: tuple[int, ...], index: tuple[int, ...]) -> Any:
    """That of this index."""
    own = {
        n: np.broadcast_to(a, (*shape, *a.shape[len(_shape(n, a)) :]))[index] for n, a in _split(thing).items()
    }  # fmt: skip
    if not own:
        return thing
    return replace(thing, **own) if isinstance(thing, Body) else replaced(thing, **own)


def numbers_of(thing: Any) -> dict[str, np.ndarray]:
    """Its single numbers that differ from member to member, by a name of their own."""
    return {f"{_name(thing)} {n}": a for n, a in _split(thing).items() if n in _SCALARS}


def _name(thing: Any) -> str:
    between = [getattr(thing, side, "") for side in ("body", "a", "b")]
    return getattr(thing, "name", "") or " ".join([type(thing).__name__.lower(), *filter(None, between)])
