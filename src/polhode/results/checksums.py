"""Checksums of a dataset: one for each variable, one for the attributes.

They are of what a reader gets (names, dims, labels, units, numbers), not of bytes on a disk, so one
mechanism serves every format, and nothing that is lost or changed on the way can pass.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

ATTRIBUTE = "checksums"
_BLOCK = 2**16  # numbers that are hashed at a time: what has to be copied for it stays small


class DamagedError(Exception):
    """What was read is not what was saved."""


def with_checksums(dataset: Any) -> Any:
    """The dataset with an attribute that `checked` takes off again."""
    sums = {"attributes": _of_attributes(dataset), "variables": _of_variables(dataset)}
    return dataset.assign_attrs({ATTRIBUTE: json.dumps(sums)})


def checked(dataset: Any) -> Any:
    """The dataset as it was before `with_checksums`; `DamagedError` names what has changed since."""
    attributes = dict(dataset.attrs)
    try:
        sums = json.loads(attributes.pop(ATTRIBUTE))
        saved, of_attributes = dict(sums["variables"]), sums["attributes"]
    except KeyError as error:
        raise DamagedError("its checksums are missing") from error
    except (ValueError, TypeError) as error:
        raise DamagedError("its checksums are damaged themselves") from error
    dataset = dataset.copy()
    dataset.attrs = attributes
    found = _of_variables(dataset)
    for kind, names in (
        ("is missing", saved.keys() - found.keys()),
        ("was not part of it when it was saved", found.keys() - saved.keys()),
        ("differs from what was saved", {name for name in saved if found.get(name, saved[name]) != saved[name]}),
    ):
        if names:
            first, *others = sorted(names)
            raise DamagedError(
                f"the variable {first!r} {kind}" + (f" (and so for {', '.join(others)})" if others else "")
            )
    if _of_attributes(dataset) != of_attributes:
        raise DamagedError("its attributes (method, step, recipe, ...) differ from what was saved")
    return dataset


def _of_attributes(dataset: Any) -> str:
    return hashlib.sha256(_text(dataset.attrs)).hexdigest()


def _of_variables(dataset: Any) -> dict[str, str]:
    return {str(name): _of_variable(variable, name in dataset.coords) for name, variable in dataset.variables.items()}


def _of_variable(variable: Any, coordinate: bool) -> str:
    values = np.asarray(variable.values)
    text = values.dtype.kind in "OSU"
    kind = "text" if text else f"{values.dtype.kind}{values.dtype.itemsize}"
    sha = hashlib.sha256(_text([coordinate, list(variable.dims), list(values.shape), kind, variable.attrs]))
    if text:
        sha.update(_text(values.tolist()))
        return sha.hexdigest()
    rows = max(1, _BLOCK * len(values) // max(1, values.size)) if values.ndim else 1
    values = np.atleast_1d(values)
    for first in range(0, len(values), rows):
        sha.update(_bytes(values[first : first + rows]).data)
    return sha.hexdigest()


def _bytes(values: np.ndarray) -> np.ndarray:
    """Little-endian; every NaN is one NaN, since text and fill values know no other."""
    if values.dtype.kind == "f" and np.isnan(values).any():
        values = np.where(np.isnan(values), np.nan, values)
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).reshape(-1).view(np.uint8)


def _text(data: Any) -> bytes:
    return json.dumps(data, sort_keys=True, default=_plain).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{value!r} cannot be part of a saved trajectory")
