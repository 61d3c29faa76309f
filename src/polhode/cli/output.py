"""JSON that every parser reads, alone on stdout: numbers that are not finite become null."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from typing import Any

_STDOUT: ContextVar[Any] = ContextVar("where the document goes; sys.stdout unless said", default=None)


@contextmanager
def only_json(as_json: bool) -> Iterator[None]:
    """While a document is made, what else is printed, as by a module of the user's, goes to stderr."""
    if not as_json:
        yield
        return
    token = _STDOUT.set(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _STDOUT.reset(token)


def print_json(data: Any) -> None:
    """One document on stdout."""
    print(json.dumps(_strict(data), allow_nan=False), file=_STDOUT.get())


def _strict(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _strict(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(v) for v in value]
    if hasattr(value, "item"):  # a numpy number
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
