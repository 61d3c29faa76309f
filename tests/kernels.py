"""A kernel's source compiled by g++, its threads run one after the other: the arithmetic of a GPU, anywhere."""

from __future__ import annotations

import ctypes
import hashlib
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from polhode.kernel.devices import OverDevices
from polhode.kernel.source import THREADS

COMPILER = shutil.which("g++")
_SHIM = r"""
#include <cmath>
#include <cstring>
using namespace std;
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(n, m)
struct Place { long long x; };
static Place blockIdx, threadIdx;
static inline double __longlong_as_double(long long b) { double x; memcpy(&x, &b, 8); return x; }
static inline long long __double_as_longlong(double x) { long long b; memcpy(&b, &x, 8); return b; }
"""


def compiled(source: str, folder: Path) -> Any:
    """The kernel as a function that is called with all its arguments."""
    found = re.search(r"steps\((.*)\) \{", source)
    assert found is not None
    names = ", ".join(argument.split()[-1] for argument in found[1].split(", "))
    every = f"for (long long i = 0; i < members; ++i) {{ blockIdx.x = i / {THREADS}; threadIdx.x = i % {THREADS};"
    return _built(f'{_SHIM}{source}\nextern "C" void all({found[1]}) {{ {every} steps({names}); }} }}\n', folder)


def _built(whole: str, folder: Path) -> Any:
    name = hashlib.sha256(whole.encode()).hexdigest()[:16]  # what is loaded must not be written again
    text, library = folder / f"{name}.cpp", folder / f"{name}.so"
    if library.exists():
        return ctypes.CDLL(str(library)).all
    text.write_text(whole.replace("__restrict__", ""), encoding="utf-8")
    options = ["-O1", "-ffp-contract=off", "-fno-strict-aliasing", "-w", "-shared", "-fPIC"]
    subprocess.run([str(COMPILER), *options, str(text), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library)).all


class OnCpu(OverDevices):
    """As `polhode.kernel.cuda.Kernel`, on all of JAX's devices here."""

    def __init__(self, source: str, folder: Path) -> None:
        super().__init__(jax.devices())
        self._call = compiled(source, folder)

    def launch(self, device: int, members: int, numbers: Sequence[Any], places: Sequence[int]) -> None:
        kinds = [ctypes.c_double if isinstance(x, np.floating) else ctypes.c_longlong for x in numbers]
        values = [kind(x.item()) for kind, x in zip(kinds, numbers, strict=True)]
        self._call(ctypes.c_longlong(members), *values, *map(ctypes.c_void_p, places))

    def wait(self) -> None:
        pass


_ONE_LANE = r"""
static Place gridDim;
#define SYNC()
#define MEET()
#define PLAIN(place)
#define ANY(x) (x)
#define OTHER(x, by) x
#define ONE_AT_A_TIME
#define FEW_AT_ONCE
#define RESIDENT
static double near_memory[1 << 17];
#define NEAR_MEMORY
"""


class LaneOnCpu(OnCpu):
    """A kernel for systems, written for one lane and one member of a block."""

    def __init__(self, source: Any, folder: Path) -> None:
        OverDevices.__init__(self, jax.devices())
        assert source.lanes == source.groups == 1
        found = re.search(r"RESIDENT steps\((.*)\) \{", source.text)
        assert found is not None
        names = ", ".join(argument.split()[-1] for argument in found[1].split(", "))
        every = "gridDim.x = 1; blockIdx.x = threadIdx.x = 0;"
        call = f'extern "C" void all({found[1]}) {{ {every} steps({names}); }}'
        self._far = np.empty(source.far + 1)
        self._call = _built(f"{_SHIM}{_ONE_LANE}{source.text}\n{call}\n", folder)

    def launch(self, device: int, members: int, numbers: Sequence[Any], places: Sequence[int]) -> None:
        super().launch(device, members, numbers, [*places, self._far.ctypes.data])
