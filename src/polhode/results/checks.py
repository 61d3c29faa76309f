"""What is looked for in the samples of a run while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polhode.results.condition import Condition
from polhode.results.halt import Halt
from polhode.results.look import Look

Check = Callable[[Look], Halt | None]


def checks_of(run: Any, stop_if: str | None, sentinels: bool) -> tuple[Check, ...]:
    """Each says where the run is to end, if it is."""
    return () if stop_if is None else (Condition.parse(stop_if, run),)
