"""`Triple`: a motion in n, 2n and 4n steps, and whether its error falls as the order of its method says.

With an error of c hᵖ, the three are apart by δ₁ = x(h) - x(h/2) and δ₂ = x(h/2) - x(h/4) = δ₁/2ᵖ: as vectors, not in
length alone, so that motions that are wrong by anything at all do not pass by chance. The quotient Q = |δ₁|/|δ₂| is the
second quotient of precision (Kreiss & Ortiz 2014), and the errors of the finer two are δ₂ Q/(Q - 1) and δ₂/(Q - 1)
(Richardson; with the measured quotient, Aitken).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from polhode.accuracy.path import Path, size

_LINEAR = 0.5  # rad, or of a scale: what is farther apart says nothing of an order
_PARALLEL = 0.8  # cosine of the angle between δ₁ and δ₂, at least
_EPS = float(np.finfo(float).eps)
_UNIT = {"rotation": 0.5 * _EPS, "system": 12.5 * _EPS}  # of round-off in a step; those of systems are solved to 1e-12
_NOISE = 30.0  # of the model below, is taken for round-off; measured up to 3


def round_off(kind: str, order: float, steps: int, turned: float) -> float:
    """A model of the error that round-off leaves after so many steps, in which a body turns by so many rad: a random
    walk of the momentum, and the angle that follows. A method of infinite order computes a sine or the like of the
    whole angle in each step, with a bias, so there it grows like their number."""
    return _UNIT[kind] * (steps if math.isinf(order) else math.sqrt(steps)) * (1.0 + turned)


@dataclass(frozen=True)
class Triple:
    """Arrays over the members of a batch, but for `first` and `second`, which have samples in front."""

    steps: int  # 4n
    claimed: float  # order
    first: np.ndarray  # |δ₁|
    second: np.ndarray  # |δ₂|
    cosine: np.ndarray  # between them, at the end
    kind: str  # of system
    turned: float  # by the fastest body (rad)

    @classmethod
    def of(cls, steps: int, method: Any, length: float, paths: tuple[Path, Path, Path]) -> Triple:
        """Of a motion that takes so long (s)."""
        a, b, c = paths
        one, two = b.to(a), c.to(b)
        u, v = (x[-1].reshape(*x.shape[1:-2], -1) for x in (one, two))
        lengths = np.linalg.norm(u, axis=-1) * np.linalg.norm(v, axis=-1)
        cosine = np.sum(u * v, axis=-1) / np.where(lengths > 0, lengths, 1.0)
        return cls(steps, method.order, size(one), size(two), cosine, method.kind, c.fastest * length)

    @property
    def floor(self) -> float:
        return self.floor_of(self.steps)

    def floor_of(self, steps: int) -> float:
        """What round-off leaves of the same motion in so many steps."""
        return round_off(self.kind, self.claimed, steps, self.turned)

    @cached_property
    def order(self) -> np.ndarray:
        """Observed at the end: log₂ Q; NaN where no difference is left."""
        return _order(self.first[-1], self.second[-1])

    @cached_property
    def order_on_the_way(self) -> np.ndarray:
        """The same of the largest differences on the way."""
        return _order(self.first.max(axis=0), self.second.max(axis=0))

    @property
    def least(self) -> float:
        """The least order that is taken for the one claimed."""
        return self.claimed - max(0.5, 0.1 * self.claimed)

    @cached_property
    def at_round_off(self) -> np.ndarray:
        """Where all differences are no more than round-off may leave."""
        return self.second.max(axis=0) <= _NOISE * self.floor

    @cached_property
    def small(self) -> np.ndarray:
        """Where the differences are small enough to tell an order by."""
        return self.first.max(axis=0) <= _LINEAR

    @cached_property
    def in_order(self) -> np.ndarray:
        with np.errstate(invalid="ignore"):  # NaN is no order
            seen = (self.order >= self.least) & (self.order_on_the_way >= self.least)
        return self.small & seen & (self.cosine >= _PARALLEL)

    @property
    def trustworthy(self) -> np.ndarray:
        return self.in_order | (self.at_round_off & self.small)

    def error(self, which: int) -> tuple[np.ndarray, np.ndarray]:
        """Of the run in n (0), 2n (1) or 4n (2) steps: at the end, and the largest on the way. Where no order is seen,
        how far it is from the finest, or that from it. A quotient better than the claimed one is not counted on, as it
        may come from terms that fall faster than what is left."""
        with np.errstate(divide="ignore", invalid="ignore"):
            q = self.first[-1] / self.second[-1]
        q = np.clip(q, 2.0 ** min(self.least, 1e2), 2.0 ** min(self.claimed, 1e2))
        by_order = (q * q, q, 1.0)[which] / (q - 1.0)
        ends = (self.first[-1], self.second[-1]), (self.first.max(axis=0), self.second.max(axis=0))
        end, most = (np.where(self.in_order, by_order * s, s if which else f + s) + self.floor for f, s in ends)
        return end, most

    @property
    def apart_from(self) -> int:
        """The first sample at which the finer two are too far apart to tell an order, or the number of samples."""
        far = np.asarray((self.second > _LINEAR).reshape(len(self.second), -1).any(axis=1))
        return int(far.argmax()) if far.any() else len(far)


def _order(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log2(first / second)
