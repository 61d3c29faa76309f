"""`Index`: a place in an array as C works it out, (k / 6) % 4 and the like; what cancels is left out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Digit(NamedTuple):
    """(text / over) % range; nothing is left beyond it where it is the `top`."""

    text: str
    over: int
    range: int
    top: bool

    def __str__(self) -> str:
        whole = self.text if self.over == 1 else f"({self.text} / {self.over})"
        return whole if self.top else f"({whole} % {self.range})"


@dataclass(frozen=True)
class Index:
    """constant + Σ factor digit."""

    constant: int = 0
    terms: tuple[tuple[Digit, int], ...] = ()

    @classmethod
    def named(cls, text: str, count: int) -> Index:
        """What an expression is, below `count`."""
        return cls() if count == 1 else cls(0, ((Digit(text, 1, count, True), 1),))

    def __add__(self, other: Index | int) -> Index:
        if isinstance(other, int):
            return Index(self.constant + other, self.terms)
        found = dict(self.terms)
        for digit, factor in other.terms:
            found[digit] = found.get(digit, 0) + factor
        return Index(self.constant + other.constant, _joined({d: f for d, f in found.items() if f}))

    def __mul__(self, factor: int) -> Index:
        return Index(self.constant * factor, tuple((d, f * factor) for d, f in self.terms) if factor else ())

    @property
    def least(self) -> int:
        return self.constant + sum(f * (d.range - 1) for d, f in self.terms if f < 0)

    @property
    def most(self) -> int:
        return self.constant + sum(f * (d.range - 1) for d, f in self.terms if f > 0)

    def __str__(self) -> str:
        parts = [f"{d}" if f == 1 else f"{d} * {f}" if f > 0 else f"{d} * ({f})" for d, f in self.terms]
        if self.constant or not parts:
            parts.append(f"{self.constant}" if self.constant >= 0 else f"({self.constant})")
        return " + ".join(parts)

    def __divmod__(self, n: int) -> tuple[Index, Index]:
        if n == 1:
            return self, Index()
        over, left = Index(self.constant // n), Index(self.constant % n)
        for digit, factor in self.terms:
            one = Index(0, ((digit, 1),))
            if factor % n == 0:
                over += one * (factor // n)
                continue
            part = n // factor if factor > 0 and n % factor == 0 else 0
            if part and digit.range > part and digit.range % part == 0:
                text, place, count, top = digit
                over += Index(0, ((Digit(text, place * part, count // part, top), 1),))
                left += Index(0, ((Digit(text, place, part, False), factor),))
            else:
                left += one * factor
        if left.least >= 0 and left.most < n:
            return over, left
        text, most = f"({self})", self.most
        if most < n:
            return Index(), self
        return (
            Index(0, ((Digit(text, n, most // n + 1, True), 1),)),
            Index(0, ((Digit(text, 1, n, False), 1),)),
        )


def _joined(found: dict[Digit, int]) -> tuple[tuple[Digit, int], ...]:
    """Digits that are neighbours as one."""
    for low, factor in found.items():
        if low.top:
            continue
        for high, other in found.items():
            if high.text == low.text and high.over == low.over * low.range and other == factor * low.range:
                rest = {d: f for d, f in found.items() if d not in (low, high)}
                one = Digit(low.text, low.over, low.range * high.range, high.top)
                return _joined({**rest, one: rest.get(one, 0) + factor})
    return tuple(found.items())


def strides_of(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(math.prod(shape[k + 1 :]) for k in range(len(shape)))


def flat(at: Sequence[Index], shape: Sequence[int]) -> Index:
    """One index over all of an array."""
    total = Index()
    for index, stride in zip(at, strides_of(shape), strict=True):
        total += index * stride
    return total


def places(index: Index, shape: Sequence[int]) -> list[Index]:
    """An index along each axis."""
    found = []
    for n in reversed(shape):
        if n == 1:
            found.append(Index())
            continue
        index, here = divmod(index, n) if n < index.most + 1 else (Index(), index)
        found.append(here)
    return found[::-1]
