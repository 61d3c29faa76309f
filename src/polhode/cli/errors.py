"""The column of `polhode run` for runs to a tolerance: their errors, estimated."""

from __future__ import annotations

from typing import Any

import numpy as np


def _any(runs: list[Any]) -> bool:
    return any(run.estimate is not None for run in runs)


def error_heading(runs: list[Any]) -> tuple[str, ...]:
    return ("error at end",) if _any(runs) else ()


def error_cell(runs: list[Any], run: Any) -> tuple[str, ...]:
    if not _any(runs):
        return ()
    return ("unknown" if run.estimate is None else f"{np.max(run.estimate.error):.1e}",)


def error_words(runs: list[Any]) -> str:
    said = " Errors at the end are estimated, in rad, and relative to the momentum or to the size of a system."
    return said if _any(runs) else ""
