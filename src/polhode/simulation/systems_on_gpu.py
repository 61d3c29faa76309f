"""`Alike`: systems of one structure, each with numbers and a start of its own, as one kernel moves them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from polhode._programs.kept_bytes import kept_bytes
from polhode.kernel.cuda_systems import GroupKernel
from polhode.kernel.system_source import Source, source_of_systems
from polhode.model.checks import InputError
from polhode.simulation.loop import Block, run_block
from polhode.simulation.lost import without
from polhode.simulation.member import step_of_member
from polhode.simulation.on_gpu import OnGpu
from polhode.simulation.rungs import Rungs
from polhode.simulation.tiles import capacity_of
from polhode.solve import until_converged

_MOST = 16
_kernels: dict[Any, Any] = {}


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Together:
    """States of several members, in front of the axes of each array."""

    state: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the batch, where there are no samples in front."""
        return jax.tree.leaves(self.state)[0].shape[:1]


class Alike:
    """`systems` and `states`, one of each for every member, prepared by `begun` and by the method's `begin`."""

    def __init__(self, systems: Sequence[Any], states: Sequence[Any]) -> None:
        self._system, self._state = systems[0], states[0]
        distinct = list({id(system): system for system in systems}.values())
        numbers = [[np.asarray(x) for x in jax.tree.leaves(system)] for system in distinct]
        kinds = [
            (jax.tree.structure(system), *((x.shape, x.dtype) for x in its))
            for system, its in zip(distinct, numbers, strict=True)
        ]
        if odd := [k for k, kind in enumerate(kinds) if kind != kinds[0]]:
            member = next(k for k, system in enumerate(systems) if system is distinct[odd[0]])
            raise InputError(f"systems that move together have all but their numbers alike; member {member} does not")
        stacked = [np.stack(column) for column in zip(*numbers, strict=True)]
        self.own = tuple(bool((x != x[:1]).any()) for x in stacked)
        if any(is_own and x.dtype.kind != "f" for is_own, x in zip(self.own, stacked, strict=True)):
            raise InputError("systems that move together have all but their numbers alike; indices in these differ")
        places = {id(system): k for k, system in enumerate(distinct)}
        which = [places[id(system)] for system in systems]
        self.numbers = [x[which] if is_own else x[0] for x, is_own in zip(stacked, self.own, strict=True)]
        self.starts = [np.stack(x) for x in zip(*map(jax.tree.leaves, states), strict=True)]

    @property
    def start(self) -> Together:
        """States of all members."""
        return Together(jax.tree.unflatten(jax.tree.structure(self._state), self.starts))

    @property
    def system(self) -> Any:
        """With an axis of members in front of numbers that are their own."""
        return jax.tree.unflatten(jax.tree.structure(self._system), self.numbers)

    def source(self, method: Any, **how: Any) -> Source:
        """Of a kernel that takes the steps of a method's first rung. Where one of its steps fails a member stays where
        it was, for the next rung. `UnwritableError` where it holds what has no words in C."""
        with until_converged(), jax.default_device(jax.local_devices(backend="cpu")[0]):  # it works constants out
            return source_of_systems(
                step_of_member(method.rungs[0]),
                jax.tree.map(_like, self._system),
                self.own,
                jax.tree.map(_like, self._state),
                **how,
            )

    def kernel(self, method: Any, made: Callable[[Source], Any] = GroupKernel, **how: Any) -> Any:
        """`made` of that source; the one that there is, if it is the same."""
        like = (self._system, self._state, np.int64(0), np.float64(0.0), np.float64(0.0), np.int64(1), np.int64(1))
        name = run_block.name_of(method.rungs[0], *like)
        if name is None:
            return made(self.source(method, **how))
        key = (name, self.own, made, *how.items())
        if key not in _kernels:
            while len(_kernels) >= _MOST:  # each has memory on the GPU
                _kernels.pop(next(iter(_kernels)))
            written = kept_bytes("source", f"{name} {self.own} {how}", lambda: self.source(method, **how).to_bytes())
            _kernels[key] = made(Source.from_bytes(written))
        return _kernels[key]


class SystemsOnGpu(OnGpu):
    """Members whose step was not solved are lost to the kernel, and nothing else: where they stand is in `stayed`, by
    their number. `tally` is of each member, in all."""

    def __init__(self, kernel: Any, alike: Alike) -> None:
        super().__init__(kernel, alike.numbers, list(alike.own), alike.start)
        self.stayed: dict[int, Any] = {}
        self.capacity = capacity_of(alike.start)
        self.tally = np.zeros((4, self.count))

    def __call__(self, *args: Any) -> Block:
        block = super().__call__(*args)
        new = np.asarray(self.tallied)[:, : self.count]
        self.tally = np.stack([self.tally[0] + new[0], np.fmax(self.tally[1], new[1]), *(self.tally[2:] + new[2:])])
        if block.failed is None:
            return block
        failed = np.flatnonzero(np.asarray(block.failed) >= 0)
        self.tally[0, failed] += np.asarray(block.report.iterations)[failed]
        if len(failed):
            states = jax.tree.map(np.asarray, block.state.state)
            self.stayed |= {int(k): jax.tree.map(lambda x, k=k: x[k].copy(), states) for k in failed}
        gone = np.isin(np.arange(self.count), list(self.stayed))
        return replace(block, state=without(block.state, gone))


class ByKernel(Rungs):
    """The first rung of a method for all members together; there is no other."""

    def __init__(self, program: SystemsOnGpu) -> None:
        self._rungs, self._briefly = (None,), 0
        self._programs = {(0, False): program}
        self._rung, self._until = 0, 0
        self.capacity = program.capacity


def _like(x: Any) -> Any:
    return jax.ShapeDtypeStruct(np.shape(x), np.result_type(x))
