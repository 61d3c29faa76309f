"""`warn`: a warning that names the line of the user's own that led to it."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

told: set[str] = set()  # of `warn_once`
_HOME = str(Path(__file__).parent) + os.sep


def warn(message: str) -> None:
    """As `warnings.warn`, from the first line outside polhode, however deep inside it is found out."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _inside(frame.f_code.co_filename):
        frame = frame.f_back
    warnings.warn_explicit(
        message,
        UserWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=frame.f_globals.get("__name__", "<unknown>"),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


def warn_once(message: str) -> None:
    """The first time in this process."""
    if message not in told:
        told.add(message)
        warn(message)


def _inside(file: str) -> bool:
    return file.startswith((_HOME, "<frozen importlib"))  # the latter between `import polhode` and its lines
