"""`claims(method)`: every trait of a method as a check that can fail.

The test-suite runs them for every built-in method, and a user for a method of their own:

    @pytest.mark.parametrize("claim", polhode.claims(MyMethod()), ids=str)
    def test_claims(claim):
        claim.check()
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from polhode.model.method import Method
from polhode.model.registry import method_of
from polhode.verify.conservation import Kept, deviation, worst
from polhode.verify.measures import measures_of
from polhode.verify.order import Trial, converge


@dataclass(frozen=True)
class Claim:
    """Something a method says of itself, and how to measure it."""

    method: Method
    statement: str
    measure: Callable[[], tuple[bool, str]]

    def check(self) -> str:
        """The measurement in words; AssertionError if it contradicts the claim."""
        holds, measured = self.measure()
        if not holds:
            raise AssertionError(f"{self}: {measured}")
        return measured

    def __str__(self) -> str:
        return f"{self.method.name}: {self.statement}"


def claims(method: Method | type[Method] | str) -> list[Claim]:
    """All that the traits of `method` claim."""
    method = method_of(method)
    measures = measures_of(method)
    return [
        *(_order(method, trial) for trial in measures.trials(method)),
        *(_conserved(method, kept) for kept in by_trait(measures.kept(method))),
        *(_geometry(method, word) for word in measures.geometry),
    ]


def _order(method: Method, trial: Trial) -> Claim:
    order = method.traits.order
    exact = math.isinf(order) or (trial.free and _exact_when_free(method))

    def measure() -> tuple[bool, str]:
        c = converge(method, trial)
        words = f"order {c.order:.3f}; errors " + ", ".join(f"{e:.1e}" for e in c.errors)
        if exact:
            return bool(c.errors[0] < 1e-12), words
        # Symmetric methods may do better than claimed where their own kinetic part is better.
        enough = c.order > order - max(0.2, 0.03 * order)
        return bool(enough and (c.order < order + max(0.45, 0.1 * order) or trial.free)), words

    return Claim(method, "exact, free body" if exact else f"order {order}, {trial.name}", measure)


def _exact_when_free(method: Method) -> bool:
    """A splitting or composition whose free motion is solved exactly."""
    inner = getattr(method, "kinetic", None) or getattr(method, "base", None)
    return inner is not None and (math.isinf(inner.traits.order) or _exact_when_free(inner))


def by_trait(kept: Sequence[Kept]) -> list[list[Kept]]:
    """Those of one trait together: it is kept as well as in the worst of its courses."""
    return [[k for k in kept if k.trait == trait] for trait in dict.fromkeys(k.trait for k in kept)]


def _conserved(method: Method, kept: list[Kept]) -> Claim:
    trait = getattr(method.traits, kept[0].trait)
    claimed = "exact" if trait is True else trait

    def measure() -> tuple[bool, str]:
        found = [deviation(method, k) for k in kept]
        kind = worst(found)
        # The error of a method of high order may lie below round-off.
        invisible = claimed != "exact" and kind == "exact" and method.traits.order > 2
        where = [f"{k}, " if len(kept) > 1 else "" for k in kept]
        words = "; ".join(f"{w}{d.kind}: {d}" for w, d in zip(where, found, strict=True))
        return kind == claimed or invisible, words

    courses = " and ".join(k.course.name for k in kept)
    return Claim(method, f"{kept[0].what} {claimed}, {courses}", measure)


def _geometry(method: Method, word: str) -> Claim:
    measures = measures_of(method)
    trait, defect = measures.geometry[word]
    claimed = getattr(method.traits, trait)

    def measure() -> tuple[bool, str]:
        size = defect(method)
        return (size < measures.holds if claimed else size > measures.broken), f"defect of one step {size:.1e}"

    return Claim(method, word if claimed else f"not {word}", measure)
