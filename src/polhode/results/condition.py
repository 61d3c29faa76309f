"""`Condition`: when a run is to end, "energy.drift > 1e-6", by the grammar of formulas."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from polhode.model.checks import InputError, shown
from polhode.results.gauges import gauged_in
from polhode.results.halt import Halt
from polhode.results.look import Look
from polhode.rotation.formulas import Expression
from polhode.simulation import Status

_SIGNS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
_DRIFT = ".drift"


@dataclass(frozen=True)
class Condition:
    """Holds where the left formula is less, or greater, than the right one. Both are of t, of quantities that are one
    number, of observables, and of drifts, `energy.drift`: how far a quantity is from its start, relative to its
    size."""

    text: str
    left: Expression
    sign: str
    right: Expression

    @classmethod
    def parse(cls, text: Any, run: Any) -> Condition:
        parts = re.split(r"(<=|>=|<|>)", text if isinstance(text, str) else "")
        if len(parts) != 3:
            raise InputError(
                f"stop_if is a condition with one of < <= > >=, as in 'energy.drift > 1e-6'; got {shown(text)}"
            )
        names = ("t", *(f"{name}{_DRIFT}" for name in gauged_in(run)), *_scalars(run))
        left, right = (Expression.parse(part, names) for part in (parts[0], parts[2]))
        if not left.names | right.names:
            raise InputError(f"stop_if is always the same: {shown(text)} names nothing of the run")
        return cls(text.strip(), left, parts[1], right)

    def __call__(self, look: Look) -> Halt | None:
        values = _Values(look)
        with np.errstate(all="ignore"):
            holds = _SIGNS[self.sign](*(np.asarray(side(values)) for side in (self.left, self.right)))
        holds = np.atleast_1d(holds)
        first = holds.any(axis=tuple(range(1, holds.ndim)))
        if not first.any():
            return None
        i = int(first.argmax())
        shown_as = ", ".join(f"{name} = {np.max(np.asarray(values[name])[i]):.6g}" for name in sorted(values.asked))
        t = float(look.run.t[look.rows][i])
        return Halt(Status.STOPPED, look.at(i), f"stopped at t = {t:.9g} as {self.text} ({shown_as})")


class _Values(Mapping[str, Any]):
    """At the new samples, by name."""

    def __init__(self, look: Look) -> None:
        self.look, self.asked = look, set[str]()

    def __getitem__(self, name: str) -> Any:
        self.asked.add(name)
        if name == "t":
            members = len(self.look.run.members)
            return self.look.run.t[self.look.rows].reshape(-1, *[1] * members)
        if name.endswith(_DRIFT):
            return self.look.drifts[name.removesuffix(_DRIFT)]
        run = self.look.run
        return run[next(q.name for q in run.quantities.values() if name in (q.given, q.name))][self.look.rows]

    def __iter__(self) -> Any:
        return iter(self.asked)

    def __len__(self) -> int:
        return len(self.asked)


def _scalars(run: Any) -> tuple[str, ...]:
    """Names by which quantities that are one number can be called in a formula."""
    single = [q for q in run.quantities.values() if not q.dims]
    return tuple(dict.fromkeys(name for q in single for name in (q.given, q.name) if name.isidentifier()))
