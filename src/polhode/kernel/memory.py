"""The memory of one member's arrays: two that are never in use at once may have the same place.

Lines are written before it is known where arrays are: of the pieces of memory that they take it is remembered from
when to when, and in the end each gets a place, in fast memory what is read most.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from polhode.kernel.array_values import Place, Value, reads
from polhode.kernel.indices import Index
from polhode.kernel.operations import TYPES

_WIDE = 12  # numbers of a row: of shorter ones that are even, few lanes meet in one bank
_NAMED = re.compile(r"\bM(\d+)(?:([DI])\((-?\d+)?|FIRST\b)")


@dataclass
class Piece:
    """So many numbers, with so many reads of each, from one moment to another; `behind` another one, or by itself."""

    count: int
    reads: float
    begun: int
    ended: int | None = None
    behind: int | None = None


class Memory:
    """Moments are told apart by `settle`: what is given back may be taken after one, when no lane reads it any more."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self._now = 0
        self._leaving: list[Piece] = []

    @property
    def leaving(self) -> int:
        """Numbers that were given back since."""
        return sum(piece.count for piece in self._leaving)

    def take(self, count: int, reads: float, behind: int | None = None) -> int:
        """The number of a piece."""
        self.pieces.append(Piece(count, reads, self._now, behind=behind))
        return len(self.pieces) - 1

    def give(self, number: int) -> None:
        self._leaving.append(self.pieces[number])

    def settle(self) -> None:
        for piece in self._leaving:
            piece.ended = self._now
        self._leaving.clear()
        self._now += 1

    def placed(self, most: int, least: float) -> Places:
        """`most` numbers are in fast memory, none of them read less than `least` times."""
        wholes: dict[int, list[int]] = {}
        for k, piece in enumerate(self.pieces):
            wholes.setdefault(k if piece.behind is None else piece.behind, []).append(k)
        near, far = dict[int, int](), dict[int, int]()
        left = []
        for first in sorted(wholes, key=lambda k: -self.pieces[k].reads):
            count = sum(self.pieces[k].count for k in wholes[first])
            at = self._room(wholes[first], near) if self.pieces[first].reads >= least else most
            if at + count <= most:
                self._put(wholes[first], at, near)
            else:
                left.append((count, first))
        for _, first in sorted(left, reverse=True):
            self._put(wholes[first], self._room(wholes[first], far), far)
        ends = [max((at + self.pieces[k].count for k, at in some.items()), default=0) for some in (near, far)]
        return Places(near, far, *ends)

    def _put(self, some: list[int], at: int, there: dict[int, int]) -> None:
        for k in some:
            there[k] = at
            at += self.pieces[k].count

    def _room(self, some: list[int], there: dict[int, int]) -> int:
        """The first place that is free for so long, of pieces behind each other."""
        taken = [sorted((at, at + self.pieces[j].count) for j, at in there.items() if self._meet(j, k)) for k in some]
        first = 0
        while True:
            at = moved = first
            for k, others in zip(some, taken, strict=True):
                free = _free(others, at, self.pieces[k].count)
                moved = max(moved, first + free - at)
                at += self.pieces[k].count
            if moved == first:
                return first
            first = moved

    def _meet(self, j: int, k: int) -> bool:
        a, b = self.pieces[j], self.pieces[k]
        return (b.ended is None or a.begun <= b.ended) and (a.ended is None or b.begun <= a.ended)


def _free(taken: list[tuple[int, int]], first: int, count: int) -> int:
    """From there on, the first place with so much room."""
    for at, end in taken:
        if end > first:
            if first + count <= at:
                break
            first = end
    return first


@dataclass(frozen=True)
class Places:
    """Of each piece, in fast memory or in slow; and how much there is used of both."""

    near: dict[int, int]
    far: dict[int, int]
    near_used: int
    far_used: int

    def written(self, lines: Iterable[str]) -> list[str]:
        """With places instead of names."""
        return [_NAMED.sub(self._place, line) for line in lines]

    def _place(self, found: re.Match[str]) -> str:
        number, kind, offset = int(found[1]), found[2], found[3]
        first = self.near.get(number, self.far.get(number, 0))
        if kind is None:
            return str(first)
        return f"{'S' if number in self.near else 'G'}{kind}({'' if offset is None else first + int(offset)}"


class Buffer(Value):
    """An array in memory, long rows an odd number of places apart so that lanes read columns from different banks."""

    def __init__(
        self,
        shape: Sequence[int],
        dtype: Any,
        memory: Memory,
        piece: int,
        seen: Any,
        *,
        columns: bool = False,
    ) -> None:
        super().__init__(shape, dtype)
        self._memory, self.piece = memory, piece
        self.base: str | None = None  # a name of where it begins, if that changes
        self.strides, self.room = strides_apart(shape[::-1] if columns else shape)
        self.strides = self.strides[::-1] if columns else self.strides
        self._seen = seen

    @property
    def first(self) -> str:
        """C of where it begins, as long as it stays there."""
        return f"M{self.piece}FIRST"

    def at(self, place: Place) -> str:
        self._seen(self)
        return reads(self.place(place), TYPES["int64" if self.dtype.kind != "f" else "float64"])

    def place(self, place: Place) -> str:
        total = Index()
        for index, stride in zip(place, self.strides, strict=True):
            total += index * stride
        kind = "D" if self.dtype.kind == "f" else "I"
        first = str(total.constant)
        if self.base is not None:
            first = f"{self.base} + {first}" if total.constant else self.base
        return f"M{self.piece}{kind}({first}, {Index(0, total.terms)})"

    def __del__(self) -> None:
        self._memory.give(self.piece)


def strides_apart(shape: Sequence[int]) -> tuple[list[int], int]:
    strides, room = [], 1
    for k, n in reversed(list(enumerate(shape))):
        strides.append(room)
        room *= n
        if k == len(shape) - 1 and k > 0 and n % 2 == 0 and n >= _WIDE:
            room += 1
    return strides[::-1], max(room, 1)
