"""A picture of certificates: convergence, and what moved in the long run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.results.panels import written_to
from polhode.results.style import COLOURS, MARKERS, house_style, plain


def draw(certificates: Sequence[Any], path: Any = None) -> Any:
    """A row a method: errors against steps on the left, deviations against time on the right."""
    with house_style() as Figure:
        figure = Figure(figsize=(13, 0.6 + 3.4 * len(certificates)))
        rows = figure.subplots(len(certificates), 2, squeeze=False)
        for (left, right), certificate in zip(rows, certificates, strict=True):
            for i, (case, c) in enumerate(certificate.convergence.items()):
                left.loglog(c.steps, c.errors, marker=MARKERS[i], color=COLOURS[i], label=f"{case}: {c.order:.2f}")
            name = plain(certificate.method.name, 40)
            left.set(title=f"{name}: order", xlabel="number of steps (1)", ylabel="error in R (1), Π (kg m²/s)")
            left.set_xscale("log", base=2)  # they double
            left.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
            for i, (kept, d) in enumerate(certificate.deviations.items()):
                steps = kept.course.every * np.arange(1, len(d.size))
                right.semilogy(steps, d.size[1:] + 1e-17, color=COLOURS[i], linewidth=0.8, label=f"{kept}: {d.kind}")
            geometry = certificate.measures.geometry
            ticks = ", ".join(f"{name} {certificate.cell(name)}" for name in geometry)
            right.set(title=f"What moved in the long run\n{ticks}", xlabel="number of steps (1)", ylim=(1e-17, 10))
            right.set_ylabel("relative deviation (1)")
            right.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        if path is not None:
            written_to(figure, path)
        return figure
