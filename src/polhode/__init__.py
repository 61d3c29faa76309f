"""polhode integrates rigid-body motion so that what nature conserves, the computer conserves too.

Importing it turns JAX's 64-bit mode on, raises one limit of XLA's CPU compiler and, if
no cache was chosen, keeps compiled programs on disk (see `polhode._startup`). Names are
imported when first used, so `import polhode` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

from polhode import _startup

__version__ = "0.1.0"

_startup.prepare()

_HOME = {
    "NonTwistingBody": "rotation",
    "RigidBody": "rotation",
    "Potential": "rotation",
    "Torque": "rotation",
    "State": "rotation",
    "Rotation": "rotation",
    "System": "multibody",
    "InputError": "model",
    "Vec3": "algebra",
    "Mat3": "algebra",
    "Quaternion": "algebra",
    "exp": "algebra",
    "log": "algebra",
    "cayley": "algebra",
    "Method": "model.method",
    "Traits": "model.traits",
    "Step": "model.method",
    "Problem": "model.problem",
    "problem": "problems",
    "simulate": "api",
    "resume": "resuming",
    "sweep": "sweeps",
    "batch": "given",
    "Event": "simulation.events",
    "flow": "simulation.flow",
    "StepError": "simulation",
    "Interrupted": "simulation",
    "Run": "results",
    "Plots": "results",
    "load": "results",
    "claims": "verify",
    "audit": "verify",
    "quotient": "verify",
    "exact": "methods",
}
_MODULES = (
    *("algebra", "drawing", "events", "methods", "model", "multibody", "papers"),
    *("problems", "results", "rotation", "solve", "verify"),
)  # fmt: skip
__all__ = ["__version__", *_HOME, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        found = globals()[name] = getattr(importlib.import_module(f"polhode.{_HOME[name]}"), name)
        return found
    if name in _MODULES:
        return importlib.import_module(f"polhode.{name}")
    raise AttributeError(f"module 'polhode' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
