"""One member of a batch: its step, and what it has of its own, as a kernel needs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from polhode.kernel import source_of_steps
from polhode.simulation.loop import step_of
from polhode.solve import until_converged


def step_of_member(method: Any) -> Callable[..., Any]:
    """As `source_of_steps` wants it."""

    def step(system: Any, state: Any, t: Any, h: Any) -> Any:
        new, report, good = step_of(method, system, state, t, h)
        return new, good, report.converged, report.error, report.iterations, report.renewals, report.halvings

    return step


def kernel_source(method: Any, system: Any, own: tuple[bool, ...], state: Any) -> str:
    """CUDA C of many steps of every member; `UnwritableError` where it holds what has no words in C."""
    depth, (leaves, tree) = len(state.shape), jax.tree.flatten(system)
    one = [_like(x, depth if is_own else 0) for x, is_own in zip(leaves, own, strict=True)]
    with until_converged():
        return source_of_steps(
            step_of_member(method),
            jax.tree.unflatten(tree, one),
            own,
            jax.tree.map(lambda x: _like(x, depth), state),
        )


def _like(x: Any, depth: int) -> Any:
    """Of one member: a number that all members have as one without axes is one."""
    return jax.ShapeDtypeStruct(np.shape(x)[depth:], np.result_type(x))
