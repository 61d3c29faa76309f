"""Natsiavas, Passas & Paraskevopoulos: the three-field method on a rolling sphere, a rolling disk and a bicycle."""

from __future__ import annotations

from functools import partial
from typing import Any

from polhode.papers.base import Paper, Part, Result, Say
from polhode.papers.catalogue import THREE_FIELD
from polhode.papers.three_field_bicycle import bicycles
from polhode.papers.three_field_rolling import disk_cyclic, disk_perturbed, disk_straight
from polhode.papers.three_field_sphere import sphere
from polhode.papers.three_field_wobbling import disk_wobbling

PARTS = {
    sphere: ("5.1", "fig2"),
    disk_wobbling: ("5.2", "fig4", "fig5"),
    disk_cyclic: ("fig6",),
    disk_straight: ("fig7",),
    disk_perturbed: ("fig8",),
    bicycles: ("5.3", "fig10", "fig11", "fig12"),
}


def whole(part: Any, say: Say) -> Result:
    """A part at the sizes of the paper."""
    return Result(*part(say))


PAPER = Paper(
    "three-field",
    "Natsiavas, Passas, Paraskevopoulos: a three-field time-stepping method for nonholonomic multibody systems (2021)",
    tuple(Part(part.__name__.replace("_", " "), partial(whole, part), items) for part, items in PARTS.items()),
    THREE_FIELD,
    "https://doi.org/10.1007/s11071-021-06500-5",
)
