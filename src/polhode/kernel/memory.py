"""The memory of one member's arrays: a place is free for others once nothing refers to its `Buffer`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polhode.kernel.array_values import Place, Value, reads
from polhode.kernel.indices import Index
from polhode.kernel.operations import TYPES


class Space:
    """Numbers so many of which are in use at most, `peak`. What is given back may be taken after a `settle`, when no
    lane reads it any more."""

    def __init__(self, letter: str, limit: int | None) -> None:
        self.letter, self.limit, self.peak = letter, limit, 0
        self._free: list[tuple[int, int]] = []  # first, count
        self._leaving: list[tuple[int, int]] = []

    def take(self, count: int) -> int | None:
        for k, (first, size) in enumerate(self._free):
            if size >= count:
                self._free[k : k + 1] = [(first + count, size - count)] if size > count else []
                return first
        last = next(((f, s) for f, s in self._free if f + s == self.peak), None)
        first = self.peak if last is None else last[0]
        if self.limit is not None and first + count > self.limit:
            return None
        if last is not None:
            self._free.remove(last)
        self.peak = first + count
        return first

    def give(self, first: int, count: int) -> None:
        self._leaving.append((first, count))

    def settle(self) -> None:
        joined: list[tuple[int, int]] = []
        for first, count in sorted(self._free + self._leaving):
            if joined and sum(joined[-1]) == first:
                joined[-1] = (joined[-1][0], joined[-1][1] + count)
            else:
                joined.append((first, count))
        self._free, self._leaving = joined, []


class Buffer(Value):
    """An array in memory, rows an odd number of places apart so that lanes read columns from different banks."""

    def __init__(
        self, shape: Sequence[int], dtype: Any, space: Space, first: int, seen: Any, *, columns: bool = False
    ) -> None:
        super().__init__(shape, dtype)
        self.space, self.first, self.base = space, first, str(first)
        self.strides, self.room = strides_apart(shape[::-1] if columns else shape)
        self.strides = self.strides[::-1] if columns else self.strides
        self._seen = seen

    def at(self, place: Place) -> str:
        self._seen(self)
        return reads(self.place(place), TYPES["int64" if self.dtype.kind != "f" else "float64"])

    def place(self, place: Place) -> str:
        total = Index()
        for index, stride in zip(place, self.strides, strict=True):
            total += index * stride
        letter = f"{self.space.letter}{'D' if self.dtype.kind == 'f' else 'I'}"
        first = f"{self.base} + {total.constant}" if total.constant and not self.base.isdigit() else self.base
        if self.base.isdigit():
            first = str(int(self.base) + total.constant)
        return f"{letter}({first}, {Index(0, total.terms)})"

    def __del__(self) -> None:
        self.space.give(self.first, self.room)


def strides_apart(shape: Sequence[int]) -> tuple[list[int], int]:
    strides, room = [], 1
    for k, n in reversed(list(enumerate(shape))):
        strides.append(room)
        room *= n
        if k == len(shape) - 1 and k > 0 and n % 2 == 0 and room_of(shape) > 64:
            room += 1
    return strides[::-1], max(room, 1)


def room_of(shape: Sequence[int]) -> int:
    size = 1
    for n in shape:
        size *= n
    return size
