"""`OnGpu`: a batch as one kernel, made of the method's own step; states stay on the GPU from call to call."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._notices import warn_once
from polhode._programs import platform
from polhode.kernel import UnwritableError
from polhode.kernel.cuda import why_not
from polhode.kernel.source import ENDED, TALLY
from polhode.model.checks import InputError
from polhode.simulation.batch import Batch
from polhode.simulation.loop import numbers_in
from polhode.simulation.member import kernel_of_steps
from polhode.simulation.samples_on_gpu import free_memory
from polhode.simulation.tiles import Tiles


def program_of_batch(method: Any, system: Any, state: Any) -> Batch:
    """A kernel where there is a GPU; XLA's loop elsewhere, and where no kernel can be made: then it is said why."""
    if platform() == "cpu":
        return Tiles(method, system, state)
    own, why = system.own_numbers(), why_not()
    if own is None:
        why = why or "its load is of a class whose arrays may be of each member or of all"
    if why is None:
        try:
            return OnGpu(kernel_of_steps(method, system, tuple(jax.tree.leaves(own)), state), system, own, state)
        except UnwritableError as error:
            why = f"{method.name} holds {error}"
    warn_once(f"the batch runs by XLA's own loop, several times slower than a kernel would: {why}")
    return Tiles(method, system, state)


class OnGpu(Batch):
    """`kernel`: an `OverDevices`. `tallied`: of each member, in the last call."""

    tallied: Any = None

    def __init__(self, kernel: Any, system: Any, own: Any, state: Any) -> None:
        super().__init__(state)
        self._kernel, devices = kernel, len(kernel.devices)
        self._more = -self.count % devices  # copies of the last member, so that each device has as many
        self._check_room(system, own, state)
        flags = zip(jax.tree.leaves(system), jax.tree.leaves(own), strict=True)
        self._numbers = [self._split(x) if is_own else jax.device_put(x, kernel.split(None)) for x, is_own in flags]

    def _split(self, x: Any) -> Any:
        """Numbers of each member, over the devices."""
        x = self.flat(x)
        if self._more:
            x = jnp.concatenate([x, jnp.broadcast_to(x[-1:], (self._more, *x.shape[1:]))])
        return jax.device_put(jnp.asarray(x, dtype=float), self._kernel.split(0))

    def _check_room(self, system: Any, own: Any, state: Any) -> None:
        """An InputError, before anything is computed, where the GPU's memory does not hold the batch."""
        flags = zip(jax.tree.leaves(system), jax.tree.leaves(own), strict=True)
        mine = sum(math.prod(np.shape(x)[len(self.shape) :]) for x, is_own in flags if is_own)
        each = 8 * (mine + 2 * (numbers_in(state) // self.count + ENDED + TALLY))  # before and after a call
        free = free_memory()
        if free is not None and each * self.count > free:
            raise InputError(
                f"a batch of {self.count:,} members needs {each * self.count / 2**30:.3g} GiB on the GPU, which has "
                f"{free / 2**30:.3g} GiB free; at most {free // each:,} fit: run it in parts"
            )

    def run(self, state: Any, done: Any, t0: Any, h: Any, count: Any, stride: Any) -> tuple[Any, Any, Any, Any, Any]:
        now, every = [self._split(x) for x in jax.tree.leaves(state)], self.count + self._more
        lying = self._kernel.split(1)
        ended: Any
        tally: Any
        ended, tally = (jax.ShapeDtypeStruct((n, every), float, sharding=lying) for n in (ENDED, TALLY))
        rows: list[list[Any]] = [[] for _ in now]
        for j in range(int(count)):
            numbers = (np.int64(done), np.int64(j * stride), np.float64(t0), np.float64(h), np.int64(stride))
            arrays = [*now, ended, tally]
            *now, ended, tally = self._kernel(numbers, [*self._numbers, *arrays], arrays)
            for kept, x in zip(rows, now, strict=True):
                kept.append(x[: self.count] if self._more else x)
        self.tallied = tally
        end = self.shaped([kept[-1] for kept in rows], state)
        ended = ended[:, : self.count] if self._more else ended
        return end, ended, np.asarray(_most(tally)), self.shaped(_stacked(rows), state, int(count)), None

    def all_here(self, ended: Any) -> bool:
        return bool(_all_here(ended))


# Each in one program: to ask for one operation after the other takes longer than what they do.


@jax.jit
def _all_here(ended: Any) -> Any:
    return ended[0].all()


@jax.jit
def _most(tally: Any) -> Any:
    return tally.max(axis=1)


@jax.jit
def _stacked(rows: list[list[Any]]) -> list[Any]:
    return [jnp.stack(kept) for kept in rows]
