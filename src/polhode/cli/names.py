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
    known: dict[str, Iterable[str]] = {
        "method": all_methods(),
        "problem": PROBLEMS,
        "source": PROBLEMS,
        "paper": PAPERS,
    }
    files = glob(f"{escape(begun)}*") if kind == "source" else []
    return [
        *(name for name in known.get(kind, PROBLEMS) if name.startswith(begun)),
        *(f for f in files if f.endswith(_FILES)),
    ]
