"""`audit`: a certificate of what a method keeps, measured from its step map."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from polhode.methods import Method, method_of
from polhode.verify.claims import claims
from polhode.verify.conservation import QUANTITIES, Deviation, deviation
from polhode.verify.order import Convergence, converge
from polhode.verify.structure import invariant_defects, poisson_defect, symmetry_defect, symplectic_defect
from polhode.verify.trials import trials_for

HOLDS = 1e-12  # a defect below this is round-off


@dataclass(frozen=True)
class Certificate:
    """Measurements of one method. `yes(property)` answers for the columns of Vilmart's Table 2."""

    method: Method
    convergence: dict[str, Convergence]  # by case
    deviations: dict[str, Deviation]  # by trait
    defects: dict[str, float]  # of one step: Qy, C, H, Poisson, symplectic, symmetric
    contradictions: list[str] = field(default_factory=list)  # claims that the measurements break

    @property
    def order(self) -> float:
        """The least over the cases; inf where round-off is all there is."""
        return min(c.order for c in self.convergence.values())

    def yes(self, what: str) -> bool:
        """By the defect of one long step and, for Qy, C and H, by 10⁵ short ones too."""
        trait = {"Qy": "spatial_momentum", "C": "momentum_length", "H": "energy"}.get(what)
        return self.defects[what] < HOLDS and (trait is None or self.deviations[trait].kind == "exact")

    @cached_property
    def record(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "method": self.method.name,
            "order": {case: c.order for case, c in self.convergence.items()},
            "conserved": {
                f"{QUANTITIES[trait][0]}, {QUANTITIES[trait][1]}": {"kind": d.kind, "largest": float(d.size.max())}
                for trait, d in self.deviations.items()
            },
            "defects": self.defects,
            "ticks": {what: self.yes(what) for what in ("Qy", "C", "H", "Poisson", "symplectic", "symmetric")},
            "contradictions": self.contradictions,
        }

    def plot(self, path: Any = None) -> Any:
        """Convergence, and deviations over 10⁵ steps."""
        from polhode.verify.picture import draw

        return draw([self], path)

    def __str__(self) -> str:
        lines = [f"{self.method.name}: audit"]
        lines += [f"  order {c.order:.2f}  ({case})" for case, c in self.convergence.items()]
        for trait, d in self.deviations.items():
            what, where, _ = QUANTITIES[trait]
            lines.append(f"  {what} ({where}): {d.kind}, {d}")
        lines += [
            f"  {name}: {'yes' if size < HOLDS else 'no'}, defect {size:.1e}" for name, size in self.defects.items()
        ]
        lines += [f"  CONTRADICTED: {c}" for c in self.contradictions]
        return "\n".join(lines)


def audit(method: Method | type[Method] | str) -> Certificate:
    """Measure a method, built-in or your own: some ten seconds."""
    chosen = method_of(method)
    traits = ["energy", "spatial_momentum", "momentum_length"]
    if chosen.traits.loads != "none":
        traits += ["top_energy", "vertical_momentum"]
    contradictions = []
    for claim in claims(chosen):
        holds, measured = claim.measure()
        if not holds:
            contradictions.append(f"{claim.statement}: {measured}")
    return Certificate(
        chosen,
        {case.name: converge(chosen, case) for case in trials_for(chosen.traits.loads)},
        {trait: deviation(chosen, trait) for trait in traits},
        {
            **invariant_defects(chosen),
            "Poisson": poisson_defect(chosen),
            "symplectic": symplectic_defect(chosen),
            "symmetric": symmetry_defect(chosen),
        },
        contradictions,
    )
