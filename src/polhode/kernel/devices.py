"""`OverDevices`: a kernel over a batch, each device moving members of its own.

Arrays are JAX's, split over the devices where there are several. What a launch writes to are new ones that nobody has
read yet.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding


class OverDevices(ABC):
    """Derived classes launch it on one of their `devices`."""

    def __init__(self, devices: Sequence[Any]) -> None:
        self.devices = tuple(devices)

    @abstractmethod
    def launch(self, device: int, members: int, numbers: Sequence[Any], places: Sequence[int]) -> None:
        """Begins to move so many members, with these numbers and arrays at these places in memory."""

    @abstractmethod
    def wait(self) -> None:
        """Until all launches are done."""

    def split(self, axis: int | None) -> Any:
        """How an array lies: split along an axis, that of the members; or whole on every device."""
        if len(self.devices) == 1:
            return SingleDeviceSharding(self.devices[0])
        names = () if axis is None else (None,) * axis + ("members",)
        return NamedSharding(Mesh(np.array(self.devices), ("members",)), PartitionSpec(*names))

    def __call__(self, numbers: Sequence[Any], read: Sequence[Any], written: Sequence[Any]) -> list[Any]:
        """New arrays like those `written`, which lie as these do, from the numbers and the arrays that are `read`; in
        place of one that is not, its shape."""
        new = _empty(tuple((x.shape, x.dtype, x.sharding) for x in written))
        jax.block_until_ready((read, new))
        for k, device in enumerate(self.devices):
            places = [_place(device, x) for x in (*read, *new)]
            self.launch(k, new[-1].shape[-1] // len(self.devices), numbers, places)
        self.wait()
        return list(new)


def _place(device: Any, x: Any) -> int:
    """In its memory."""
    if isinstance(x, jax.ShapeDtypeStruct):
        return 0
    return next(shard.data for shard in x.addressable_shards if shard.device == device).unsafe_buffer_pointer()


def _empty(kinds: tuple[Any, ...]) -> Any:
    """Made by one program: to ask for each by itself takes longer than to fill it."""
    return _maker(kinds)()


@cache
def _maker(kinds: tuple[Any, ...]) -> Any:
    def made() -> Any:
        return tuple(jnp.zeros(shape, dtype) for shape, dtype, _ in kinds)

    return jax.jit(made, out_shardings=tuple(sharding for *_, sharding in kinds))
