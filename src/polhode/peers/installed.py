"""Which peers are installed, and how to get those that are not."""

from __future__ import annotations

import contextlib
import importlib
import sys
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

from polhode.model.checks import InputError

PACKAGES = {
    "exudyn": "exudyn",
    "mujoco": "mujoco",
    "sksundae": "scikit-sundae",
    "diffrax": "diffrax",
    "numba": "numba",
}  # module: distribution


def available() -> dict[str, str | None]:
    """The version of each peer by its package name; None where it is not installed."""
    found: dict[str, str | None] = {}
    for package in PACKAGES.values():
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


def load(module: str) -> ModuleType:
    """The module of a peer, or `module.part`; one that is not installed is an InputError."""
    top = module.partition(".")[0]
    if top == "exudyn" and top not in sys.modules:
        # Its build without range checks is the one to compare times with, and is chosen before the first import.
        sys.exudynFast = True  # type: ignore[attr-defined]
    try:
        with contextlib.redirect_stdout(None):  # Exudyn says which build it took
            importlib.import_module(top)
    except ModuleNotFoundError as error:
        if error.name != top:
            raise
        raise InputError(
            f"this run needs {PACKAGES[top]}, which is not installed; install it with: pip install 'polhode[peers]'"
        ) from error
    return importlib.import_module(module)
