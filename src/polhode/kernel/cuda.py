"""A kernel's source as machine code of an NVIDIA GPU, and its launch.

By NVIDIA's own `cuda.core`, on the memory of JAX's arrays: a public interface, and no program of ours to build.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import jax
import numpy as np

from polhode._programs import platform
from polhode._programs.kept_bytes import kept_bytes
from polhode.kernel.devices import OverDevices
from polhode.kernel.source import THREADS

config: Any = jax.config


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

    def made() -> bytes:
        return bytes(Program(source, "c++", ProgramOptions(arch=arch, std="c++17")).compile("cubin").code)

    return kept_bytes("steps", f"{_compiler()} {arch} {source}", made)


@cache
def _compiler() -> str:
    """Which NVRTC it is."""
    from cuda.bindings import nvrtc

    return str(nvrtc.nvrtcVersion()[1:])


class Kernel(OverDevices):
    """The kernel of this name in a source, on all of JAX's GPUs that this process may use."""

    def __init__(self, source: str, name: str = "steps") -> None:
        from cuda.core import Device, LaunchConfig, ObjectCode

        super().__init__(_gpus())
        self._at: list[tuple[Any, Any, Any]] = []
        for gpu in self.devices:
            device = Device(gpu.local_hardware_id)
            device.set_current()
            major, minor = device.compute_capability
            kernel = ObjectCode.from_cubin(machine_code(source, f"sm_{major}{minor}")).get_kernel(name)
            self._at.append((device, device.create_stream(), kernel))
        self._config = LaunchConfig

    def launch(self, device: int, members: int, numbers: Sequence[Any], places: Sequence[int]) -> None:
        from cuda.core import launch

        place, stream, kernel = self._at[device]
        place.set_current()
        config = self._config(grid=-(-members // THREADS), block=THREADS)
        launch(stream, config, kernel, np.int64(members), *numbers, *places)

    def wait(self) -> None:
        for device, stream, _ in self._at:
            device.set_current()
            stream.sync()


def _gpus() -> list[Any]:
    """All of them, unless one was chosen."""
    chosen = config.jax_default_device
    return jax.local_devices() if chosen is None else [jax.devices(chosen)[0] if isinstance(chosen, str) else chosen]
