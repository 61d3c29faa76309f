"""`OnGpu`: a batch as one kernel, made of the method's own step; states stay on the GPU from call to call."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._notices import warn
from polhode.kernel import UnwritableError
from polhode.kernel.cuda import Kernel, why_not
from polhode.kernel.source import ENDED, TALLY
from polhode.simulation.batch import Batch
from polhode.simulation.member import kernel_source
from polhode.simulation.tiles import Tiles

_told: set[str] = set()


def program_of_batch(method: Any, system: Any, state: Any) -> Batch:
    """A kernel where there is a GPU; XLA's loop elsewhere, and where no kernel can be made: then it is said why."""
    if jax.default_backend() == "cpu":
        return Tiles(method, system, state)
    own, why = system.own_numbers(), why_not()
    if own is None:
        why = why or "its load is of a class whose arrays may be of each member or of all"
    if why is None:
        try:
            return OnGpu(Kernel(kernel_source(method, system, tuple(jax.tree.leaves(own)), state)), system, own, state)
        except UnwritableError as error:
            why = f"{method.name} holds {error}"
    if why not in _told:
        _told.add(why)
        warn(f"the batch runs by XLA's own loop, several times slower than a kernel would: {why}")
    return Tiles(method, system, state)


class OnGpu(Batch):
    """`kernel` is called as a `Kernel` is."""

    def __init__(self, kernel: Any, system: Any, own: Any, state: Any) -> None:
        super().__init__(state)
        self._kernel = kernel
        flags = zip(jax.tree.leaves(system), jax.tree.leaves(own), strict=True)
        self._numbers = [jnp.asarray(self.flat(x) if is_own else x) for x, is_own in flags]
        self._last: Any = (None, [])

    def run(self, state: Any, done: Any, t0: Any, h: Any, count: Any, stride: Any) -> tuple[Any, Any, Any, Any]:
        leaves = jax.tree.leaves(state)
        now = self._last[1] if state is self._last[0] else [jnp.asarray(self.flat(x), dtype=float) for x in leaves]
        ended, tally = jnp.zeros((ENDED, self.count)), jnp.zeros((TALLY, self.count))
        samples = [np.empty((int(count), *x.shape)) for x in now]
        for j in range(int(count)):
            numbers = (np.int64(done), np.int64(j * stride), np.float64(t0), np.float64(h), np.int64(stride))
            arrays = [*now, ended, tally]
            *now, ended, tally = self._kernel(self.count, numbers, [*self._numbers, *arrays], arrays)
            for whole, x in zip(samples, now, strict=True):
                whole[j] = x
        whole = self.shaped([np.asarray(x) for x in now], state)
        self._last = (whole, now)
        return whole, ended, np.asarray(tally).max(axis=1), self.shaped(samples, state, int(count))
