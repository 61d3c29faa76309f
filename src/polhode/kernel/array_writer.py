"""`ArrayWriter`: a `Program` as lines of C for several lanes that work on one member together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from polhode.kernel.array_loops import Loops
from polhode.kernel.array_values import Joined, Place, Value
from polhode.kernel.array_views import view
from polhode.kernel.flat import Block, Op, Program, Var
from polhode.kernel.indices import Index, places
from polhode.kernel.lanes import kind_of
from polhode.kernel.operations import folded, literal, one_by_one
from polhode.kernel.weights import VIEWS, Weights
from polhode.kernel.writer import _PUT_TOGETHER, UnwritableError

_FEW = 4  # numbers that are put together by every lane alike
_MANY = 32  # terms that are written out, for numbers of which every lane has one


class ArrayWriter(Loops):
    def __init__(self, program: Program, lanes: int, meet: int = 0) -> None:
        super().__init__(lanes, meet)
        self.weights = Weights(program)

    def block(self, block: Block, known: dict[Var, Value]) -> list[Value]:
        """What it leaves."""
        here = dict(known)
        last: dict[Var, int] = {}
        for i, op in enumerate(block.ops):
            for x in _read_by(op):
                last[x] = i
        stays = {x for x in block.left if isinstance(x, Var)}
        for i, op in enumerate(block.ops):
            for out, value in zip(op.outs, self._op(op, here), strict=True):
                here[out] = value
            for x in [x for x in {*_read_by(op), *op.outs} if last.get(x, i) == i and x not in stays]:
                here.pop(x, None)
        return [self._of(x, here) for x in block.left]

    def _of(self, x: Any, here: dict[Var, Value]) -> Value:
        return self.constant(x) if isinstance(x, np.ndarray) else here[x]

    def _op(self, op: Op, here: dict[Var, Value]) -> Sequence[Value]:
        args = [self._of(x, here) for x in op.args]
        if op.blocks:
            return getattr(self, f"_{op.name}")(op, args, here)
        out = op.outs[0]
        read = self.weights.reads[out]
        if op.name in _PUT_TOGETHER:
            return [self._reduced(_PUT_TOGETHER[op.name], args[0], op.params["axes"], out, read)]
        if op.name == "dot_general":
            return [self._product(args[0], args[1], op.params["dimension_numbers"], out, read)]
        if op.name == "columns":
            to = self.buffer(out.shape, out.dtype, read, columns=True)
            self.store(args[0], to)
            return [to]
        if op.name == "iota":
            axis = op.params["dimension"]
            return [Value(out.shape, out.dtype, lambda place: f"({kind_of(out.dtype)}) ({place[axis]})")]
        if op.name == "concatenate":
            value: Value = Joined(out.shape, args, op.params["dimension"])
        elif op.name in VIEWS:
            value = view(op.name, op.params, args, out.shape)
        else:
            value = self._each(op, args, out)
        return [self.kept(value, read) if op.kept else value]

    def _each(self, op: Op, args: Sequence[Value], out: Var) -> Value:
        kinds = [x.dtype for x in args]
        made = one_by_one(op.name, op.params, kinds, out.dtype)
        if made is None:
            raise UnwritableError(f"the operation {op.name!r}")

        def at(place: Place) -> str:
            texts = tuple(x.at(_stretched(place, x.shape)) for x in args)
            known = folded(op.name, texts) if kinds[0].kind == "f" else None
            return f"({made(*texts)})" if known is None else known

        return Value(out.shape, out.dtype, at)

    def _reduced(self, name: str, x: Value, axes: Sequence[int], out: Var, read: float) -> Value:
        rest = [k for k in range(len(x.shape)) if k not in axes]
        lengths = [x.shape[k] for k in axes]

        def term(place: Place, inner: Index) -> str:
            found = [Index()] * len(x.shape)
            for k, index in zip((*rest, *axes), (*place, *places(inner, lengths)), strict=True):
                found[k] = index
            return x.at(found)

        return self._summed(name, term, math.prod(lengths), out, read)

    def _product(self, a: Value, b: Value, numbers: Any, out: Var, read: float) -> Value:
        (sum_a, sum_b), (with_a, with_b) = numbers
        free_a = [k for k in range(len(a.shape)) if k not in (*sum_a, *with_a)]
        free_b = [k for k in range(len(b.shape)) if k not in (*sum_b, *with_b)]
        lengths = [a.shape[k] for k in sum_a]
        both, split = len(with_a), len(with_a) + len(free_a)

        def term(place: Place, inner: Index) -> str:
            at_a, at_b, run = [Index()] * len(a.shape), [Index()] * len(b.shape), places(inner, lengths)
            for k, index in zip((*with_a, *free_a, *sum_a), (*place[:split], *run), strict=True):
                at_a[k] = index
            for k, index in zip((*with_b, *free_b, *sum_b), (*place[:both], *place[split:], *run), strict=True):
                at_b[k] = index
            return f"{a.at(at_a)} * {b.at(at_b)}"

        return self._summed("add", term, math.prod(lengths), out, read)

    def _summed(self, name: str, term: Callable[[Place, Index], str], count: int, out: Var, read: float) -> Value:
        """Terms put together: few by one expression, of one number by all lanes together, else by a lane for each."""
        kind = kind_of(out.dtype)
        made = one_by_one(name, {}, [out.dtype, out.dtype], out.dtype)
        assert made is not None
        if not count or not out.size:
            return Value(out.shape, out.dtype, lambda place: _begins(name, out.dtype))
        if count <= (_FEW if out.size == 1 else _MANY if out.size <= self.lanes else 2 * _FEW):

            def few(place: Place) -> str:
                text = f"({term(place, Index(0))})"
                for j in range(1, count):
                    text = f"({made(text, f'({term(place, Index(j))})')})"
                return text

            return self.kept(Value(out.shape, out.dtype, few), read)
        begin, self_read = _begins(name, out.dtype), self._read
        if out.size == 1:
            self_read.clear()
            text = term([Index()] * len(out.shape), Index.named("k", count))
            self.ready()
            total = self.name()
            self.put(f"{kind} {total} = {begin};")
            with self.inside(f"EACH(k, {count})"):
                self.put(f"const {kind} x = {text};")
                self.put(f"{total} = {made(total, 'x')};")
            with self.inside("for (int o = LANES / 2; o; o /= 2)"):
                self.put(f"const {kind} x = OTHER({total}, o);")
                self.put(f"{total} = {made(total, 'x')};")
            return self.scalar(out.shape, out.dtype, total)
        to = self.buffer(out.shape, out.dtype, read)
        one_each = out.size <= self.lanes
        place = places(self._one_each(out.size) if one_each else Index.named("k", out.size), out.shape)
        self_read.clear()
        text = term(place, Index.named("j", count))
        self.ready()
        total = self.name()

        def add_up() -> None:
            self._line(f"{kind} {total} = {begin};")
            self._line(f"FEW_AT_ONCE for (int j = 0; j < {count}; ++j) {{")
            self._line(f"  const {kind} x = {text};")
            self._line(f"  {total} = {made(total, 'x')};")
            self._line("}")

        if one_each:
            add_up()
            self._store_later(out.size, to.place(place), total)
        else:
            with self.inside(f"EACH(k, {out.size})"):
                add_up()
                self.put(f"{to.place(place)} = {total};")
        self._written.add(id(to))
        return to


def _stretched(place: Place, shape: Sequence[int]) -> Place:
    """In an array that is the same along some axes."""
    return [Index() if n == 1 else index for index, n in zip(place, shape, strict=True)] if shape else ()


def _read_by(op: Op) -> Iterator[Var]:
    for x in op.args:
        if isinstance(x, Var):
            yield x
    for block in op.blocks:
        for inner in block.ops:
            yield from _read_by(inner)
        yield from (x for x in block.left if isinstance(x, Var))


def _begins(name: str, dtype: np.dtype) -> str:
    """What changes nothing."""
    whole: dict[str, Any] = {"add": 0, "mul": 1, "and": True, "or": False}
    if name in whole:
        return literal(whole[name], dtype)
    if dtype.kind != "f":
        raise UnwritableError(f"the largest or smallest of {dtype.name}")
    return literal(-math.inf if name == "max" else math.inf, dtype)
