"""Figures as SVG that answer: what a line is called stands at the pointer, and the others fade meanwhile.

Where the file is looked at by itself or as an object of a page; as a plain picture it is one like any other.
"""

from __future__ import annotations

import io
import re
from html import escape
from typing import Any

from mpl_toolkits.mplot3d.art3d import Poly3DCollection

_STYLE = "svg:has(.curve:hover) .curve:not(:hover) { opacity: 0.15 } .curve { transition: opacity 0.15s } "
_DPI = 140  # of what is pixels


def svg_of(figure: Any) -> str:
    """The lines of every panel by their names; those without one, of a grid say, stay as they are."""
    names: dict[str, str] = {}
    lines = [line for ax in figure.axes for line in ax.lines]
    for number, line in enumerate(lines):
        label = _name(line, lines)
        if label:
            names[f"curve-{number}"] = label
            line.set_gid(f"curve-{number}")
    for ax in figure.axes:
        for surface in ax.findobj(Poly3DCollection):  # thousands of faces
            surface.set_rasterized(True)
    text = io.StringIO()
    figure.savefig(text, format="svg", dpi=_DPI, metadata={"Date": None})

    def named(match: re.Match[str]) -> str:
        return f'<g id="{match[1]}" class="curve"><title>{escape(names[match[1]])}</title>'

    svg = re.sub(r'<g id="(curve-\d+)">', named, text.getvalue())
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*" height="[^"]*"', r"\1", svg, count=1)  # as wide as there is room
    return svg.replace('<style type="text/css">', f'<style type="text/css">{_STYLE}', 1)


def _name(line: Any, lines: list[Any]) -> str:
    """Its own, or that of the line which looks like it in another panel, where the legend is."""
    alike = (str(other.get_label()) for other in (line, *lines) if _look(other) == _look(line))
    return next((label for label in alike if not label.startswith("_")), "")


def _look(line: Any) -> tuple[Any, ...]:
    return line.get_color(), line.get_linestyle(), line.get_marker()
