"""`Quantity`: something of a motion that one may look at, computed from saved states, never on the way."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._programs import stored

_NUMBERS = 2**17  # of states that are looked at by one call
_SAMPLES = (64, 4096)  # looked at by one call, of short runs and of others


@dataclass(frozen=True)
class Quantity:
    """A pure function of (system, state, t), with a name, dimensions besides those of time and members, a unit and a
    meaning. Unless it is `whole`, it is written for one state, compiled and mapped over the samples; a whole one takes
    all samples at once, as arrays with more axes in front, and needs no program. `made_of`: the sum of others."""

    name: str
    of: Callable[[Any, Any, Any], Any] | None
    unit: str
    meaning: str
    dims: tuple[str, ...] = ()
    whole: bool = False
    made_of: tuple[str, ...] = ()
    attribute: str = ""  # of a run, where it is not the name
    given: str = ""  # the name by which it is one of the observables, which tables and plots show


@stored(static=1, briefly=True)
def _mapped(quantities: tuple[Quantity, ...], system: Any, states: Any, t: Any) -> Any:
    def of_one(state: Any, t: Any) -> Any:
        return [jnp.asarray(q.of(system, state, t), dtype=float) for q in quantities if q.of is not None]

    return jax.vmap(of_one)(states, t)


def looked_at(quantities: Sequence[Quantity], system: Any, states: Any, t: np.ndarray) -> dict[str, np.ndarray]:
    """The values of each at every sample, by name; `states` with samples in front, `system` as it was in the run.

    Some samples at a time, always as many, filled up by the last: one program serves all short runs of a kind,
    another all others."""
    if not quantities:
        return {}
    size = sum(math.prod(np.shape(x)[1:]) for x in jax.tree.leaves(states))
    each = max(1, min(_SAMPLES[len(t) > _SAMPLES[0]], _NUMBERS // max(size, 1)))
    parts: list[list[np.ndarray]] = [[] for _ in quantities]
    program = None
    for first in range(0, len(t), each):
        which = np.minimum(np.arange(first, first + each), len(t) - 1)
        some = (system, jax.tree.map(lambda x: np.asarray(x)[which], states), t[which])  # noqa: B023
        program = program or _mapped.prepared(tuple(quantities), *some)
        for part, values in zip(parts, program(*some), strict=True):
            part.append(np.asarray(values)[: len(t) - first])
    whole = (np.concatenate(part) if len(part) > 1 else part[0] for part in parts)
    return {q.name: values for q, values in zip(quantities, whole, strict=True)}
