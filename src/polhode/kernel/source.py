"""The source of a kernel: many steps of every member of a batch, one thread each, its numbers in registers.

The step is the method's own, traced on the numbers of one member: there is no second copy of any method.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from polhode.kernel.operations import TYPES
from polhode.kernel.writer import UnwritableError, Writer

__all__ = ["THREADS", "UnwritableError", "source_of_steps"]

THREADS = 128  # of a block
BLOCKS = 3  # at a time, at least: fewer leave a multiprocessor waiting, more leave too few registers for one member
ENDED, TALLY = 5, 4  # rows of numbers about each member, as `simulation.loop` has them packed

_TALLIED = (np.int64, np.float64, np.int64, np.int64)  # counts are whole numbers while they grow

_H = np.array("h", object)
_HEAD = r"""
#define NOT_A_NUMBER __longlong_as_double(0x7ff8000000000000LL)
#define INFINITE __longlong_as_double(0x7ff0000000000000LL)

__device__ __forceinline__ double rounded_to(double x, int dropped) {  // bits less, to even
  long long b = __double_as_longlong(x);
  b = (b + ((1LL << (dropped - 1)) - 1) + ((b >> dropped) & 1)) & ~((1LL << dropped) - 1);
  return __longlong_as_double(b);
}
"""


def source_of_steps(step: Any, system: Any, own: tuple[bool, ...], state: Any) -> str:
    """CUDA C of `steps(members, done, before, t0, h, count, numbers of the system..., state..., ended, tally, new
    state..., new ended, new tally)`.

    step    (system, state, t, h) -> new state, whether it is good, converged, error, iterations, renewals, halvings,
            for one member
    system, state  of one member, as shapes; `own` says which numbers of the system every member has its own of, the
            others are read by all
    before  steps of this call that were taken already: 0 begins the tally
    """
    number = jax.ShapeDtypeStruct((), np.float64)
    closed = jax.make_jaxpr(lambda *args: jax.tree.leaves(step(*args)))(system, state, number, number)
    shared, mine = jax.tree.leaves(system), jax.tree.leaves(state)
    out = Writer()
    out.put(f"const long long i = (long long) blockIdx.x * {THREADS} + threadIdx.x;")
    out.put("if (i >= members) return;")
    numbers = [_read(out, f"a{k}", x, is_own) for k, (x, is_own) in enumerate(zip(shared, own, strict=True))]
    now = [_read(out, f"x{k}", x, True, fixed=False) for k, x in enumerate(mine)]
    ended = [out.named(float, f"before ? ended[{k} * members + i] : 0.0", fixed=False) for k in range(ENDED)]
    tally = [out.named(float, f"before ? tally[{k} * members + i] : 0.0", fixed=False) for k in range(TALLY)]
    here, failed, converged, error, iterations = ended
    taken, worst, whole, parts = (out.named(kind, x, fixed=False) for kind, x in zip(_TALLIED, tally, strict=True))
    summed = " + ".join(name for x in now for name in x.ravel())
    out.put(f"if (!before) {here} = {summed} - ({summed}) == 0;")
    with out.inside(f"for (long long n = 0; n < count && {here} != 0; ++n)"):
        t = np.array(out.named(float, "t0 + (double) (done + before + n) * h"), object)
        *new, good, solved, left, tries, renewed, halved = out.closed(closed, [*numbers, *now, t, _H])
        good, solved, left, tries, renewed, halved = (x[()] for x in (good, solved, left, tries, renewed, halved))
        with out.inside(f"if (!{good})"):
            out.put(f"{here} = 0; {failed} = before + n + 1; {converged} = {solved}; {error} = {left};")
            out.put(f"{iterations} = {tries};")
            out.put("break;")
        out.put(f"{taken} += {tries}; {whole} += {renewed}; {parts} += {halved};")
        out.put(f"if ({left} > {worst}) {worst} = {left};")
        out.assign(now, new)
    for k, x in enumerate(now):
        size = max(x.size, 1)
        for j, name in enumerate(x.ravel()):
            out.put(f"y{k}[i * {size} + {j}] = {here} != 0 ? {name} : NOT_A_NUMBER;")
    for k, name in enumerate(ended):
        out.put(f"new_ended[{k} * members + i] = {name};")
    for k, name in enumerate((taken, worst, whole, parts)):
        out.put(f"new_tally[{k} * members + i] = {name};")
    arguments = ["const long long members, const long long done, const long long before, const double t0, "
                 "const double h, const long long count"]  # fmt: skip
    arguments += [f"const {_kind(x)}* __restrict__ a{k}" for k, x in enumerate(shared)]
    arguments += [f"const {_kind(x)}* __restrict__ x{k}" for k, x in enumerate(mine)]
    arguments += ["const double* __restrict__ ended", "const double* __restrict__ tally"]
    arguments += [f"{_kind(x)}* __restrict__ y{k}" for k, x in enumerate(mine)]
    arguments += ["double* __restrict__ new_ended", "double* __restrict__ new_tally"]
    head = f'extern "C" __global__ void __launch_bounds__({THREADS}, {BLOCKS}) steps({", ".join(arguments)}) {{'
    return "\n".join([_HEAD, head, *out.lines, "}", ""])


def _kind(x: Any) -> str:
    kind = np.dtype(x.dtype).name
    if kind not in TYPES:
        raise UnwritableError(f"numbers of type {kind}")
    return TYPES[kind]


def _read(out: Writer, name: str, x: Any, own: bool, *, fixed: bool = True) -> np.ndarray:
    """Numbers of one member, or of all, from memory."""
    texts, size = np.empty(x.shape, object), max(int(np.prod(x.shape)), 1)
    for j, at in enumerate(np.ndindex(x.shape)):
        texts[at] = out.named(x.dtype, f"{name}[{f'i * {size} + ' if own else ''}{j}]", fixed=fixed)
    return texts
