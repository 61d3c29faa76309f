"""`Observable`: what a system says is worth watching, along a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Observable:
    """A named quantity along a run."""

    values: np.ndarray  # (samples, *batch)
    unit: str
    meaning: str
