"""The launch of a kernel for systems: a group of lanes for each member, so many members as fit at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.kernel.cuda import Kernel
from polhode.kernel.system_source import Source

_ASIDE = 1024  # bytes of fast memory that a block takes for itself


class GroupKernel(Kernel):
    """The kernel `steps` of a source, on all of JAX's GPUs that this process may use."""

    def __init__(self, source: Source) -> None:
        super().__init__(source.text)
        self._source, self._threads = source, source.lanes * source.groups
        self._near = 8 * source.near * source.groups
        self._blocks = [self._fit(device, kernel) for device, _, kernel in self._at]
        self._far = [
            jax.device_put(jnp.zeros(blocks * source.groups * source.far + 1), gpu)
            for blocks, gpu in zip(self._blocks, self.devices, strict=True)
        ]
        jax.block_until_ready(self._far)

    def _fit(self, device: Any, kernel: Any) -> int:
        """Blocks that run at a time."""
        from cuda.bindings import driver

        largest = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        place = driver.CUdevice(device.device_id)
        (error,) = driver.cuKernelSetAttribute(largest, self._near, kernel.handle, place)
        if error != driver.CUresult.CUDA_SUCCESS:
            raise RuntimeError(f"a kernel that needs {self._near} bytes of fast memory a block: {error.name}")
        known, registers = device.properties, -(-kernel.attributes.num_regs // 8) * 8
        each = min(
            known.max_shared_memory_per_multiprocessor // (self._near + _ASIDE),
            known.max_registers_per_multiprocessor // (registers * self._threads),
            known.max_threads_per_multiprocessor // self._threads,
        )
        return int(max(each, 1) * known.multiprocessor_count)

    def launch(self, device: int, members: int, numbers: Sequence[Any], places: Sequence[int]) -> None:
        from cuda.core import launch

        place, stream, kernel = self._at[device]
        place.set_current()
        blocks = min(-(-members // self._source.groups), self._blocks[device])
        config = self._config(grid=blocks, block=self._threads, shmem_size=self._near)
        far: Any = self._far[device]
        launch(stream, config, kernel, np.int64(members), *numbers, *places, far.unsafe_buffer_pointer())
