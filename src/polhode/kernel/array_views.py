"""Operations that only move numbers: the result says of each of its places where in the argument its number is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from polhode.kernel.array_values import Constant, Place, Value, reads, reshaped, transposed
from polhode.kernel.indices import Index
from polhode.kernel.writer import UnwritableError


def view(name: str, p: Any, args: Sequence[Value], shape: Sequence[int]) -> Value:
    """The result of an operation that only moves numbers."""
    x = args[0]
    if name == "reshape":
        return reshaped(x, shape)
    if name == "transpose":
        return transposed(x, p["permutation"])
    if name == "rev":
        return _turned(x, p["dimensions"])
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


def _turned(x: Value, axes: Sequence[int]) -> Value:
    def at(place: Place) -> str:
        return x.at([i * -1 + (n - 1) if k in axes else i for k, (i, n) in enumerate(zip(place, x.shape, strict=True))])

    return Value(x.shape, x.dtype, at)


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

    starts = [where.of_last(j) for j in range(len(numbers.start_index_map))]

    def at(place: Place) -> str:
        found = [Index()] * len(x.shape)
        for axis, k in zip(kept, numbers.offset_dims, strict=True):
            found[axis] = place[k]
        for start, axis in zip(starts, numbers.start_index_map, strict=True):
            found[axis] = found[axis] + start.index_at([place[k] for k in axes], x.shape[axis] - sizes[axis] + 1)
        return x.at(found)

    return Value(shape, x.dtype, at)
