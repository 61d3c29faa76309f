"""The axes of a body over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.model.checks import InputError, unknown
from polhode.results.style import plain


def bodies_apart(dataset: Any, *bodies: str) -> list[tuple[str, ...]]:
    """The names for a panel each, where there are several bodies to draw."""
    names = bodies or (tuple(map(str, dataset.body.values)) if "body" in dataset.attitude.dims else ())
    return [(name,) for name in names] if len(names) > 1 else []


def of_which(dataset: Any, *bodies: str) -> str:
    """What a title says of the body that is drawn, where it has a name."""
    return "".join(f": {plain(name, 24)}" for name in bodies) if "body" in dataset.attitude.dims else ""


def body_axes(dataset: Any, *bodies: str) -> tuple[tuple[np.ndarray, ...], ...]:
    """The columns of R, each with its three components over time; of the body named, where there are several."""
    attitude = dataset.attitude
    if "body" in attitude.dims:
        names = list(map(str, dataset.body.values))
        if len(bodies) != 1 and len(names) > 1:
            raise InputError(f"name the body whose axes are to be drawn: one of {', '.join(names)}")
        if bodies and bodies[0] not in names:
            raise unknown("body", bodies[0], names)
        attitude = attitude.sel(body=bodies[0] if bodies else names[0])
    w, x, y, z = (attitude.sel(quaternion=c).values for c in "wxyz")
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)),
        (2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)),
        (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)),
    )
