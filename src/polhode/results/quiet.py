"""Zarr without its warnings of what we know."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_one = threading.RLock()  # filters of warnings are those of the process: threads would put back each other's


@contextmanager
def quietly() -> Iterator[None]:
    """Labels of fixed length are not yet in zarr's specification."""
    with _one, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*(not have a Zarr V3|Consolidated metadata).*")
        yield
