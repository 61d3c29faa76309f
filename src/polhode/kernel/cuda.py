"""A kernel's source as machine code of an NVIDIA GPU, and its launch.

By NVIDIA's own `cuda.core`, on the memory of JAX's arrays: a public interface, and no program of ours to build. What a
launch writes to are new arrays that nobody has read yet.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from polhode._programs import platform
from polhode._programs.files import read_bytes, write_bytes
from polhode._programs.folder import bounded, traced_folder
from polhode.kernel.source import THREADS


def why_not() -> str | None:
    """Why no kernel can be run here; None where one can."""
    if platform() != "gpu":
        return "there is no GPU that JAX sees"
    if "cuda" not in jax.devices()[0].client.platform_version.lower():
        return "the GPU is not one of NVIDIA's"
    try:
        import cuda.core  # noqa: F401
    except ImportError:
        return "cuda.core is not installed: pip install 'polhode[gpu]'"
    return None


def machine_code(source: str, arch: str) -> bytes:
    """Compiled by NVRTC, for which no GPU is needed, and kept on disk."""
    from cuda.core import Program, ProgramOptions

    folder = traced_folder()
    name = hashlib.sha256(f"{_compiler()} {arch} {source}".encode()).hexdigest()[:40]
    path = None if folder is None else folder / f"steps-{name}"
    found = None if path is None else read_bytes(path)
    if found is None:
        found = bytes(Program(source, "c++", ProgramOptions(arch=arch, std="c++17")).compile("cubin").code)
        if path is not None:
            write_bytes(path, found)
            bounded()
    return found


@cache
def _compiler() -> str:
    """Which NVRTC it is."""
    from cuda.bindings import nvrtc

    return str(nvrtc.nvrtcVersion()[1:])


class Kernel:
    """The kernel `steps` of a source, on JAX's first GPU."""

    def __init__(self, source: str) -> None:
        from cuda.core import Device, LaunchConfig, ObjectCode

        self._device = Device(jax.devices()[0].local_hardware_id)
        self._device.set_current()
        major, minor = self._device.compute_capability
        self._kernel = ObjectCode.from_cubin(machine_code(source, f"sm_{major}{minor}")).get_kernel("steps")
        self._stream, self._config = self._device.create_stream(), LaunchConfig

    def __call__(self, members: int, numbers: Sequence[Any], read: Sequence[Any], written: Sequence[Any]) -> list[Any]:
        """New arrays like those `written`, from the numbers and the arrays that are `read`."""
        from cuda.core import launch

        given = [jnp.asarray(x) for x in read]
        new = [jnp.zeros(x.shape, x.dtype) for x in written]
        jax.block_until_ready((given, new))
        self._device.set_current()
        config = self._config(grid=-(-members // THREADS), block=THREADS)
        arrays: list[Any] = [*given, *new]
        places = [x.__cuda_array_interface__["data"][0] for x in arrays]
        launch(self._stream, config, self._kernel, np.int64(members), *numbers, *places)
        self._stream.sync()
        return new
