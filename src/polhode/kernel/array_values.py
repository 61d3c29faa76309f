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


def view(name: str, p: Any, args: Sequence[Value], shape: Sequence[int]) -> Value:
    """The result of an operation that only moves numbers."""
    x = args[0]
    if name == "reshape":
        return reshaped(x, shape)
    if name == "transpose":
        return transposed(x, p["permutation"])
    if name == "rev":
        turned = set(p["dimensions"])
        at = lambda place: x.at(
            [i * -1 + (n - 1) if k in turned else i for k, (i, n) in enumerate(zip(place, shape, strict=True))]
        )  # noqa: E501, E731
        return Value(shape, x.dtype, at)
    if name == "broadcast_in_dim":
        axes = p["broadcast_dimensions"]
        return Value(
            shape,
            x.dtype,
            lambda place: x.at([Index() if n == 1 else place[k] for k, n in zip(axes, x.shape, strict=True)]),
        )
    if name == "slice":
        steps = p["strides"] or [1] * len(shape)
        first = [int(s) for s in p["start_indices"]]
        return Value(
            shape, x.dtype, lambda place: x.at([i * int(s) + f for i, s, f in zip(place, steps, first, strict=True)])
        )
    if name == "dynamic_slice":
        return Value(shape, x.dtype, lambda place: x.at(_moved(place, _starts(args[1:], x.shape, shape))))
    if name == "dynamic_update_slice":
        return _updated(args[0], args[1], args[2:])
    if name == "pad":
        return _padded(args[0], args[1], p["padding_config"], shape)
    if name == "gather":
        return _gathered(args[0], args[1], p, shape)
    raise UnwritableError(f"the operation {name!r}")


def _moved(place: Place, starts: Sequence[Index]) -> list[Index]:
    return [i + s for i, s in zip(place, starts, strict=True)]


def _starts(given: Sequence[Value], whole: Sequence[int], part: Sequence[int]) -> list[Index]:
    """Where a part of an array begins, within it."""
    found = []
    for start, n, m in zip(given, whole, part, strict=True):
        if n == m:
            found.append(Index())
        elif isinstance(start, Constant):
            found.append(Index(min(max(int(start.value), 0), n - m)))
        else:
            found.append(Index.named(f"WITHIN({start.at([])}, {n - m})", n - m + 1))
    return found


def _inside(index: Index, first: Index | int, size: int) -> str | None:
    """C that says whether index - first is below size; None where it always is."""
    left = index + (first if isinstance(first, int) else first * -1)
    return None if left.least >= 0 and left.most < size else f"(unsigned) ({left}) < {size}u"


def _chosen(conditions: Sequence[str | None], yes: Callable[[], str], no: Callable[[], str]) -> str:
    said = [c for c in conditions if c is not None]
    if not said:
        return yes()
    with reads.aside():
        return f"({' && '.join(said)} ? {yes()} : {no()})"


def _updated(x: Value, new: Value, given: Sequence[Value]) -> Value:
    def at(place: Place) -> str:
        starts = _starts(given, x.shape, new.shape)
        inside = [_inside(i, s, n) for i, s, n in zip(place, starts, new.shape, strict=True)]
        return _chosen(inside, lambda: new.at(_moved(place, [s * -1 for s in starts])), lambda: x.at(place))

    return Value(x.shape, x.dtype, at)


def _padded(x: Value, around: Value, config: Any, shape: Sequence[int]) -> Value:
    if any(inner or low < 0 or high < 0 for low, high, inner in config):
        raise UnwritableError("padding between the numbers of an array, or less than none")
    lows = [int(low) for low, _, _ in config]

    def at(place: Place) -> str:
        inside = [_inside(i, -low, n) for i, low, n in zip(place, lows, x.shape, strict=True)]
        return _chosen(
            inside, lambda: x.at([i + -low for i, low in zip(place, lows, strict=True)]), lambda: around.at([])
        )

    return Value(shape, x.dtype, at)


def _gathered(x: Value, where: Value, p: Any, shape: Sequence[int]) -> Value:
    numbers, sizes = p["dimension_numbers"], p["slice_sizes"]
    if numbers.operand_batching_dims:
        raise UnwritableError("gather with axes of a batch")
    if not isinstance(where, Constant) and "PROMISE" not in str(p["mode"]) and "CLIP" not in str(p["mode"]):
        raise UnwritableError("gather with indices that may be outside of an array")
    axes = [k for k in range(len(shape)) if k not in numbers.offset_dims]
    kept = [k for k in range(len(x.shape)) if k not in numbers.collapsed_slice_dims]

    def at(place: Place) -> str:
        found = [Index()] * len(x.shape)
        for axis, k in zip(kept, numbers.offset_dims, strict=True):
            found[axis] = place[k]
        for j, axis in enumerate(numbers.start_index_map):
            start = where.index_at([*(place[k] for k in axes), Index(j)], x.shape[axis] - sizes[axis] + 1)
            found[axis] = found[axis] + start
        return x.at(found)

    return Value(shape, x.dtype, at)
