"""Trajectories as datasets, files and pictures."""

from __future__ import annotations

import importlib
from typing import Any

from polhode.results.run import Run

_LATER = {  # these import xarray, which takes its time
    "Actor": "scene",
    "Plots": "plots",
    "Scene": "scene",
    "SystemRun": "system_run",
    "Trail": "scene",
    "animate": "animation",
    "load": "store",
    "save": "store",
}
__all__ = ["Actor", "Plots", "Run", "Scene", "SystemRun", "Trail", "animate", "load", "save"]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(importlib.import_module(f"polhode.results.{_LATER[name]}"), name)
    raise AttributeError(f"module 'polhode.results' has no attribute {name!r}")
