"""Arrays inside a kernel: each says, of any place in it, the C expression of the number there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from polhode.kernel.indices import Index, flat, places
from polhode.kernel.operations import TYPES, literal
from polhode.kernel.writer import UnwritableError

Place = Sequence[Index]


class Reads:
    """What is read from memory: within a loop over rows `r`, what is the same in all of them only once, in front."""

    def __init__(self) -> None:
        self.once: dict[str, str] | None = None  # names, by what is read
        self._asides = 0

    def __call__(self, text: str, kind: str) -> str:
        if self.once is None or self._asides or _ROW.search(text):
            return text
        return self.once.setdefault(f"const {kind} {{}} = {text};", f"o{len(self.once)}")

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Where it is not always read."""
        self._asides += 1
        yield
        self._asides -= 1


_ROW = re.compile(r"\br\b")
reads = Reads()


class Value:
    def __init__(self, shape: Sequence[int], dtype: Any, at: Callable[[Place], str] | None = None) -> None:
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        self._at = at

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    def at(self, place: Place) -> str:
        assert self._at is not None
        return self._at(place)

    def index_at(self, place: Place, count: int) -> Index:
        """Of integers below `count`, as an index."""
        return Index.named(f"((int) ({self.at(place)}))", count)

    def of_last(self, j: int) -> Value:
        """What is at j of the last axis."""
        return Value(self.shape[:-1], self.dtype, lambda place: self.at([*place, Index(j)]))


class Constant(Value):
    """`table` gives a name to an array of numbers."""

    def __init__(self, value: np.ndarray, table: Callable[[np.ndarray], str]) -> None:
        super().__init__(value.shape, value.dtype)
        self.value, self._table = value, table
        self._slopes = _affine(value)

    def at(self, place: Place) -> str:
        if all(not index.terms for index in place):
            return literal(self.value[tuple(index.constant for index in place)], self.dtype)
        first = self.value.flat[0]
        if (self.value == first).all() and not (first == 0 and np.signbit(self.value.astype(float)).any()):
            return literal(first, self.dtype)
        if self.dtype.kind in "iu" and self._slopes is not None:
            return f"((long long) ({self._sum(place)}))"
        return reads(f"{self._table(self.value)}[{flat(place, self.shape)}]", TYPES[self.dtype.name])

    def index_at(self, place: Place, count: int) -> Index:
        if self.value.size and (self.value.min() < 0 or self.value.max() >= count):
            raise UnwritableError("an index beyond its array")
        return super().index_at(place, count) if self._slopes is None else self._sum(place)

    def of_last(self, j: int) -> Value:
        return Constant(self.value[..., j], self._table)

    def _sum(self, place: Place) -> Index:
        assert self._slopes is not None
        total = Index(int(self.value.flat[0]))
        for index, slope in zip(place, self._slopes, strict=True):
            total += index * slope
        return total


def _affine(value: np.ndarray) -> list[int] | None:
    """By how much whole numbers grow along each axis, where that is always the same."""
    if value.dtype.kind not in "iu" or not value.size:
        return None
    corner = (0,) * value.ndim
    slopes = [
        int(value[tuple(int(j == k) for j in range(value.ndim))] - value[corner]) if value.shape[k] > 1 else 0
        for k in range(value.ndim)
    ]
    grid = np.indices(value.shape)
    line = int(value[corner]) + sum(s * grid[k] for k, s in enumerate(slopes))
    return slopes if (line == value).all() else None


class Joined(Value):
    """Pieces along an axis."""

    def __init__(self, shape: Sequence[int], parts: Sequence[Value], axis: int) -> None:
        super().__init__(shape, parts[0].dtype)
        self.parts, self.axis = parts, axis

    def at(self, place: Place) -> str:
        index, first, text, opened = place[self.axis], 0, "", 0
        for k, part in enumerate(self.parts):
            end = first + part.shape[self.axis]
            if index.least < end and index.most >= first:
                if opened == 0 and index.most < end:
                    return part.at(self.within(place, -first))
                with reads.aside():
                    here = part.at(self.within(place, -first))
                if index.most < end or k == len(self.parts) - 1:
                    return text + here + ")" * opened
                text, opened = text + f"((unsigned) ({index}) < {end}u ? {here} : ", opened + 1
            first = end
        raise UnwritableError("a place outside of its array")

    def within(self, place: Place, by: int) -> list[Index]:
        return [index + by if k == self.axis else index for k, index in enumerate(place)]


class Rearranged(Value):
    """The numbers of another, one for one; `there` and `back` are the way from a place in it to a place in the other,
    and back."""

    def __init__(self, shape: Sequence[int], whole: Value, there: Any, back: Any) -> None:
        super().__init__(shape, whole.dtype, lambda place: whole.at(there(place)))
        self.whole, self.back = whole, back


def reshaped(x: Value, shape: Sequence[int]) -> Value:
    return Rearranged(
        shape, x, lambda place: places(flat(place, shape), x.shape), lambda place: places(flat(place, x.shape), shape)
    )


def transposed(x: Value, order: Sequence[int]) -> Value:
    back = np.argsort(order)
    return Rearranged(
        [x.shape[k] for k in order],
        x,
        lambda place: [place[back[k]] for k in range(len(order))],
        lambda place: [place[k] for k in order],
    )
