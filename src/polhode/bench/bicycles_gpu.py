"""Bicycle-steps a second on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.bench.base import Row, best_of
from polhode.kernel.cuda_systems import GroupKernel
from polhode.kernel.source import ENDED, TALLY
from polhode.methods import method_of
from polhode.problems import problem
from polhode.simulation.systems_on_gpu import Alike

SIZES = (1_000, 20_000, 100_000)
TARGET, _AT = 5.0, 20_000  # M bicycle-steps a second, of so many, on one H200
_SPEEDS = 20  # from 4 to 5.5 m/s, which the members have in turn


def measure(
    sizes: Sequence[int] = SIZES, steps: int = 40, repeats: int = 3, made: Callable[..., Any] = GroupKernel, **how: Any
) -> list[Row]:
    """`made` makes kernels, of sources written with `how`."""
    method = method_of("three-field", "system")
    problems = [problem("bicycle", speed=float(speed)) for speed in np.linspace(4.0, 5.5, _SPEEDS)]
    begun = [one.system.begun(one.start, 0.0) for one in problems]
    alike = Alike([system for system, _ in begun], [method.begin(*both) for both in begun])
    kernel = made(alike.source(method, **how))
    return [_row(kernel, alike, problems[0].step or 0.01, count, steps, repeats) for count in sizes]


def _row(kernel: Any, alike: Alike, h: float, count: int, steps: int, repeats: int) -> Row:
    def each(x: Any) -> Any:
        return jax.device_put(jnp.asarray(np.resize(x, (count, *x.shape[1:]))), kernel.split(0))

    shared = [each(x) if is_own else jnp.asarray(x) for x, is_own in zip(alike.numbers, alike.own, strict=True)]
    about = [jax.ShapeDtypeStruct((n, count), float, sharding=kernel.split(1)) for n in (ENDED, TALLY)]
    arrays = [*map(each, alike.starts), *about]
    numbers = (np.int64(0), np.int64(0), np.float64(0.0), np.float64(h), np.int64(steps))
    ended = kernel(numbers, [*shared, *arrays], arrays)[-2]
    here = int(np.asarray(ended)[0].sum())
    seconds = best_of(repeats, lambda: kernel(numbers, [*shared, *arrays], arrays)) / steps
    rate, judged = count / seconds / 1e6, count == _AT
    said = f"{rate:.3g} M bicycle-steps/s" + ("" if here == count else f", {count - here} failed")
    target = f"{TARGET:g} M" if judged else ""
    return Row(f"three-field, {count:,} bicycles", said, None, target, rate >= TARGET if judged else None, 1e3 / rate)
