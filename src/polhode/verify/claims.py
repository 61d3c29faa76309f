"""`claims(method)`: every trait of a method as a check that can fail.

The test-suite runs them for every built-in method, and a user for a method of their own:

    @pytest.mark.parametrize("claim", polhode.claims(MyMethod()), ids=str)
    def test_claims(claim):
        claim.check()
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from polhode.methods import Method, method_of
from polhode.verify.conservation import QUANTITIES, deviation
from polhode.verify.order import converge
from polhode.verify.structure import poisson_defect, symmetry_defect, symplectic_defect
from polhode.verify.trials import Trial, trials_for

_HOLDS, _BROKEN = 1e-12, 1e-10  # of defects of one step


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
    traits = method.traits
    found = [_order(method, case) for case in trials_for(traits.loads)]
    found += [_conserved(method, trait) for trait in ("energy", "spatial_momentum", "momentum_length")]
    if traits.loads != "none":
        found += [_conserved(method, trait) for trait in ("top_energy", "vertical_momentum")]
    if traits.half_step_energy:
        found.append(_conserved(method, "half_step_energy"))
    found.append(_geometry(method, "symmetric", traits.symmetric, symmetry_defect))
    found.append(_geometry(method, "Poisson", traits.poisson, poisson_defect))
    found.append(_geometry(method, "symplectic", traits.symplectic, symplectic_defect))
    return found


def _order(method: Method, case: Trial) -> Claim:
    order = method.traits.order
    exact = math.isinf(order) or (case.load is None and _exact_when_free(method))

    def measure() -> tuple[bool, str]:
        c = converge(method, case)
        words = f"order {c.order:.3f}; errors " + ", ".join(f"{e:.1e}" for e in c.errors)
        if exact:
            return bool(c.errors[0] < 1e-12), words
        # Symmetric methods may do better than claimed where their own kinetic part is better.
        enough = c.order > order - max(0.2, 0.03 * order)
        return bool(enough and (c.order < order + max(0.45, 0.1 * order) or case.load is None)), words

    return Claim(method, "exact, free body" if exact else f"order {order}, {case.name}", measure)


def _exact_when_free(method: Method) -> bool:
    """A splitting or composition whose free motion is solved exactly."""
    inner = getattr(method, "kinetic", None) or getattr(method, "base", None)
    return inner is not None and (math.isinf(inner.traits.order) or _exact_when_free(inner))


def _conserved(method: Method, trait: str) -> Claim:
    what, where, _ = QUANTITIES[trait]
    claimed = "exact" if trait == "half_step_energy" else getattr(method.traits, trait)

    def measure() -> tuple[bool, str]:
        d = deviation(method, trait)
        # The bounded error of a method of high order may lie below round-off.
        invisible = claimed == "bounded" and d.kind == "exact" and method.traits.order > 2
        return d.kind == claimed or invisible, f"{d.kind}: {d}"

    return Claim(method, f"{what} {claimed}, {where}", measure)


def _geometry(method: Method, word: str, claimed: bool, defect: Callable[[Method], float]) -> Claim:
    def measure() -> tuple[bool, str]:
        size = defect(method)
        return (size < _HOLDS if claimed else size > _BROKEN), f"defect of one step {size:.1e}"

    return Claim(method, word if claimed else f"not {word}", measure)
