"""`LostMember`: one of a batch that goes no further, while the others do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from polhode.algebra.library import library_of
from polhode.simulation.loop import Block
from polhode.simulation.status import Status


@dataclass(frozen=True)
class LostMember:
    """Which member, in which step, from what time (s), and why; its samples from there on are NaN."""

    member: tuple[int, ...]
    step: int
    t: float
    status: Status
    residual: float = 0.0  # error left in the equations of the step, relative
    iterations: int = 0
    why: str = ""


def lost_in(block: Block, done: int, t0: float, step: float) -> list[LostMember]:
    """Those that a call lost, which began after `done` steps, in the order of their steps."""
    if block.failed is None:  # of one motion
        return []
    failed, found = np.asarray(block.failed), []
    for index in map(tuple, np.argwhere(failed >= 0).tolist()):
        count = int(failed[index])
        converged, residual, iterations = (
            np.asarray(x)[index].item() for x in (block.report.converged, block.report.error, block.report.iterations)
        )
        status = Status.NOT_FINITE if converged else Status.NOT_CONVERGED
        why = "the new state is not finite" if converged else (
            f"the equations were not solved in {iterations} iterations; the error left is {residual:.2g} of the unknown"
        )  # fmt: skip
        found.append(LostMember(index, done + count, t0 + (done + count - 1) * step, status, residual, iterations, why))
    return sorted(found, key=lambda lost: lost.step)


def without(states: Any, gone: np.ndarray) -> Any:
    """States, samples in front if `gone` has them, with NaN in the place of members that are gone."""

    def emptied(x: Any) -> Any:
        return library_of(x).where(gone.reshape(gone.shape + (1,) * (x.ndim - gone.ndim)), np.nan, x)

    return jax.tree.map(emptied, states)
