"""`Lanes`: lines of C for several lanes that work on one member together.

Every number of an array is made by one lane; numbers by themselves are made by all lanes alike. Where lanes read what
others have written there is a `SYNC()` between. No lane takes a branch of its own: one without a number of its own
works out the last one, and stores nothing.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from polhode.kernel.array_values import Constant, Joined, Place, Rearranged, Value, reads
from polhode.kernel.indices import Index, places
from polhode.kernel.memory import Buffer, Memory, strides_apart
from polhode.kernel.operations import TYPES, literal
from polhode.kernel.writer import UnwritableError

_LATER, _TILE = 8, 2  # stores that wait for others, and numbers of a lane that are worked out together
_LARGE = 200  # numbers: so many that were given back are waited for, by another array as large
_WIDE = 0.5  # of the lanes have work, where rows are gone through one after the other


class Lanes:
    def __init__(self, lanes: int, meet: int = 0) -> None:
        """`meet`: members of a block wait for one another at every so many places where lanes do, 0 for nowhere."""
        self.lanes, self._meet = lanes, meet
        self._syncs = 0  # since they did
        self._later: list[str] = []  # stores of what was worked out, before the next line but such ones
        self.lines: list[str] = []
        self.tables: dict[tuple[str, bytes], str] = {}
        self.memory = Memory()
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
    def of_some(self, head: str) -> Iterator[None]:
        """A block in braces that not all members come to."""
        self._branches += 1
        with self.inside(head):
            yield
        self._branches -= 1

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
        self._syncs += 1
        meet = self._meet and self._syncs >= self._meet and not self._branches
        self.put("MEET();" if meet else "SYNC();")
        self._syncs = 0 if meet else self._syncs
        self._written.clear()
        self.memory.settle()

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

    def buffer(self, shape: Sequence[int], dtype: Any, read: float = math.inf, *, columns: bool = False) -> Buffer:
        _, room = strides_apart(shape[::-1] if columns else shape)
        if room >= _LARGE and self.memory.leaving >= _LARGE:
            self.sync()
        piece = self.memory.take(room, read / max(math.prod(shape), 1))
        return Buffer(shape, dtype, self.memory, piece, self._seen, columns=columns)

    def pair(self, shape: Sequence[int], dtype: Any, read: float) -> tuple[Buffer, Buffer]:
        """Two, one behind the other, that change places."""
        now = self.buffer(shape, dtype, read)
        piece = self.memory.take(now.room, read / max(math.prod(shape), 1), now.piece)
        return now, Buffer(shape, dtype, self.memory, piece, self._seen)

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


def _holds_pieces(value: Value) -> bool:
    return isinstance(value, Joined) or (isinstance(value, Rearranged) and _holds_pieces(value.whole))


def kind_of(dtype: Any) -> str:
    kind = np.dtype(dtype).name
    if kind not in TYPES:
        raise UnwritableError(f"numbers of type {kind}")
    return TYPES[kind]
