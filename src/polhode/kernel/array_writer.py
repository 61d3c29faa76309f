"""`ArrayWriter`: a `Program` as lines of C for several lanes that work on one member together.

Every number of an array is made by one lane, `EACH(k, n)`; numbers by themselves are made by all lanes alike. Where lanes
read what others have written there is a `SYNC()` between.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from polhode.kernel.array_values import Constant, Joined, Place, Rearranged, Value, reads, view
from polhode.kernel.flat import Block, Op, Program, Var
from polhode.kernel.indices import Index, places
from polhode.kernel.memory import Buffer, Space, strides_apart
from polhode.kernel.operations import TYPES, folded, literal, one_by_one
from polhode.kernel.weights import VIEWS, Weights
from polhode.kernel.writer import _PUT_TOGETHER, UnwritableError

_FEW = 4  # numbers that are put together by every lane alike
_MANY = 32  # terms that are written out, for numbers of which every lane has one
_LATER, _TILE = 8, 4  # stores that wait for others, and numbers of a lane that are worked out together
_WIDE = 0.5  # of the lanes have work, where rows are gone through one after the other


class ArrayWriter:
    def __init__(self, program: Program, lanes: int, near: int, least: float = 0.0) -> None:
        """`near`: numbers of a member that are kept in fast memory; what is read less than `least` times is not."""
        self.lanes = lanes
        self._later: list[str] = []  # stores of what was worked out, before the next line but such ones
        self.lines: list[str] = []
        self.tables: dict[tuple[str, bytes], str] = {}
        self.near, self.far = Space("S", near), Space("G", None)
        self.weights, self._least = Weights(program), least
        self._names, self._depth = itertools.count(), 1
        self._branches = 0  # around this place: not all members of a block come here
        self._written: set[int] = set()  # buffers, since the last SYNC
        self._read: set[int] = set()

    # Lines

    def put(self, line: str) -> None:
        self.flush()
        self._line(line)

    def _line(self, line: str) -> None:
        self.lines.append("  " * self._depth + line)

    def flush(self) -> None:
        for line in self._later:
            self._line(line)
        self._later.clear()

    @contextmanager
    def inside(self, head: str) -> Iterator[None]:
        self.put(head + " {")
        self._depth += 1
        yield
        self.flush()
        self._depth -= 1
        self.put("}")

    def name(self, letter: str = "v") -> str:
        return f"{letter}{next(self._names)}"

    def sync(self) -> None:
        """Lanes wait for one another."""
        self.put("SYNC();")
        self._written.clear()
        self.near.settle()
        self.far.settle()

    def expression(self, value: Value, place: Place) -> str:
        """To be read now."""
        self._read.clear()
        return value.at(place)

    def read(self, value: Value) -> str:
        """One number."""
        text = self.expression(value, [Index()] * len(value.shape))
        self.ready()
        return text

    def ready(self) -> None:
        """After expressions, before the line that they are in."""
        if self._read & self._written:
            self.sync()

    def _seen(self, buffer: Buffer) -> None:
        self._read.add(id(buffer))

    # Memory

    def buffer(
        self, shape: Sequence[int], dtype: Any, read: float = math.inf, *, columns: bool = False
    ) -> Buffer:
        _, room = strides_apart(shape[::-1] if columns else shape)
        spaces = (self.near, self.far) if read >= self._least * math.prod(shape) else (self.far,)
        for space in spaces:
            if (first := space.take(room)) is not None:
                return Buffer(shape, dtype, space, first, self._seen, columns=columns)
        raise AssertionError

    def table(self, value: np.ndarray) -> str:
        value = np.ascontiguousarray(value)
        return self.tables.setdefault((value.dtype.name, value.tobytes()), f"c{len(self.tables)}")

    def heads(self) -> list[str]:
        """The tables."""
        lines = []
        for (kind, data), name in self.tables.items():
            numbers = ", ".join(literal(x, kind) for x in np.frombuffer(data, kind))
            lines.append(f"__device__ const {TYPES[kind]} {name}[] = {{{numbers}}};")
        return lines

    def constant(self, value: np.ndarray) -> Value:
        return Constant(value, self.table)

    def scalar(self, shape: Sequence[int], dtype: Any, text: str) -> Value:
        return Value(shape, dtype, lambda place: text)

    # Values to memory

    def store(self, value: Value, to: Buffer, there: Callable[[Place], Place] = lambda place: place) -> None:
        """Every number to its place."""
        if isinstance(value, Joined):
            first = 0
            for part in value.parts:
                self.store(part, to, lambda place, v=value, by=first: there(v.within(place, by)))  # type: ignore[misc]
                first += part.shape[value.axis]
            return
        if isinstance(value, Rearranged) and _holds_pieces(value.whole):
            self.store(value.whole, to, lambda place, v=value: there(v.back(place)))  # type: ignore[misc]
            return
        if not value.size:
            return
        kind, shape = kind_of(value.dtype), value.shape
        if value.size <= self.lanes:  # stored a little later, so that others are worked out meanwhile
            place = places(self._one_each(value.size), shape)
            text = self.expression(value, place)
            self.ready()
            name = self.name()
            self._line(f"const {kind} {name} = {text};")
            self._store_later(value.size, to.place(there(place)), name)
        elif (split := self._rows(shape)) is not None:
            self._by_rows(value, to, there, split)
        else:
            place = places(Index.named("k", value.size), shape)
            text = self.expression(value, place)
            self.ready()
            each = min(_TILE, -(-value.size // self.lanes))
            with self.inside(f"for (int first = lane; first < {value.size}; first += {each} * LANES)"):
                self._tile(kind, "k", each, "LANES", value.size, text, to.place(there(place)))
        self._written.add(id(to))

    def _one_each(self, count: int) -> Index:
        """A number for every lane; those for which there is none work out the last one, without a branch."""
        return Index.named("lane" if count == self.lanes else f"BELOW(lane, {count})", count)

    def _store_later(self, count: int, to: str, name: str) -> None:
        when = "" if count == self.lanes else f"if (lane < {count}) "
        self._later.append(f"{when}{to} = {name};")
        if len(self._later) == _LATER:
            self.flush()

    def _rows(self, shape: Sequence[int]) -> int | None:
        """How many axes are those of rows, in which lanes work side by side."""
        for k in range(1, len(shape)):
            rows, width = math.prod(shape[:k]), math.prod(shape[k:])
            if rows > 2 and width >= _WIDE * self.lanes * -(-width // self.lanes):
                return k
        return None

    def _by_rows(self, value: Value, to: Buffer, there: Callable[[Place], Place], split: int) -> None:
        """A lane for each column, which reads once what is the same in all rows."""
        kind, shape = kind_of(value.dtype), value.shape
        rows, width = math.prod(shape[:split]), math.prod(shape[split:])
        place = [*places(Index.named("r", rows), shape[:split]), *places(Index.named("k", width), shape[split:])]
        reads.once = {}
        text, once = self.expression(value, place), reads.once
        reads.once = None
        self.ready()
        each = next((n for n in (4, 5, 6, 3) if rows % n == 0), 4)
        with self.inside(f"EACH(k, {width})"):
            for line, name in once.items():
                self.put(line.format(name))
            with self.inside(f"ONE_AT_A_TIME for (int first = 0; first < {rows}; first += {each})"):
                self._tile(kind, "r", each, "1", rows, text, to.place(there(place)))

    def _tile(self, kind: str, index: str, each: int, apart: str, count: int, text: str, to: str) -> None:
        """Several numbers of a lane: all are worked out, then all are stored."""
        whole, word = index == "r" and count % each == 0, re.compile(rf"\b{index}\b")
        sure = [u == 0 or whole for u in range(each)]
        when = ["" if sure[u] else f"if (first + {u} * {apart} < {count}) " for u in range(each)]
        for u in range(each):
            here = f"first + {u} * {apart}"
            self._line(f"const int {index}{u} = {here if sure[u] else f'BELOW({here}, {count})'};")
        for u in range(each):
            self._line(f"const {kind} made{u} = {word.sub(f'{index}{u}', text)};")
        for u in range(each):
            self._line(f"{when[u]}{word.sub(f'{index}{u}', to)} = made{u};")

    def kept(self, value: Value, read: float = math.inf) -> Value:
        """The same, worked out now."""
        if value.size == 1:
            text = self.read(value)
            name = self.name()
            self._line(f"const {kind_of(value.dtype)} {name} = {text};")
            return self.scalar(value.shape, value.dtype, name)
        to = self.buffer(value.shape, value.dtype, read)
        self.store(value, to)
        return to

    # Operations

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

    def _summed(
        self, name: str, term: Callable[[Place, Index], str], count: int, out: Var, read: float
    ) -> Value:
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
        few = out.size <= self.lanes
        place = places(self._one_each(out.size) if few else Index.named("k", out.size), out.shape)
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

        if few:
            add_up()
            self._store_later(out.size, to.place(place), total)
        else:
            with self.inside(f"EACH(k, {out.size})"):
                add_up()
                self.put(f"{to.place(place)} = {total};")
        self._written.add(id(to))
        return to

    # Loops and branches

    def carried(self, avals: Sequence[Var], values: Sequence[Value], weights: Sequence[float]) -> list[Any]:
        """Names of numbers, and pairs of buffers, with these values to begin with: (now, next)."""
        made: list[Any] = []
        for aval, value, n in zip(avals, values, weights, strict=True):
            if aval.size == 1:
                text = self.read(value)
                name = self.name()
                self.put(f"{kind_of(aval.dtype)} {name} = {text};")
                made.append((self.scalar(aval.shape, aval.dtype, name), name))
                continue
            now, then = self.buffer(aval.shape, aval.dtype, n), self.buffer(aval.shape, aval.dtype, n)
            if now.space is not then.space:
                now = self.buffer(aval.shape, aval.dtype, 0.0) if then.space is self.far else now
            assert now.space is then.space
            for x in (now, then):
                x.base = self.name("b")
                self.put(f"int {x.base} = {x.first};")
            self.store(value, now)
            made.append((now, then))
        return made

    def next(self, carried: Sequence[Any], values: Sequence[Value]) -> None:
        """All at once."""
        new = []
        for (_, then), value in zip(carried, values, strict=True):
            if isinstance(then, Buffer):
                self.store(value, then)
            else:
                text = self.read(value)
                new.append((then, self.name()))
                self.put(f"const {kind_of(value.dtype)} {new[-1][1]} = {text};")
        for name, text in new:
            self.put(f"{name} = {text};")
        for now, then in carried:
            if isinstance(then, Buffer):
                self.put(f"{{ const int b = {now.base}; {now.base} = {then.base}; {then.base} = b; }}")

    def _while(self, op: Op, args: list[Value], here: dict[Var, Value]) -> list[Value]:
        test, body = op.blocks
        carried = self.carried(op.outs, args, [math.inf] * len(args))
        now = [x for x, _ in carried]
        self.sync()
        with self.inside("while (true)"):
            (go,) = self.block(test, {**here, **dict(zip(test.given, now, strict=True))})
            going = self.name()
            self.put(f"const bool {going} = {self.read(go)};")
            self.put(f"if (!{'ANY' if not self._branches else ''}({going})) break;")
            new = self.block(body, {**here, **dict(zip(body.given, now, strict=True))})
            with self.inside(f"if ({going})"):
                self.next(carried, new)
            del new
            self.sync()
        self.sync()  # of those that the test has kept waiting
        for x, then in carried:
            x.other = then  # which of the two places it is in is not known here
        return now

    def _scan(self, op: Op, args: list[Value], here: dict[Var, Value]) -> list[Value]:
        (body,), count, length = op.blocks, len(op.outs), op.params["length"]
        carried = self.carried(op.outs, args[:count], [math.inf] * count)
        now, tables = [x for x, _ in carried], args[count:]
        self.sync()
        i = self.name("i")
        step = Index.named(i, length)
        with self.inside(f"ONE_AT_A_TIME for (int {i} = 0; {i} < {length}; ++{i})"):
            rows = [
                Value(x.shape[1:], x.dtype, lambda place, x=x: x.at([step, *place]))  # type: ignore[misc]
                for x in tables
            ]
            self.next(carried, self.block(body, {**here, **dict(zip(body.given, [*now, *rows], strict=True))}))
            self.sync()
        for x, then in carried:
            if isinstance(x, Buffer):
                if length % 2:
                    x.first, then.first = then.first, x.first
                x.base = str(x.first)
        return now

    def _cond(self, op: Op, args: list[Value], here: dict[Var, Value]) -> list[Value]:
        which = self.read(args[0])
        results: list[Any] = []
        for out in op.outs:
            if out.size == 1:
                results.append(self.name())
                self.put(f"{kind_of(out.dtype)} {results[-1]};")
            else:
                results.append(self.buffer(out.shape, out.dtype, self.weights.reads[out]))
        self.sync()
        self._branches += 1
        for k, block in enumerate(op.blocks):
            head = f"if ({which} == {k})" if k == 0 else f"else if ({which} == {k})"
            with self.inside(head if k < len(op.blocks) - 1 else "else"):
                for to, value in zip(results, self.block(block, here), strict=True):
                    if isinstance(to, Buffer):
                        self.store(value, to)
                    else:
                        text = self.read(value)
                        self.put(f"{to} = {text};")
                self.sync()
        self._branches -= 1
        return [
            x if isinstance(x, Buffer) else self.scalar(out.shape, out.dtype, x)
            for x, out in zip(results, op.outs, strict=True)
        ]


def _stretched(place: Place, shape: Sequence[int]) -> Place:
    """In an array that is the same along some axes."""
    return [Index() if n == 1 else index for index, n in zip(place, shape, strict=True)] if shape else ()


def _holds_pieces(value: Value) -> bool:
    return isinstance(value, Joined) or (isinstance(value, Rearranged) and _holds_pieces(value.whole))


def _read_by(op: Op) -> Iterator[Var]:
    for x in op.args:
        if isinstance(x, Var):
            yield x
    for block in op.blocks:
        for inner in block.ops:
            yield from _read_by(inner)
        yield from (x for x in block.left if isinstance(x, Var))


def kind_of(dtype: Any) -> str:
    kind = np.dtype(dtype).name
    if kind not in TYPES:
        raise UnwritableError(f"numbers of type {kind}")
    return TYPES[kind]


def _begins(name: str, dtype: np.dtype) -> str:
    """What changes nothing."""
    whole: dict[str, Any] = {"add": 0, "mul": 1, "and": True, "or": False}
    if name in whole:
        return literal(whole[name], dtype)
    if dtype.kind != "f":
        raise UnwritableError(f"the largest or smallest of {dtype.name}")
    return literal(-math.inf if name == "max" else math.inf, dtype)
