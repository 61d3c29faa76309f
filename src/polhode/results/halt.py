"""`Halt`: a run that is written ends at one of its samples; and where a quantity has no value."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from polhode.results.ended import words
from polhode.simulation import LostMember, Status


class Halt(Exception):  # noqa: N818 (it is no error)
    """At this sample (steps, seconds after them), which is the last; the one before it is, if it is `without`."""

    def __init__(
        self, status: Status, at: tuple[int, float], why: str = "", failure: Any = None, without: bool = False
    ):
        super().__init__(why)
        self.status, self.at, self.why, self.failure, self.without = status, at, why, failure or {"why": why}, without


def where_no_value(run: Any, rows: slice) -> tuple[Halt | None, list[LostMember]]:
    """Among these samples, the first in which a quantity that must have a value has none; of a batch, the members for
    which that is so, as long as others are left."""
    values = {name: run[name] for name in run.judged}
    if all(np.isfinite(v[rows]).all() for v in values.values()):
        return None, []
    count, steps, t = 1 + len(run.members), run.trajectory.steps, run.t
    good = {name: np.isfinite(v).all(axis=tuple(range(count, v.ndim))) for name, v in values.items()}
    whole = np.all(list(good.values()), axis=0)
    lost = []
    if run.members:
        there = np.isfinite(jax.tree.leaves(run.state)[0])
        gone = there & ~whole
        for member in map(tuple, np.argwhere(gone[rows].any(axis=0)).tolist()):
            i = rows.start + int(np.argmax(gone[(rows, *member)]))
            what = next(name for name in good if not good[name][i][member])
            why = f"the {words(what)} is {float(np.ravel(values[what][i][member])[0])}"
            lost.append(LostMember(member, int(steps[i]), float(t[i]), Status.NOT_FINITE, why=why))
        left = there & whole
        if left[rows].any(axis=tuple(range(1, left.ndim))).all() or not there[rows].any():
            return None, lost
        whole = left.any(axis=tuple(range(1, left.ndim)))
    i = rows.start + int(whole[rows].argmin())
    what = next(name for name in good if not np.all(good[name][i]))
    bad = ~np.isfinite(values[what][i])
    failure = {"step": int(steps[i]), "t": float(t[i]), "what": what, "value": float(values[what][i][bad].flat[0]),
               "members": np.argwhere(bad)[:5].tolist() if bad.ndim else []}  # fmt: skip
    at = int(steps[i]), float(run.trajectory.offsets[i])
    return Halt(Status.NOT_FINITE, at, failure=failure, without=True), []
