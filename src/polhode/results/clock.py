"""`Clock`: who writes a run, since when, and how fast. It is no part of the run: two that are alike differ in it."""

from __future__ import annotations

import json
import os
import platform
import time
from pathlib import Path
from typing import Any

from polhode.results.durable import written

NAME = "clock.json"
_EVER = 1e18


class Clock:
    """In the hidden folder of a run."""

    def __init__(self, folder: Path, done: int, total: int) -> None:
        self._path, self._first = folder / NAME, done
        self._before, self._began = float(read(folder).get("seconds", 0.0)), time.monotonic()
        self._epoch = time.time()
        self.write(done, total)

    @property
    def seconds(self) -> float:
        """Of all that wrote it."""
        return self._before + time.monotonic() - self._began

    def write(self, done: int, total: int) -> None:
        now = time.monotonic() - self._began
        rate = (done - self._first) / max(now, 1e-9)
        about = {"process": os.getpid(), "host": platform.node(), "began": self._epoch, "seconds": self._before + now,
                 "written": time.time(), "rate": rate, "steps": done, "total": total}  # fmt: skip
        written(self._path, json.dumps(about).encode())


def read(folder: Path) -> dict[str, Any]:
    """What it says; nothing where it is not there, or spoilt."""
    try:
        found = json.loads((folder / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    known = found if isinstance(found, dict) else {}
    return {k: v for k, v in known.items() if k == "host" or (isinstance(v, int | float) and abs(v) < _EVER)}
