"""`kept_bytes`: what takes long to make, kept on disk beside other programs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from polhode._programs.files import read_bytes, write_bytes
from polhode._programs.folder import bounded, traced_folder


def kept_bytes(kind: str, what: str, make: Callable[[], bytes]) -> bytes:
    """Those that were made before of the same; `what` tells them from others of their kind."""
    folder = traced_folder()
    path = None if folder is None else folder / f"{kind}-{hashlib.sha256(what.encode()).hexdigest()[:40]}"
    found = None if path is None else read_bytes(path)
    if found is None:
        found = make()
        if path is not None:
            write_bytes(path, found)
            bounded()
    return found
