"""The launch of a kernel for systems on JAX's first GPU: a group of lanes for each member, as many as fit at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode.kernel.cuda import machine_code
from polhode.kernel.system_source import Source

_AT_LEAST = 1024  # bytes of fast memory that a block takes for itself


class GroupKernel:
    """The kernel `steps` of a source. Called as `Kernel` is."""

    def __init__(self, source: Source) -> None:
        from cuda.bindings import driver
        from cuda.core import Device, LaunchConfig, ObjectCode

        self._source, self._device = source, Device(jax.devices()[0].local_hardware_id)
        self._device.set_current()
        known = self._device.properties
        major, minor = self._device.compute_capability
        self._kernel = ObjectCode.from_cubin(machine_code(source.text, f"sm_{major}{minor}")).get_kernel("steps")
        self._threads, self._near = source.lanes * source.groups, 8 * source.near * source.groups
        largest = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        (error,) = driver.cuKernelSetAttribute(largest, self._near, self._kernel.handle, self._device.device_id)
        if error != driver.CUresult.CUDA_SUCCESS:
            raise RuntimeError(f"a kernel that needs {self._near} bytes of fast memory a block: {error.name}")
        registers = -(-self._kernel.attributes.num_regs // 8) * 8 * self._threads
        blocks = min(
            known.max_shared_memory_per_multiprocessor // (self._near + _AT_LEAST),
            known.max_registers_per_multiprocessor // registers,
            known.max_threads_per_multiprocessor // self._threads,
        )
        self._blocks = max(blocks, 1) * known.multiprocessor_count
        self._stream, self._config = self._device.create_stream(), LaunchConfig

    def __call__(self, members: int, numbers: Sequence[Any], read: Sequence[Any], written: Sequence[Any]) -> list[Any]:
        """New arrays like those `written`, from the numbers and the arrays that are `read`."""
        from cuda.core import launch

        groups = self._source.groups
        blocks = min(-(-members // groups), self._blocks)
        given = [jnp.asarray(x) for x in read]
        new = [jnp.zeros(x.shape, x.dtype) for x in written]
        far = jnp.zeros(blocks * groups * self._source.far + 1)
        jax.block_until_ready((given, new, far))
        self._device.set_current()
        arrays: list[Any] = [*given, *new, far]
        places = [x.__cuda_array_interface__["data"][0] for x in arrays]
        config = self._config(grid=blocks, block=self._threads, shmem_size=self._near)
        launch(self._stream, config, self._kernel, np.int64(members), *numbers, *places)
        self._stream.sync()
        return new
