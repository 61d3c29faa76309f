"""Names that a shell completes."""

from __future__ import annotations

from collections.abc import Iterable
from glob import escape, glob

from polhode.model.registry import all_methods
from polhode.problems import PROBLEMS

PAPERS = ("krysl", "solfec-top", "vilmart", "nontwisting", "three-field")  # to import them takes half a second more
_FILES = (".toml", ".zarr", ".nc", ".csv")


def completed(kind: str, begun: str) -> list[str]:
    """Every "method", "paper" or "problem" that begins so; of a "source" of runs files, too."""
    known: dict[str, Iterable[str]] = {"method": all_methods(), "paper": PAPERS}
    files = glob(f"{escape(begun)}*") if kind == "source" else []
    names = (*known.get(kind, PROBLEMS), *(file for file in files if file.endswith(_FILES)))
    return [name for name in names if name.startswith(begun)]
