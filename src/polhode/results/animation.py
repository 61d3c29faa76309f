"""A motion as one HTML page that plays in any browser, from disk and without a network.

The viewer is `viewer.html` with its four scripts; the data stand in the page as JSON, numbers as
little-endian base64: times float64, positions, quaternions and paths float32, relative to `origin`.
"""

from __future__ import annotations

import base64
import json
import math
import os
import uuid
from collections.abc import Iterator
from dataclasses import asdict
from html import escape
from importlib import resources
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from polhode.drawing.shapes import Plane, Shape
from polhode.model.checks import InputError, whole
from polhode.results.scene import Scene, Surface, largest_turns, upwards
from polhode.results.store import check_folder
from polhode.results.style import COLOURS

FORMAT = "polhode animation 1"
SCRIPTS = ("maths", "meshes", "shaders")


def animate(scene: Scene, path: str | Path, *, max_frames: int = 5001) -> Path:
    """Write `scene` to `path` (.html) and return the path.

    Of longer runs `max_frames` samples are kept, evenly by number, and the page says so. It says so too
    where a body turns so far between two frames that its spin would be misread.
    """
    path = _check_path(path)
    page = _page(scene_data(scene, whole("max_frames", max_frames, 2)))
    half = path.with_name(f".{path.stem}-{uuid.uuid4().hex[:8]}{path.suffix}")
    try:
        half.write_text(page, encoding="utf-8")
        os.replace(half, path)
    finally:
        half.unlink(missing_ok=True)
    return path


def scene_data(scene: Scene, max_frames: int) -> dict[str, Any]:
    """The JSON document inside the page."""
    n = len(scene.times)
    kept = np.arange(n) if n <= max_frames else np.round(np.linspace(0, n - 1, max_frames)).astype(int)
    everywhere = np.concatenate([actor.positions for actor in scene.bodies])
    # float32 has seven digits: they are spent on the motion, not on how far from the origin it happens
    origin = (everywhere.min(axis=0) + everywhere.max(axis=0)) / 2
    colours = _colours()
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


def _check_path(path: str | Path) -> Path:
    path = Path(path)
    if path.suffix not in (".html", ".htm"):
        raise InputError(f"an animation is an .html file; got {str(path)!r}")
    check_folder(path)
    if path.exists():
        with path.open("rb") as file:
            ours = FORMAT.encode() in file.read(500)
        if not ours:
            raise InputError(
                f"{str(path)!r} exists and is not an animation that polhode wrote, so it is not replaced; choose "
                "another name, or remove it first"
            )
    return path


def _shape(shape: Shape) -> dict[str, Any]:
    return {"kind": type(shape).__name__, **asdict(shape)}  # type: ignore[call-overload]  # every Shape is a dataclass


def _surface(surface: Surface, everywhere: np.ndarray, origin: np.ndarray, up: str) -> dict[str, Any]:
    """Of a plane, the normal on the side of the bodies; of a tube, how far it reaches along its axis."""
    point = np.array(surface.point)
    if isinstance(surface, Plane):
        height = float((everywhere.mean(axis=0) - point) @ surface.normal)
        if abs(height) < 1e-9 * (1.0 + np.ptp(everywhere, axis=0).max()):  # bodies in the plane: the upper side
            height = float(upwards(up) @ surface.normal)
        normal = np.array(surface.normal) * (-1.0 if height < 0 else 1.0)
        return {"kind": "Plane", "point": (point - origin).tolist(), "normal": normal.tolist()}
    along = (everywhere - point) @ surface.axis
    ends = along.min() - surface.radius, along.max() + surface.radius
    foot = point + sum(ends) / 2 * np.array(surface.axis) - origin
    half = (ends[1] - ends[0]) / 2
    return {**_shape(surface), "point": foot.tolist(), "half": half}


def _colours() -> Iterator[str]:
    """The house's colours but black, which a dark page would hide."""
    return cycle(colour for colour in COLOURS if colour != "#000000")


def _pack(values: np.ndarray, dtype: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=dtype).tobytes()).decode()
