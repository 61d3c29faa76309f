"""Which bodies of a system belong together: the parts that are held or roll, and those that float."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

Bodies = Sequence[int]


def parts(
    size: int, rows: Iterable[tuple[Bodies, bool]], forces: Iterable[Bodies]
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The bodies, as a mask, of each part that is anchored and of each that floats.

    `rows` are the bodies of each constraint, and whether it holds them to the ground or makes them roll; `forces` those
    of each force. What a constraint ties together is one part, anchored where a row holds it. Parts that
    nothing ties to an anchored one, forces neither, float: those that forces tie together are one, and a body on its
    own is none."""
    rows = list(rows)
    by_rows = _labels(size, [bodies for bodies, _ in rows])
    by_all = _labels(size, [*(bodies for bodies, _ in rows), *forces])
    anchors = sorted({by_rows[bodies[0]] for bodies, holds in rows if holds})
    anchored = [by_rows == label for label in anchors]
    held = np.isin(by_rows, anchors)
    whole = [by_all == label for label in np.unique(by_all)]
    return anchored, [part for part in whole if part.sum() > 1 and not (part & held).any()]


def _labels(size: int, tied: Iterable[Bodies]) -> np.ndarray:
    """The same number for bodies that are tied together, directly or through others."""
    label = np.arange(size)
    for bodies in tied:
        label[np.isin(label, label[list(bodies)])] = label[bodies[0]]
    return label
