"""Zarr without its warnings of what we know."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quietly() -> Iterator[None]:
    """Labels of fixed length are not yet in zarr's specification."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*(not have a Zarr V3|Consolidated metadata).*")
        yield
