"""How much room the dataset of a run takes."""

from __future__ import annotations

import math
from typing import Any

import jax
import numpy as np


def later(run: Any) -> int:
    """Numbers a sample takes in a dataset, on the way to it and into a file: its quantities, but for those that are
    arrays of its states, and more than half as much again where they are made of others; measured 1.4 to 1.8."""
    if run.members:  # of each
        kinds = [q for q in run.quantities.values() if q.whole or q.made_of or q.name in run.judged]
        counts = [math.prod(len(run.known.labels.get(d, "xyz")) for d in q.dims) for q in kinds]
        return int(1.7 * math.prod(run.members) * sum(counts))
    states, total = jax.tree.leaves(run.state), 0
    for q in run.quantities.values():
        if q.whole or q.made_of or q.name in run.judged:
            values = run[q.name]
            total += 0 if any(np.may_share_memory(values, x) for x in states) else values[0].size
        else:
            total += math.prod(len(run.known.labels.get(d, "xyz")) for d in q.dims)
    return int(1.7 * total)
