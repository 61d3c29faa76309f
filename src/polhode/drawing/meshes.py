"""Shapes as triangles, as `results/viewer_meshes.js` makes them in a page: for films, and for files of other tools.

A mesh is an array with a vertex a row, three rows a triangle, and nine numbers each: position, outward normal, colour.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from polhode.drawing.shapes import Axes, Box, Coil, Cylinder, Disk, Ellipsoid, Rod, Shape, Sphere

RED, GREEN, BLUE = (0.84, 0.15, 0.16), (0.17, 0.63, 0.17), (0.2, 0.4, 0.95)
STEEL = (0.42, 0.45, 0.5)  # of joints and springs
_SPOKE = np.array([0.6, 0.6, 0.62])
_CORNERS = [0, 1, 2, 0, 2, 3]  # of a quad, as two triangles

Paint = Callable[[Any, Any], Any]  # of (sector, strip), arrays, whether a patch is in the lighter tint


def mesh_of(shapes: Sequence[Shape], colour: Any) -> np.ndarray:
    """All of a body, (vertices, 9)."""
    return np.concatenate([_mesh(shape, np.asarray(colour, dtype=float)) for shape in shapes])


def tube_mesh(radius: float, axis: Any, middle: Any, half: float, colour: Any) -> np.ndarray:
    """The wall of a cylinder, without ends, seen from within."""
    strip = [[[radius, -half, -1, 0], [radius, half, -1, 0]]]
    return _revolve(strip, axis, middle, 64, np.asarray(colour, dtype=float), None)


def rgb(text: str) -> np.ndarray:
    """#rrggbb as three numbers from 0 to 1."""
    return np.array([int(text[i : i + 2], 16) for i in (1, 3, 5)]) / 255


def tint(colour: Any, s: float) -> np.ndarray:
    return np.asarray(colour) * (1 - s) + s


def frame(direction: Any) -> np.ndarray:
    """Right-handed axes e1, e2, e3 as rows, e3 along the direction."""
    e3 = np.asarray(direction, dtype=float) / np.linalg.norm(direction)
    e1 = np.cross((0.0, 1.0, 0.0) if abs(e3[0]) > 0.9 else (1.0, 0.0, 0.0), e3)
    e1 /= np.linalg.norm(e1)
    return np.array([e1, np.cross(e3, e1), e3])


def _quads(corners: Any, normals: Any, colours: Any) -> np.ndarray:
    """Corners and normals (..., 4, 3), a colour each."""
    colours = np.broadcast_to(np.asarray(colours)[..., None, :], corners.shape)
    whole = np.concatenate([corners, np.broadcast_to(normals, corners.shape), colours], axis=-1)
    return whole[..., _CORNERS, :].reshape(-1, 9)


def _revolve(profile: Any, axis: Any, centre: Any, sectors: int, colour: Any, lighter: Paint | None) -> np.ndarray:
    """A surface of revolution from strips [[r, z, normal r, normal z], [... of the other edge]]."""
    e1, e2, e3 = frame(axis)
    strips = np.asarray(profile)[:, [0, 0, 1, 1], :]  # of the four corners
    angle = 2 * np.pi * (np.arange(sectors)[:, None] + np.array([0, 1, 1, 0])) / sectors
    out = np.cos(angle)[..., None] * e1 + np.sin(angle)[..., None] * e2

    def placed(r: Any, z: Any) -> np.ndarray:
        return r[:, None, :, None] * out + (z[:, None, :, None] * e3)

    corners = np.asarray(centre) + placed(strips[..., 0], strips[..., 1])
    light = np.zeros((len(strips), sectors), dtype=bool)
    if lighter is not None:
        light |= np.asarray(lighter(np.arange(sectors)[None, :], np.arange(len(strips))[:, None]), dtype=bool)
    return _quads(
        corners, placed(strips[..., 2], strips[..., 3]), np.where(light[..., None], tint(colour, 0.65), colour)
    )


def _arc(r: float, radius: float, low: float, high: float, strips: int) -> np.ndarray:
    angle = low + (high - low) * np.arange(strips + 1) / strips
    c, s = np.cos(angle), np.sin(angle)
    edges = np.stack([np.maximum(0.0, r + radius * c), radius * s, c, s], axis=1)
    return np.stack([edges[:-1], edges[1:]], axis=1)


def _drum(r: float, h: float) -> list[Any]:
    a, b = -h / 2, h / 2
    return [
        [[0, a, 0, -1], [r, a, 0, -1]], [[r, a, 1, 0], [r, 0, 1, 0]],
        [[r, 0, 1, 0], [r, b, 1, 0]], [[r, b, 0, 1], [0, b, 0, 1]],
    ]  # fmt: skip


def _bar(a: Any, b: Any, radius: float, colour: Any) -> np.ndarray:
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return _revolve(_drum(radius, float(np.linalg.norm(b - a))), b - a, (a + b) / 2, 16, colour, None)


def _ellipsoid(semi: Any, centre: Any, colour: Any) -> np.ndarray:
    ball = _revolve(
        _arc(0, 1, -np.pi / 2, np.pi / 2, 24), (0, 0, 1), (0, 0, 0), 48, colour, lambda k, s: (k // 6 + s // 6) % 2
    )
    x, semi = ball[:, :3].copy(), np.asarray(semi)  # on the unit sphere the position is the normal
    ball[:, :3] = np.asarray(centre) + semi * x
    ball[:, 3:6] = (x / semi) / np.linalg.norm(x / semi, axis=1, keepdims=True)
    return ball


@singledispatch
def _mesh(shape: Any, colour: np.ndarray) -> np.ndarray:
    raise TypeError(f"{shape!r} has no mesh")


@_mesh.register
def _(shape: Sphere, colour: np.ndarray) -> np.ndarray:
    return _ellipsoid((shape.radius,) * 3, shape.centre, colour)


@_mesh.register
def _(shape: Ellipsoid, colour: np.ndarray) -> np.ndarray:
    return _ellipsoid(shape.semi_axes, shape.centre, colour)


@_mesh.register
def _(shape: Disk, colour: np.ndarray) -> np.ndarray:
    r, centre = shape.radius, np.asarray(shape.centre)
    t = max(shape.thickness, 0.02 * r)

    def sectors(k: Any, strip: Any) -> Any:
        return (k // 9) % 2 + 0 * strip

    if not shape.spokes:
        return _revolve(_drum(r, t), shape.axis, centre, 72, colour, sectors)
    tube = min(max(t / 2, 0.02 * r), 0.3 * r)
    e1, e2, e3 = frame(shape.axis)
    parts = [
        _revolve(_arc(r - tube, tube, 0, 2 * np.pi, 16), shape.axis, centre, 72, colour, sectors),
        _bar(centre - 1.5 * tube * e3, centre + 1.5 * tube * e3, 0.06 * r, colour),
    ]
    for k in range(shape.spokes):  # one of them stands out, so that a turn can be counted
        angle = 2 * np.pi * k / shape.spokes
        end = centre + (r - tube) * (np.cos(angle) * e1 + np.sin(angle) * e2)
        parts.append(_bar(centre, end, (0.008 if k else 0.024) * r, _SPOKE if k else tint(colour, 0.3)))
    return np.concatenate(parts)


@_mesh.register
def _(shape: Box, colour: np.ndarray) -> np.ndarray:
    parts, half = [], np.asarray(shape.size) / 2
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        for side in (-1.0, 1.0):
            corners, normal = np.zeros((4, 3)), np.zeros(3)
            normal[k] = side
            corners[:, k], corners[:, i] = side * half[k], np.array([-1, 1, 1, -1]) * half[i]
            corners[:, j] = np.array([-1, -1, 1, 1]) * half[j]
            parts.append(_quads(corners + np.asarray(shape.centre), normal, tint(colour, 0.3 * k)))
    return np.concatenate(parts)


@_mesh.register
def _(shape: Rod, colour: np.ndarray) -> np.ndarray:
    return _bar(shape.a, shape.b, shape.radius, colour)


@_mesh.register
def _(shape: Cylinder, colour: np.ndarray) -> np.ndarray:
    drum = _drum(shape.radius, shape.height)
    return _revolve(drum, shape.axis, shape.centre, 64, colour, lambda k, strip: (k // 8 + (strip > 1)) % 2)


@_mesh.register
def _(shape: Coil, colour: np.ndarray) -> np.ndarray:
    """Its ends are on the axis."""
    r, turns, along, sides = shape.radius, shape.turns, 16 * shape.turns, 8
    wire, lead, k = 0.22 * r, along / (2 * turns), np.arange(along + 1)
    angle = 2 * np.pi * turns * k / along
    c, s = np.cos(angle), np.sin(angle)
    arm = (r - wire) * np.minimum(1.0, np.minimum(k / lead, (along - k) / lead))
    x = np.stack([arm * c, arm * s, shape.length * k / along], axis=1)
    way = np.stack(
        [-2 * np.pi * turns * arm * s, 2 * np.pi * turns * arm * c, np.full(along + 1, shape.length)], axis=1
    )
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    side = np.stack([c, s, 0 * c], axis=1)
    turn = 2 * np.pi * np.arange(sides + 1)[:, None] / sides
    n = np.cos(turn) * side[:, None] + np.sin(turn) * np.cross(way, side)[:, None]
    n /= np.linalg.norm(n, axis=-1, keepdims=True)
    rings = np.concatenate([x[:, None] + wire * n, n], axis=-1)
    corners = np.stack([rings[:-1, :-1], rings[:-1, 1:], rings[1:, 1:], rings[1:, :-1]], axis=2)
    return _quads(corners[..., :3], corners[..., 3:], np.broadcast_to(colour, (*corners.shape[:2], 3)))


@_mesh.register
def _(shape: Axes, colour: np.ndarray) -> np.ndarray:
    l, parts = shape.length, []
    tip = [[[0, 0, 0, -1], [0.05 * l, 0, 0, -1]], [[0.05 * l, 0, 0.95, 0.32], [0, 0.15 * l, 0.95, 0.32]]]
    for e, own in zip(np.eye(3), map(np.array, (RED, GREEN, BLUE)), strict=True):
        parts += [_bar((0, 0, 0), 0.85 * l * e, 0.015 * l, own), _revolve(tip, e, 0.85 * l * e, 16, own, None)]
    return np.concatenate(parts)
