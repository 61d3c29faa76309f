"""Natsiavas, Passas & Paraskevopoulos: the three-field method on a rolling sphere, a rolling disk and a bicycle."""

from __future__ import annotations

from collections.abc import Callable

from polhode.papers.base import Paper, Result
from polhode.papers.three_field_bicycle import bicycles
from polhode.papers.three_field_rolling import disk_cyclic, disk_perturbed, disk_straight
from polhode.papers.three_field_sphere import sphere
from polhode.papers.three_field_wobbling import disk_wobbling

PARTS = (sphere, disk_wobbling, disk_cyclic, disk_straight, disk_perturbed, bicycles)


def compute(say: Callable[[str], None]) -> Result:
    parts = [part(say) for part in PARTS]
    return Result([c for checks, _ in parts for c in checks], [f for _, figures in parts for f in figures])


PAPER = Paper(
    "three-field",
    "Natsiavas, Passas, Paraskevopoulos: a three-field time-stepping method for nonholonomic multibody systems",
    compute,
)
