"""`Look`: new samples of a run, looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import numpy as np

from polhode.results.surely import Few


@dataclass(frozen=True)
class Look:
    """A Run whose samples `rows` they are, among others; drifts at each of them by name, members behind; and what is
    known of all samples up to the last of them."""

    run: Any
    rows: slice
    drifts: Mapping[str, np.ndarray]
    gauges: Mapping[str, np.ndarray]
    acted: bool = False  # whether an event changed the motion

    @cached_property
    def few(self) -> Few:
        """They alone, of one body."""
        run, rows = self.run, self.rows
        attitude, momentum = jax.tree.map(lambda x: x[rows], (run.state.attitude, run.state.momentum))
        return Few(attitude, momentum, run["energy"][rows], run["spatial_momentum"][rows], self.gauges)

    def at(self, i: int) -> tuple[int, float]:
        """Where the sample i of these is: steps, and seconds after them."""
        j, offsets = self.rows.start + i, self.run.trajectory.offsets
        return int(self.run.trajectory.steps[j]), 0.0 if offsets is None else float(offsets[j])
