"""One member of a batch: its step, and what it has of its own, as a kernel needs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.kernel import source_of_steps
from polhode.kernel.cuda import Kernel
from polhode.simulation.loop import step_of
from polhode.simulation.tiles import run_tiles
from polhode.solve import until_converged

_MOST = 64
_kernels: dict[str, Kernel] = {}


def step_of_member(method: Any) -> Callable[..., Any]:
    """As `source_of_steps` wants it."""

    def step(system: Any, state: Any, t: Any, h: Any) -> Any:
        new, report, good = step_of(method, system, state, t, h)
        return new, good, report.converged, report.error, report.iterations, report.renewals, report.halvings

    return step


def kernel_of_steps(method: Any, system: Any, own: tuple[bool, ...], state: Any) -> Kernel:
    """Many steps of every member as a kernel; that of another batch, if it is the same but for how many they are."""
    one = _one_of(system, own, state)
    name = run_tiles.name_of(method, own, 1, *one)
    kernel = None if name is None else _kernels.get(name)
    if kernel is None:
        kernel = Kernel(_source(method, own, *one))
        if name is not None:
            if len(_kernels) >= _MOST:
                _kernels.clear()
            _kernels[name] = kernel
    return kernel


def kernel_source(method: Any, system: Any, own: tuple[bool, ...], state: Any) -> str:
    """CUDA C of many steps of every member; `UnwritableError` where it holds what has no words in C."""
    return _source(method, own, *_one_of(system, own, state))


def _source(method: Any, own: tuple[bool, ...], system: Any, state: Any) -> str:
    with until_converged():
        return source_of_steps(step_of_member(method), system, own, state)


def _one_of(system: Any, own: tuple[bool, ...], state: Any) -> tuple[Any, Any]:
    """System and state of one member, as shapes."""
    depth, (leaves, tree) = len(state.shape), jax.tree.flatten(system)
    one = [_like(x, depth if is_own else 0) for x, is_own in zip(leaves, own, strict=True)]
    return jax.tree.unflatten(tree, one), jax.tree.map(lambda x: _like(x, depth), state)


def _like(x: Any, depth: int) -> Any:
    """Of one member: a number that all members have as one without axes is one."""
    return jax.ShapeDtypeStruct(np.shape(x)[depth:], jnp.result_type(x))
