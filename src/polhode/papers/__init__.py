"""The papers, recomputed: one file each says what was printed and what to run."""

from __future__ import annotations

from polhode.model.checks import unknown
from polhode.papers.base import Check, Paper, PaperFigure, Part, Result
from polhode.papers.items import Item
from polhode.papers.krysl import PAPER as KRYSL
from polhode.papers.non_twisting import PAPER as NONTWISTING
from polhode.papers.solfec_top import PAPER as SOLFEC_TOP
from polhode.papers.three_field import PAPER as THREE_FIELD
from polhode.papers.vilmart import PAPER as VILMART

PAPERS = {paper.id: paper for paper in (KRYSL, SOLFEC_TOP, VILMART, NONTWISTING, THREE_FIELD)}


def paper_of(name: str) -> Paper:
    """A paper by its id; an InputError names those there are."""
    if name not in PAPERS:
        raise unknown("paper", name, PAPERS)
    return PAPERS[name]


__all__ = ["PAPERS", "Check", "Item", "Paper", "PaperFigure", "Part", "Result", "paper_of"]
