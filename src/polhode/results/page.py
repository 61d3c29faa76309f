"""Motions as one HTML page that plays in any browser, from disk and without a network.

The viewer is `viewer.html` with its scripts; the data stand in the page as JSON, numbers as little-endian base64: times
float64, positions, quaternions and paths float32, relative to `origin`. Of several motions, `scenes` are their data.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from html import escape
from importlib import resources
from itertools import cycle
from typing import Any

import numpy as np

from polhode.drawing.shapes import Plane, Shape, Tube
from polhode.results.scene import Scene, Surface, largest_turns, upwards
from polhode.results.style import COLOURS

FORMAT = "polhode animation 1"
SCRIPTS = ("maths", "meshes", "shaders", "stages")


def page_of(scenes: Sequence[Scene], title: str, max_frames: int) -> str:
    """One motion, or several beside each other."""
    data = [scene_data(scene, max_frames) for scene in scenes]
    if len(data) == 1:
        return _page(data[0])
    return _page({"format": FORMAT, "title": title, "scenes": data})


def scene_data(scene: Scene, max_frames: int) -> dict[str, Any]:
    """The JSON document inside the page."""
    n = len(scene.times)
    kept = np.arange(n) if n <= max_frames else np.round(np.linspace(0, n - 1, max_frames)).astype(int)
    everywhere = np.concatenate([actor.positions for actor in scene.bodies])
    # float32 has seven digits: they are spent on the motion, not on how far from the origin it happens
    origin = (everywhere.min(axis=0) + everywhere.max(axis=0)) / 2
    colours = colours_of_bodies()
    return {
        "format": FORMAT,
        "title": scene.title,
        "up": upwards(scene.up).tolist(),
        "origin": origin.tolist(),
        "times": _pack(scene.times[kept], "<f8"),
        "bodies": [
            {
                "name": actor.name,
                "colour": next(colours),
                "positions": _pack(actor.positions[kept] - origin, "<f4"),
                "quaternions": _pack(actor.quaternions[kept], "<f4"),
                "shapes": [_shape(shape) for shape in actor.shapes],
            }
            for actor in scene.bodies
        ],
        "joints": [
            {"name": mark.name, "on": mark.on, "until": mark.until, "shapes": [_shape(shape) for shape in mark.shapes]}
            for mark in scene.joints
        ],
        "links": [
            {
                "name": link.name,
                "until": link.until,
                "positions": _pack(link.a[kept] - origin, "<f4"),
                "quaternions": _pack(link.quaternions[kept], "<f4"),
                "stretch": _pack(link.stretch[kept], "<f4"),
                "shapes": [_shape(shape) for shape in link.shapes],
            }
            for link in scene.links
        ],
        "paths": [
            {"name": trail.name, "colour": next(colours), "points": _pack(trail.points[kept] - origin, "<f4")}
            for trail in scene.paths
        ],
        "ground": [_surface(surface, everywhere, origin, scene.up) for surface in scene.surfaces],
        "notices": list(_notices(scene, kept)),
    }


def _notices(scene: Scene, kept: np.ndarray) -> Iterator[str]:
    thinned = len(kept) < len(scene.times)
    if thinned:
        yield (
            f"{len(kept)} of {len(scene.times)} samples are shown, evenly thinned; animate(..., max_frames="
            f"{len(scene.times)}) in Python shows all."
        )
    for actor in scene.bodies:
        turn = largest_turns(actor, kept)
        if turn > math.pi / 2:
            yield (
                f"{actor.name} turns up to {math.degrees(turn):.0f}° between two frames: its spin may look slower than "
                "it is, or backwards. Save samples more often" + (", or raise max_frames." if thinned else ".")
            )


def _page(data: dict[str, Any]) -> str:
    folder = resources.files("polhode.results")

    def text(name: str) -> str:
        return folder.joinpath(name).read_text(encoding="utf-8")

    page = text("viewer.html")
    for name in SCRIPTS:
        page = page.replace(f"@{name.upper()}@", text(f"viewer_{name}.js"))
    page = page.replace("@VIEWER@", text("viewer.js"))
    # "<" only as an escape: a name in the data cannot end the script it stands in. The data come last:
    # nothing in them is taken for a place to fill.
    scene = json.dumps(data, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    head, _, tail = page.partition("@SCENE@")
    return head.replace("@TITLE@", escape(data["title"])) + scene + tail


def _shape(shape: Shape) -> dict[str, Any]:
    return {"kind": type(shape).__name__, **asdict(shape)}  # type: ignore[call-overload]  # every Shape is a dataclass


def _surface(surface: Surface, everywhere: np.ndarray, origin: np.ndarray, up: str) -> dict[str, Any]:
    """Of a plane, the normal on the side of the bodies; of a tube, how far it reaches along its axis."""
    point = np.array(surface.point)
    if isinstance(surface, Plane):
        normal = facing(surface, everywhere, up)
        return {"kind": "Plane", "point": (point - origin).tolist(), "normal": normal.tolist()}
    foot, half = span(surface, everywhere)
    return {**_shape(surface), "point": (foot - origin).tolist(), "half": half}


def span(tube: Tube, everywhere: np.ndarray) -> tuple[np.ndarray, float]:
    """Its middle, and how far it reaches either way: as far as the bodies go, and its radius more."""
    along = (everywhere - np.array(tube.point)) @ tube.axis
    ends = along.min() - tube.radius, along.max() + tube.radius
    return np.array(tube.point) + sum(ends) / 2 * np.array(tube.axis), float(ends[1] - ends[0]) / 2


def facing(plane: Plane, everywhere: np.ndarray, up: str) -> np.ndarray:
    """The normal on the side of the bodies."""
    height = float((everywhere.mean(axis=0) - plane.point) @ plane.normal)
    if abs(height) < 1e-9 * (1.0 + np.ptp(everywhere, axis=0).max()):  # bodies in the plane: the upper side
        height = float(upwards(up) @ plane.normal)
    return np.array(plane.normal) * (-1.0 if height < 0 else 1.0)


def colours_of_bodies() -> Iterator[str]:
    """The house's colours but black, which a dark page would hide."""
    return cycle(colour for colour in COLOURS if colour != "#000000")


def _pack(values: np.ndarray, dtype: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=dtype).tobytes()).decode()
