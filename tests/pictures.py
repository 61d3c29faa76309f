"""What every picture must be, checked as a renderer sees it: nothing empty, nothing clipped, nothing on top of another,
every axis with its unit."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg


def check_figure(figure: Any) -> None:
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw_without_rendering()
    assert figure.axes
    boxes = []
    for ax in figure.axes:
        if ax.get_label() == "<colorbar>":
            label, box = ax.get_ylabel(), ax.get_tightbbox(renderer)
            assert re.search(r"\(.+\)$", label) or label == "member", f"the colours {label!r} have no unit"
            _inside(figure, box, f"colours by {label}")
            boxes.append((f"colours by {label}", box))
            continue
        name = ax.get_title(loc="left") or ax.get_title()  # of 3D axes it is in the middle
        assert name, "an axes without a title"
        assert any(_data(artist) for artist in (*ax.lines, *ax.collections)), f"{name}: nothing drawn"
        for axis in ax._axis_map.values():
            text = axis.get_label_text()
            assert re.search(r"\(.+\)$", text), f"{name}: the axis {text!r} has no unit"
        box = ax.get_tightbbox(renderer)
        _inside(figure, box, name)
        boxes.append((name, box))
        legend = ax.get_legend()
        if legend is not None:
            _apart(
                ("legend of " + name, legend.get_window_extent(renderer)),
                ("title", ax._left_title.get_window_extent(renderer)),
            )
            _apart(("legend of " + name, legend.get_window_extent(renderer)), ("axes", ax.get_window_extent(renderer)))
    for legend in figure.legends:
        boxes.append(("legend", legend.get_window_extent(renderer)))
        _inside(figure, boxes[-1][1], "legend")
    if figure._suptitle is not None:
        boxes.append(("title", figure._suptitle.get_window_extent(renderer)))
        _inside(figure, boxes[-1][1], "title")
    for a, b in combinations(boxes, 2):
        _apart(a, b)


def texts(figure: Any) -> str:
    """All that can be read in it."""
    from matplotlib.text import Text

    return "\n".join(text.get_text() for text in figure.findobj(Text))


def _data(artist: Any) -> bool:
    """Whether something of it can be seen: two points and a line, or a marker."""
    if not hasattr(artist, "get_xdata"):
        return len(artist.get_paths()) > 0 or len(getattr(artist, "_offsets3d", ((),))[0]) > 0
    finite = np.isfinite(np.asarray(artist.get_xdata(), float)) & np.isfinite(np.asarray(artist.get_ydata(), float))
    return bool(finite.sum() >= (1 if artist.get_marker() not in ("", "None", None) else 2))


def _inside(figure: Any, box: Any, name: str) -> None:
    width, height = figure.bbox.width, figure.bbox.height
    out = max(-box.x0, -box.y0, box.x1 - width, box.y1 - height)
    assert out < 1, f"{name}: clipped, {out:.1f} px are outside the canvas"


def _apart(a: tuple[str, Any], b: tuple[str, Any]) -> None:
    (one, p), (other, q) = a, b
    over = min(p.x1, q.x1) - max(p.x0, q.x0), min(p.y1, q.y1) - max(p.y0, q.y0)
    assert min(over) < 2, f"{one!r} and {other!r} overlap by {over} px"
