"""A dataset as a table of pandas: one row a sample."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from polhode.results.families import member_dims


def dataframe_of(dataset: Any) -> Any:
    """Columns as in a .csv: `energy`, `momentum_x`, `position_wheel_x`. The index is time (s), of a batch time and
    member. What belongs to no sample, such as how a member ended, is in the dataset alone."""
    import pandas

    rows = ("t", *member_dims(dataset))
    sizes = {d: dataset.sizes[d] for d in rows}
    columns: dict[str, np.ndarray] = {}
    for name in ("step_count", *(name for name, values in dataset.data_vars.items() if "t" in values.dims)):
        values = dataset[name]
        inside = [d for d in values.dims if d not in rows]
        wide = values.expand_dims({d: n for d, n in sizes.items() if d not in values.dims}).transpose(*rows, *inside)
        labels = list(itertools.product(*(dataset[d].values for d in inside)))
        table = np.asarray(wide).reshape(math.prod(sizes.values()), len(labels))
        columns |= {"_".join((name, *label)): table[:, i] for i, label in enumerate(labels)}
    each = [dataset[d].values if d in dataset.coords else np.arange(n) for d, n in sizes.items()]
    index = pandas.Index(each[0], name="t") if len(rows) == 1 else pandas.MultiIndex.from_product(each, names=rows)
    return pandas.DataFrame(columns, index=index)
