"""`Sweep`: what became of every member, and all of them as one dataset with named dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from polhode.results.plots import Plots
from polhode.results.store import load
from polhode.sweeps.design import Design


@dataclass(frozen=True)
class Sweep:
    """What `sweep` returns. `sweep.dataset` holds all members; `sweep.failed` those that failed, with the reason."""

    path: Path
    design: Design
    outcomes: tuple[Mapping[str, Any], ...]  # of every member, in their order

    @property
    def ok(self) -> bool:
        """Whether every member came to its end."""
        return not self.failed

    @cached_property
    def failed(self) -> dict[int, str]:
        """Members that failed, by number, and why."""
        return {o["member"]: o["why"] for o in self.outcomes if not o["ok"]}

    @cached_property
    def dataset(self) -> Any:
        """xarray: the dimensions of the design, those of a run behind them."""
        return load(self.path)

    @cached_property
    def plot(self) -> Plots:
        """`plot()` for a page of curves, coloured by the first coordinate; `plot.energy()` for one."""
        return Plots(self.dataset)

    def summary(self) -> list[dict[str, Any]]:
        """A record of every member: what is swept, how it ended, and why if it failed."""
        records = []
        for o in self.outcomes:
            own = {"member": o["member"], "parameters": self.design.member(o["member"])}
            records.append({**own, **{k: o[k] for k in ("ok", "status", "steps", "end_time", "why")}})
        return records

    def __repr__(self) -> str:
        words = [f"\n  member {i}: {why}" for i, why in list(self.failed.items())[:5]]
        more = f"\n  and {len(self.failed) - 5} more" if len(self.failed) > 5 else ""
        by = ", ".join(self.design.values)
        return (
            f"<polhode sweep of {self.design.count} runs over {by}, in {str(self.path)!r}; {len(self.failed)} failed"
            f"{''.join(words)}{more}>"
        )
