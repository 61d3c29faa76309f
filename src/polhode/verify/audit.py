"""`audit`: a certificate of what a method keeps, measured from its step map."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from polhode.model.checks import unknown
from polhode.model.method import Method
from polhode.model.registry import method_of
from polhode.verify.claims import claims
from polhode.verify.conservation import Deviation, Kept, deviation, worst
from polhode.verify.measures import Measures, measures_of
from polhode.verify.order import Convergence, converge
from polhode.verify.picture import draw


@dataclass(frozen=True)
class Certificate:
    """Measurements of one method. `yes(property)` answers for the columns of its table: of one body those of Vilmart's
    Table 2."""

    method: Method
    convergence: dict[str, Convergence]  # by trial
    deviations: dict[Kept, Deviation]
    defects: dict[str, float]  # of one step
    contradictions: list[str] = field(default_factory=list)  # claims that the measurements break

    @property
    def measures(self) -> Measures:
        """What is measured of methods of this kind."""
        return measures_of(self.method)

    @property
    def order(self) -> float:
        """The least over the trials; inf where round-off is all there is."""
        return min(c.order for c in self.convergence.values())

    def kept(self, trait: str) -> str:
        """exact, bounded or drifts, in the worst of the courses in which it was looked at."""
        return worst(d for kept, d in self.deviations.items() if kept.trait == trait)

    def yes(self, what: str) -> bool:
        """By the defect of one long step and, for what a method can keep, in the long run too."""
        if what not in self.measures.columns:
            raise unknown("property", what, self.measures.columns)
        trait = self.measures.exact.get(what, what)
        followed = any(kept.trait == trait for kept in self.deviations)
        return self.defects.get(what, 0.0) < self.measures.holds and (not followed or self.kept(trait) == "exact")

    def cell(self, column: str) -> str:
        """For a table: yes or no, or how well a trait is kept."""
        if any(kept.trait == column for kept in self.deviations):
            return self.kept(column)
        return "yes" if self.yes(column) else "no"

    @cached_property
    def record(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "method": self.method.name,
            "order": {case: c.order for case, c in self.convergence.items()},
            "conserved": {
                str(kept): {"kind": d.kind, "largest": float(d.size.max())} for kept, d in self.deviations.items()
            },
            "defects": self.defects,
            "ticks": {what: self.yes(what) for what in self.measures.columns},
            "contradictions": self.contradictions,
        }

    def plot(self, path: Any = None) -> Any:
        """Convergence, and deviations in the long run."""
        return draw([self], path)

    def __str__(self) -> str:
        lines = [f"{self.method.name}: audit"]
        lines += [f"  order {c.order:.2f}  ({case})" for case, c in self.convergence.items()]
        lines += [f"  {kept.what} ({kept.course.name}): {d.kind}, {d}" for kept, d in self.deviations.items()]
        holds = self.measures.holds
        lines += [
            f"  {name}: {'yes' if size < holds else 'no'}, defect {size:.1e}" for name, size in self.defects.items()
        ]
        lines += [f"  CONTRADICTED: {c}" for c in self.contradictions]
        return "\n".join(lines)


def audit(method: Method | type[Method] | str) -> Certificate:
    """Measure a method, built-in or your own: some ten seconds, or a minute of one for systems."""
    chosen = method_of(method)
    measures = measures_of(chosen)
    contradictions = []
    for claim in claims(chosen):
        holds, measured = claim.measure()
        if not holds:
            contradictions.append(f"{claim.statement}: {measured}")
    return Certificate(
        chosen,
        {trial.name: converge(chosen, trial) for trial in measures.trials(chosen)},
        {kept: deviation(chosen, kept) for kept in measures.kept(chosen)},
        {
            **measures.invariants(chosen),
            **{word: defect(chosen) for word, (_, defect) in measures.geometry.items()},
        },
        contradictions,
    )
