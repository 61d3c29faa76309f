"""The joints, springs and dampers of a run, to be drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from polhode.drawing.meshes import STEEL, mesh_of
from polhode.drawing.shapes import Box, Cylinder, Disk, Rod, Shape, Sphere
from polhode.multibody import GROUND, Damper, Distance, KnifeEdge, Spring
from polhode.multibody.describe.joint import Joint
from polhode.results.fittings import Link, Mark
from polhode.results.scene import Actor

_WIDTH = 0.07  # of a joint, relative to the smaller of its bodies
_ACROSS = {"spring": 0.06, "damper": 0.03, "rod": 0.015}  # relative to the length, where the bodies are not small

Made = Callable[[Any, float], Shape]  # of (joint, its width)


def _hinge(c: Any, r: float) -> Shape:
    return Cylinder(r, 3.2 * r, axis=c.triad_a[:, 2], centre=c.at_a)


def _rail(c: Any, r: float) -> Shape:
    axis = c.triad_a[:, 2]
    return Rod(c.at_a - 6 * r * axis, c.at_a + 6 * r * axis, 0.35 * r)


def _sleeve(c: Any, r: float) -> Shape:
    return Cylinder(0.8 * r, 2 * r, axis=c.triad_b[:, 2], centre=c.at_b)


# What is drawn on a and on b.
_SHAPES: dict[str, tuple[Made | None, Made | None]] = {
    "Ball": (lambda c, r: Sphere(r, centre=c.at_a), None),
    "Fixed": (lambda c, r: Box((1.6 * r,) * 3, centre=c.at_a), None),
    "Revolute": (_hinge, None),
    "Universal": (_hinge, lambda c, r: Cylinder(0.9 * r, 3.2 * r, axis=c.triad_b[:, 0], centre=c.at_b)),
    "Prismatic": (_rail, _sleeve),
    "Cylindrical": (_rail, _sleeve),
    "Planar": (lambda c, r: Disk(4 * r, axis=c.triad_a[:, 2], centre=c.at_a), None),
}


def marks_of(run: Any, actors: list[Actor]) -> list[Mark]:
    """Of every joint, and of every blade; rolling shows itself, and of a user's own constraint nothing is known."""
    return list(_marks(run, actors))


def _marks(run: Any, actors: list[Actor]) -> Iterator[Mark]:
    names = list(run.known.names)
    for c in getattr(run.known, "constraints", ()):  # not of one that JAX has put together
        until = _released(run, c.name)
        if isinstance(c, KnifeEdge):
            r = 2 * _WIDTH * _reach(actors, names, c.body)
            yield Mark(c.name, (Disk(r, axis=c.normal, centre=c.at),), names.index(c.body), until)
        on_a, on_b = _SHAPES.get(type(c).__name__, (None, None))
        for side, made in (("a", on_a), ("b", on_b)):
            if made is not None:
                shape, body = made(c, _WIDTH * _reach(actors, names, c.a, c.b)), getattr(c, side)
                yield Mark(c.name, (shape,), None if body == GROUND else names.index(body), until)


def links_of(run: Any, actors: list[Actor]) -> list[Link]:
    """Springs and dampers, and rods of fixed length."""
    names, found = list(run.known.names), []
    between = [c for c in getattr(run.known, "constraints", ()) if isinstance(c, Distance)]
    for x in (*run.known.forces, *between):
        if not isinstance(x, Spring | Damper | Distance):
            continue
        kind = "rod" if isinstance(x, Distance) else type(x).__name__.lower()
        a, b = (_point(run, actors, names, body, at) for body, at in ((x.a, x.at_a), (x.b, x.at_b)))
        length = float(np.median(np.linalg.norm(b - a, axis=1)))
        small = _reach(actors, names, x.a, x.b)
        r = min(_ACROSS[kind] * length, 0.5 * small) or 0.1 * small
        until = _released(run, x.name) if isinstance(x, Joint) else None
        found.append(Link(getattr(x, "name", "") or f"{kind} {x.a}-{x.b}", kind, a, b, r, until))
    return found


def _point(run: Any, actors: list[Actor], names: list[str], body: str, at: Any) -> np.ndarray:
    """Of a body, or of the ground, at every sample."""
    at = np.asarray(at, dtype=float)
    if body == GROUND:
        return np.broadcast_to(at, (len(run.t), 3))
    i = names.index(body)
    return actors[i].positions + run.attitude[:, i] @ at


def _reach(actors: list[Actor], names: list[str], *bodies: str) -> float:
    """Of the smaller body, from its centre."""
    meshes = [mesh_of(actors[names.index(body)].shapes, STEEL) for body in bodies if body != GROUND]
    return float(min(np.linalg.norm(mesh[:, :3], axis=1).max() for mesh in meshes))


def _released(run: Any, name: str) -> float | None:
    """When an event took it off, if one did."""
    for first, system in run.changes:
        if name not in {c.name for c in getattr(system, "constraints", ())}:
            return float(run.t[min(first, len(run.t) - 1)])
    return None
