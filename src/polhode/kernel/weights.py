"""How often each number of a `Program` is read, and what is therefore kept in memory.

A number that is read once is worked out where it is read: chains of operations become one expression. Pieces that are
put together are written to their places one by one.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from polhode.kernel.flat import Block, Op, Program, Var

VIEWS = ("reshape", "transpose", "rev", "slice", "broadcast_in_dim", "dynamic_slice", "gather", "iota",
         "dynamic_update_slice", "pad")  # fmt: skip
WHOLE = ("dot_general", "reduce_sum", "reduce_max", "reduce_min", "reduce_and", "reduce_or", "reduce_prod",
         "while", "cond", "scan")  # fmt: skip
_CHEAP = ("neg", "not", "convert_element_type", "abs")
_ITERATIONS = 5  # of a loop that ends by convergence, about


def piece_of_slice(op: Op) -> tuple[int, int] | None:
    """The piece of a concatenation that a slice is cut out of, and where that begins; None where there is no one."""
    x = op.args[0]
    if not isinstance(x, Var) or x.op is None or x.op.name != "concatenate":
        return None
    axis, first = x.op.params["dimension"], 0
    for k, part in enumerate(x.op.args):
        end = first + part.shape[axis]
        if first <= op.params["start_indices"][axis] and op.params["limit_indices"][axis] <= end:
            return k, first
        first = end
    return None


class Weights:
    """`reads` of a Var, in all."""

    def __init__(self, program: Program) -> None:
        self.reads: dict[Var, float] = defaultdict(float)
        self._plain: set[Var] = set()  # read otherwise than by pieces
        self._block(program.block, 1.0)

    def _use(self, x: Any, reads: float, *, plain: bool = True) -> None:
        if isinstance(x, Var):
            self.reads[x] += reads
            if plain:
                self._plain.add(x)

    def _block(self, block: Block, times: float) -> None:
        for x in block.left:
            self._use(x, times * getattr(x, "size", 1))
        for op in reversed(block.ops):
            if any(out in self.reads for out in op.outs):
                self._op(op, times)
        block.ops = [op for op in block.ops if any(out in self.reads for out in op.outs)]

    def _op(self, op: Op, times: float) -> None:
        name, out = op.name, op.outs[0]
        size, total = out.size, self.reads[out]
        if op.blocks:
            for block in reversed(op.blocks):
                self._block(block, times * {"while": _ITERATIONS, "cond": 1}.get(name, op.params.get("length", 1)))
            for x in op.args:
                self._use(x, times * x.size)
        elif name == "concatenate":
            made = any(_is_made(x) for x in op.args)
            op.kept = out in self._plain and (made or total > 2 * size * times)
            for x in op.args:
                self._use(x, times * x.size if op.kept else total * x.size / size, plain=not op.kept)
        elif name == "dot_general":
            (sum_a, _), _ = op.params["dimension_numbers"]
            for x in op.args:
                inner = 1.0
                for axis in sum_a:
                    inner *= op.args[0].shape[axis]
                self._use(x, times * size * inner)
        elif name in WHOLE or name == "columns":
            self._use(op.args[0], times * op.args[0].size)
        elif name in VIEWS:
            op.kept = False
            bijective = name in ("reshape", "transpose")
            cut = name == "slice" and piece_of_slice(op) is not None
            for x in op.args:
                self._use(x, total, plain=not cut and not (bijective and out not in self._plain))
        else:
            op.kept = size == 1 or total > size * times * (3 if name in _CHEAP else 1)
            for x in op.args:
                self._use(x, size * times if op.kept else total)


def _is_made(x: Any) -> bool:
    """Whether reading it is more than reading."""
    while isinstance(x, Var) and x.op is not None and x.op.name in VIEWS and x.op.name != "iota":
        x = x.op.args[0]
    if not isinstance(x, Var) or x.op is None or x.op.name in WHOLE:
        return False
    return x.size > 1
