"""Compositions of a symmetric method with itself, to higher order: coefficients as data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from polhode.model.combinator import Combinator
from polhode.model.method import Method, Step
from polhode.model.traits import Traits
from polhode.solve import Report


@dataclass(frozen=True)
class Weights:
    """Fractions of the step, one after the other; a palindrome that sums to 1."""

    name: str
    order: int  # from a symmetric method of order 2
    fractions: tuple[float, ...]
    paper: str = "Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), V.3"


def _palindrome(*half: float) -> tuple[float, ...]:
    """The given fractions, what is left to 1 in the middle, and the same backwards."""
    return (*half, 1.0 - 2.0 * sum(half), *reversed(half))


_YOSHIDA = 1.0 / (2.0 - 2.0 ** (1 / 3))
_SUZUKI = 1.0 / (4.0 - 4.0 ** (1 / 3))

TRIPLE4 = Weights("triple4", 4, _palindrome(_YOSHIDA))
SUZUKI4 = Weights("suzuki4", 4, _palindrome(_SUZUKI, _SUZUKI))
KAHAN_LI6 = Weights(
    "kahan-li6",
    6,
    _palindrome(
        0.39216144400731413927925056,
        0.33259913678935943859974864,
        -0.70624617255763935980996482,
        0.08221359629355080023149045,
    ),
    "Kahan, Li, Math. Comput. 66 (1997) 1089-1099",
)
KAHAN_LI8 = Weights(
    "kahan-li8",
    8,
    _palindrome(
        0.13020248308889008087881763,
        0.56116298177510838456196441,
        -0.38947496264484728640807860,
        0.15884190655515560089621075,
        -0.39590389413323757733623154,
        0.18453964097831570709183254,
        0.25837438768632204729397911,
        0.29501172360931029887096624,
    ),
    "Kahan, Li, Math. Comput. 66 (1997) 1089-1099",
)
WEIGHTS = {weights.name: weights for weights in (TRIPLE4, SUZUKI4, KAHAN_LI6, KAHAN_LI8)}


@dataclass(frozen=True)
class Composition(Combinator):
    """Steps of γ₁h, γ₂h, ... of a symmetric second-order method, one after the other: order 4, 6 or 8.

    Keeps whatever the base method keeps exactly (momentum, symmetry, the symplectic form, joints).
    Triple jump and Suzuki's five steps (order 4), Kahan & Li's 9 (order 6) and 17 (order 8). Of a system, the
    multipliers that it returns are those of the last of these steps, half of γh back: of second order, whatever the
    order of the motion."""

    weights: Weights
    base: Method

    @property
    def name(self) -> str:  # type: ignore[override]
        """WEIGHTS-METHOD."""
        return f"{self.weights.name}-{self.base.name}"

    @property
    def summary(self) -> str:
        return f"{len(self.weights.fractions)} steps of {self.base.name} in one"

    @property
    def paper(self) -> str:  # type: ignore[override]
        """Of the weights."""
        return self.weights.paper

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """Those of the base, with the order of the composition."""
        return replace(self.base.traits, order=self.weights.order, half_step_energy=False)

    @property
    def rungs(self) -> tuple[Method, ...]:
        return tuple(replace(self, base=base) for base in self.base.rungs)

    def step(self, system: Any, state: Any, t: Any, h: Any) -> Step:
        state = self.begin(system, state)

        def part(now: Any, fraction: Any) -> Any:
            state, report, t = now
            result = self.base.step(system, state, t, fraction * h)
            return result.state, report.then(result.report), t + fraction * h

        state, report, _ = in_turn(part, (state, Report.explicit(), t), list(self.weights.fractions))
        return Step(state, report)


def in_turn(stage: Callable[[Any, Any], Any], start: Any, rows: list[Any]) -> Any:
    """`stage` applied for one row of coefficients after the other: unrolled if few, else a
    loop, whose body is compiled once."""
    if len(rows) <= 2:
        for row in rows:
            start = stage(start, row)
        return start
    shape = start[0].shape
    start = jax.tree.map(lambda x: jnp.broadcast_to(x, jnp.shape(x) or shape), start)
    return lax.scan(lambda now, row: (stage(now, row), None), start, jnp.asarray(rows))[0]
