"""A kernel's source compiled by g++, its threads run one after the other: the arithmetic of a GPU's program, anywhere."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from polhode.kernel.source import ENDED, TALLY, THREADS

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
    whole = f'{_SHIM}{source}\nextern "C" void all({found[1]}) {{ {every} steps({names}); }} }}\n'
    text, library = folder / "steps.cpp", folder / "steps.so"
    text.write_text(whole.replace("__restrict__", ""), encoding="utf-8")
    subprocess.run(
        [str(COMPILER), "-O1", "-ffp-contract=off", "-w", "-shared", "-fPIC", str(text), "-o", str(library)], check=True
    )
    return ctypes.CDLL(str(library)).all


def run(
    call: Any, members: int, done: int, t0: float, h: float, cuts: tuple[int, ...], system: list[Any], state: list[Any]
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """So many steps, in one launch after the other: the new state, how members ended, their tallies."""
    pointer = lambda x: x.ctypes.data_as(ctypes.c_void_p)  # noqa: E731
    numbers = [np.ascontiguousarray(x) for x in system]
    now = [np.ascontiguousarray(x, dtype=float) for x in state]
    ended, tally, before = np.zeros((ENDED, members)), np.zeros((TALLY, members)), 0
    whole, real = ctypes.c_longlong, ctypes.c_double
    for count in cuts:
        new, new_ended, new_tally = [np.empty_like(x) for x in now], np.empty_like(ended), np.empty_like(tally)
        arrays = map(pointer, (*numbers, *now, ended, tally, *new, new_ended, new_tally))
        call(whole(members), whole(done), whole(before), real(t0), real(h), whole(count), *arrays)
        now, ended, tally, before = new, new_ended, new_tally, before + count
    return now, ended, tally
