"""A kernel's source compiled by g++, its threads run one after the other: the arithmetic of a GPU, anywhere."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from polhode.kernel.source import THREADS

COMPILER = shutil.which("g++")
_SHIM = r"""
#include <cmath>
#include <cstring>
using namespace std;
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(n)
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
    text, library = folder / "steps.cpp", folder / "steps.so"
    text.write_text(whole.replace("__restrict__", ""), encoding="utf-8")
    options = ["-O1", "-ffp-contract=off", "-fno-strict-aliasing", "-w", "-shared", "-fPIC"]
    subprocess.run([str(COMPILER), *options, str(text), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library)).all


class OnCpu:
    """Called as `polhode.kernel.cuda.Kernel` is."""

    def __init__(self, source: str, folder: Path) -> None:
        self._call = compiled(source, folder)

    def __call__(self, members: int, numbers: Sequence[Any], read: Sequence[Any], written: Sequence[Any]) -> list[Any]:
        given = [np.ascontiguousarray(x) for x in read]
        new = [np.full(x.shape, np.nan) for x in written]
        kinds = [ctypes.c_double if isinstance(x, np.floating) else ctypes.c_longlong for x in numbers]
        values = [kind(x.item()) for kind, x in zip(kinds, numbers, strict=True)]
        places = [x.ctypes.data_as(ctypes.c_void_p) for x in (*given, *new)]
        self._call(ctypes.c_longlong(members), *values, *places)
        return new


_ONE_LANE = r"""
static Place gridDim;
#define SYNC()
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
        assert source.lanes == source.groups == 1
        found = re.search(r"RESIDENT steps\((.*)\) \{", source.text)
        assert found is not None
        names = ", ".join(argument.split()[-1] for argument in found[1].split(", "))
        every = "gridDim.x = 1; blockIdx.x = threadIdx.x = 0;"
        call = f'extern "C" void all({found[1]}) {{ {every} steps({names}); }}'
        self._far = source.far
        self._call = _built(f"{_SHIM}{_ONE_LANE}{source.text}\n{call}\n", folder)

    def __call__(self, members: int, numbers: Sequence[Any], read: Sequence[Any], written: Sequence[Any]) -> list[Any]:
        return super().__call__(members, numbers, read, [*written, np.empty(self._far + 1)])[:-1]
