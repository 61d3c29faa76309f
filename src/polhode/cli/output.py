"""JSON that every parser reads: numbers that are not finite become null."""

from __future__ import annotations

import json
import math
from typing import Any


def print_json(data: Any) -> None:
    """One document on stdout."""
    print(json.dumps(_strict(data), allow_nan=False))


def _strict(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _strict(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(v) for v in value]
    if hasattr(value, "item"):  # a numpy number
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
