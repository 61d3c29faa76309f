"""`Alike`: systems of one structure, each with numbers and a start of its own, as one kernel moves them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from polhode.kernel.system_source import Source, source_of_systems
from polhode.model.checks import InputError
from polhode.simulation.member import step_of_member
from polhode.solve import until_converged


class Alike:
    """`systems` and `states`, one of each for every member, prepared by `begun` and by the method's `begin`."""

    def __init__(self, systems: Sequence[Any], states: Sequence[Any]) -> None:
        self._system, self._state = systems[0], states[0]
        numbers = [[np.asarray(x) for x in jax.tree.leaves(system)] for system in systems]
        structure: Any = jax.tree.structure
        for k, (system, its) in enumerate(zip(systems, numbers, strict=True)):
            same = structure(system) == structure(self._system)
            if not same or [x.shape for x in its] != [x.shape for x in numbers[0]]:
                raise InputError(f"systems that move together have all but their numbers alike; member {k} does not")
        columns = list(zip(*numbers, strict=True))
        self.own = tuple(any(not np.array_equal(x, column[0]) for x in column[1:]) for column in columns)
        self.numbers = [np.stack(c) if is_own else c[0] for c, is_own in zip(columns, self.own, strict=True)]
        self.starts = [np.stack(x) for x in zip(*map(jax.tree.leaves, states), strict=True)]

    def source(self, method: Any, **how: Any) -> Source:
        """Of a kernel that takes the steps of a method's first rung. Where one of its steps fails a member stays where
        it was, for the next rung. `UnwritableError` where it holds what has no words in C."""
        with until_converged():
            return source_of_systems(
                step_of_member(method.rungs[0]),
                jax.tree.map(_like, self._system),
                self.own,
                jax.tree.map(_like, self._state),
                **how,
            )


def _like(x: Any) -> Any:
    return jax.ShapeDtypeStruct(np.shape(x), np.result_type(x))
