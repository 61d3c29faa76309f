"""The source of a kernel for systems: many steps of every member of a batch, a group of lanes each, its arrays in the
fast memory that they share.

The step is the method's own, traced on the arrays of one member: there is no second copy of any method.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

import jax
import numpy as np

from polhode.kernel.array_values import Value, reads
from polhode.kernel.array_writer import ArrayWriter
from polhode.kernel.flat import Program, Var
from polhode.kernel.indices import Index, flat, places
from polhode.kernel.lanes import kind_of
from polhode.kernel.source import _HEAD, ENDED, TALLY

LANES, GROUPS = 32, 4  # of a member, and members of a block
BLOCKS = 2  # of a multiprocessor at a time, at least: more leave too few registers
NEAR = 3_000  # numbers of a member in fast memory, at most

_LANES = r"""
#define LANES %d
#define GROUPS %d
#define BLOCKS %d
#define EACH(k, n) for (int k = lane; k < n; k += LANES)
#define SD(first, at) (near + (first))[at]
#define SI(first, at) ((long long*) near + (first))[at]
#define GD(first, at) (far + (first))[at]
#define GI(first, at) ((long long*) far + (first))[at]
#define BELOW(x, n) ((x) < (n) ? (x) : (n) - 1)
#define WITHIN(x, most) ((int) ((x) < 0 ? 0 : (x) > (most) ? (most) : (x)))
#ifndef SYNC
#define MASK (LANES == 32 ? 0xffffffffu : ((1u << (LANES %% 32)) - 1) << (threadIdx.x %% 32 / LANES * LANES))
// What is worked out of a lane's number is worked out again after each SYNC: it would fill all registers.
#define KNOWN() __builtin_assume(lane >= 0 && lane < LANES)
#define SYNC() do { __syncwarp(MASK); asm volatile("" : "+r"(lane)); KNOWN(); } while (0)
#define MEET() do { __syncthreads(); asm volatile("" : "+r"(lane)); KNOWN(); } while (0)
#define PLAIN(place) asm("" : "+l"(place))  // else it is put together anew for every number
#define ANY(x) __syncthreads_or(x)  // members of a block stay together: they run the same instructions
#define OTHER(x, by) __shfl_xor_sync(MASK, x, by, LANES)
#define ONE_AT_A_TIME _Pragma("unroll 1")
#define FEW_AT_ONCE _Pragma("unroll 4")
#define UNROLLED _Pragma("unroll")
#define RESIDENT __launch_bounds__(LANES * GROUPS, BLOCKS)
#define NEAR_MEMORY extern __shared__ double near_memory[];
#endif
"""


@dataclass(frozen=True)
class Source:
    text: str
    near: int  # numbers of a member in fast memory
    far: int  # and in slow memory
    lanes: int = LANES
    groups: int = GROUPS

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @staticmethod
    def from_bytes(written: bytes) -> Source:
        return Source(**json.loads(written))


def source_of_systems(
    step: Any,
    system: Any,
    own: tuple[bool, ...],
    state: Any,
    *,
    lanes: int = LANES,
    groups: int = GROUPS,
    blocks: int = BLOCKS,
    near: int = NEAR,
    least: float = 0.0,
    meet: int = 0,
) -> Source:
    """CUDA C of `steps(...)` as `source_of_steps` has it, and at the end `far`, memory for as many members as run at a
    time. A member whose step fails stays where it was before."""
    number = jax.ShapeDtypeStruct((), np.float64)
    closed = jax.make_jaxpr(lambda *args: jax.tree.leaves(step(*args)))(system, state, number, number)
    shared, mine = jax.tree.leaves(system), jax.tree.leaves(state)
    program = Program(closed)
    out = ArrayWriter(program, lanes, meet)
    given = program.block.given
    known: dict[Var, Value] = {}
    for k, (x, is_own) in enumerate(zip(shared, own, strict=True)):
        known[given[k]] = _from_memory(f"a{k}", x, is_own)
    begun = [_from_memory(f"x{k}", x, True) for k, x in enumerate(mine)]
    out.put("NEAR_MEMORY")
    out.put("int lane = threadIdx.x % LANES;")
    out.put("const unsigned group = threadIdx.x / LANES;")
    out.put("double* const near = near_memory + group * NEAR;")
    out.put("double* far = slow + ((long long) blockIdx.x * GROUPS + group) * FAR;")
    out.put("PLAIN(far);")
    head = "for (long long at = (long long) blockIdx.x * GROUPS; at < members; at += (long long) gridDim.x * GROUPS)"
    with out.inside(head):
        out.put("const bool mine = at + group < members;  // else it repeats what the last one does")
        out.put("const long long i = mine ? at + group : members - 1;")
        ended = [_row(out, f"before ? ended[{k} * members + i] : 0.0") for k in range(ENDED)]
        tally = [_row(out, f"before ? tally[{k} * members + i] : 0.0") for k in range(TALLY)]
        here, failed, converged, error, iterations = ended
        carried = out.carried(given[len(shared) : -2], begun, [np.inf] * len(mine))
        now = [x for x, _ in carried]
        with out.inside("if (!before)"):
            out.put(f"{here} = 1.0;")
            for k, aval in enumerate(mine):
                count = max(int(np.prod(aval.shape)), 1)
                each = f"x{k}[i * {count} + k]"
                out.put(f"for (int k = 0; k < {count}; ++k) {here} *= {each} - {each} == 0;")
        out.sync()
        with out.inside(f"ONE_AT_A_TIME for (long long n = 0; n < count && ANY({here} != 0); ++n)"):
            out.put("const double t = t0 + (double) (done + before + n) * h;")
            known.update(
                zip(given[len(shared) :], [*now, *(out.scalar((), float, name) for name in "th")], strict=True)
            )
            results = out.block(program.block, known)
            new, texts = results[: len(now)], [out.read(x) for x in results[len(now) :]]
            good, solved, left, tries, renewed, halved = texts
            with out.of_some(f"if ({here} != 0 && !{good})"):
                out.put(f"{here} = 0; {failed} = before + n + 1; {converged} = {solved}; {error} = {left};")
                out.put(f"{iterations} = {tries};")
            with out.of_some(f"else if ({here} != 0)"):
                out.put(f"{tally[0]} += {tries}; {tally[2]} += {renewed}; {tally[3]} += {halved};")
                out.put(f"if ({left} > {tally[1]}) {tally[1]} = {left};")
                out.next(carried, new)
            del new, results
            out.sync()
        with out.inside("if (mine)"):
            for k, (x, aval) in enumerate(zip(now, mine, strict=True)):
                size = max(int(np.prod(aval.shape)), 1)
                text = x.at(places(Index.named("k", size), x.shape))
                out.put(f"EACH(k, {size}) y{k}[i * {size} + k] = {text};")
            with out.inside("if (lane == 0)"):
                for k, name in enumerate(ended):
                    out.put(f"new_ended[{k} * members + i] = {name};")
                for k, name in enumerate(tally):
                    out.put(f"new_tally[{k} * members + i] = {name};")
        out.sync()
    arguments = ["const long long members, const long long done, const long long before, const double t0, "
                 "const double h, const long long count"]  # fmt: skip
    arguments += [f"const {kind_of(x.dtype)}* __restrict__ a{k}" for k, x in enumerate(shared)]
    arguments += [f"const {kind_of(x.dtype)}* __restrict__ x{k}" for k, x in enumerate(mine)]
    arguments += ["const double* __restrict__ ended", "const double* __restrict__ tally"]
    arguments += [f"{kind_of(x.dtype)}* __restrict__ y{k}" for k, x in enumerate(mine)]
    arguments += ["double* __restrict__ new_ended", "double* __restrict__ new_tally", "double* __restrict__ slow"]
    where = out.memory.placed(near, least)
    near_used, far_used = -(-where.near_used // 2) * 2, where.far_used
    sizes = f"#define NEAR {near_used}\n#define FAR {far_used}"
    head = f'extern "C" __global__ void RESIDENT steps({", ".join(arguments)}) {{'
    first = _LANES % (lanes, groups, blocks)
    text = "\n".join([_HEAD, first, sizes, *out.heads(), head, *where.written(out.lines), "}", ""])
    return Source(text, near_used, far_used, lanes, groups)


def _row(out: ArrayWriter, text: str) -> str:
    name = out.name()
    out.put(f"double {name} = {text};")
    return name


def _from_memory(name: str, x: Any, own: bool) -> Value:
    """Numbers of one member, or of all."""
    size = max(int(np.prod(x.shape)), 1)
    first = f"i * {size} + " if own else ""
    return Value(x.shape, x.dtype, lambda place: reads(f"{name}[{first}{flat(place, x.shape)}]", kind_of(x.dtype)))
