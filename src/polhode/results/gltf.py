"""A motion as glTF 2.0 in one binary file (.glb), which Blender, three.js and other tools read.

Each body is a node that moves, with its joints as children; springs and dampers move and stretch; paths are lines. The
scene is turned so that what is up here is +Y, as the format has it; lengths are m, times s from the first sample on.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode import __version__
from polhode.drawing.meshes import STEEL, mesh_of, rgb, tube_mesh
from polhode.drawing.shapes import Plane, Shape
from polhode.results.page import colours_of_bodies, span
from polhode.results.scene import Scene, upwards

_FLOAT, _VERTICES, _LINES = 5126, 34962, 3
_PADS = {b"JSON": b" ", b"BIN\0": b"\0"}


def glb_of(scene: Scene, max_frames: int) -> bytes:
    """Of longer runs `max_frames` samples, evenly by number."""
    made = _File()
    n = len(scene.times)
    kept = np.unique(np.round(np.linspace(0, n - 1, min(n, max_frames))).astype(int))
    times = np.asarray(scene.times[kept] - scene.times[0], dtype="<f4")
    later = np.concatenate([[True], np.diff(times) > 0])  # float32 may not tell neighbours apart
    kept, times = kept[later], times[later]
    everywhere = np.concatenate([actor.positions for actor in scene.bodies])
    origin = (everywhere.min(axis=0) + everywhere.max(axis=0)) / 2
    colours = colours_of_bodies()
    clock = made.accessor(times, "SCALAR", bounds=True)
    bodies = []
    for actor in scene.bodies:
        mesh = made.mesh(actor.name, actor.shapes, rgb(next(colours)))
        pose = {"translation": actor.positions[kept] - origin, "rotation": _xyzw(actor.quaternions[kept])}
        bodies.append(made.moving(actor.name, mesh, clock, pose))
    tops = list(bodies)
    for mark in scene.joints:
        there = {} if mark.until is None else {"scale": np.tile(_until(scene, kept, mark.until)[:, None], 3)}
        node = made.moving(mark.name, made.mesh(mark.name, mark.shapes, STEEL), clock, there)
        if mark.on is None:
            made.nodes[node]["translation"] = (-origin).tolist()
            tops.append(node)
        else:
            made.nodes[bodies[mark.on]].setdefault("children", []).append(node)
    for link in scene.links:
        stretch = np.stack([0 * kept + 1.0, 0 * kept + 1.0, link.stretch[kept]], axis=1)
        stretch *= _until(scene, kept, link.until)[:, None]
        pose = {
            "translation": link.a[kept] - origin,
            "rotation": _xyzw(link.quaternions[kept]),
            "scale": stretch,
        }
        tops.append(made.moving(link.name, made.mesh(link.name, link.shapes, STEEL), clock, pose))
    for trail in scene.paths:
        colour = rgb(next(colours))
        if len(kept) > 1:
            tops.append(made.line(trail.name, trail.points[kept] - origin, colour))
    for surface in scene.surfaces:
        if isinstance(surface, Plane):
            tops.append(made.plane(surface, everywhere, origin))
        else:
            middle, half = span(surface, everywhere)
            wall = tube_mesh(surface.radius, surface.axis, middle - origin, half, (0.85, 0.85, 0.85))
            tops.append(made.node({"name": "wall", "mesh": made.triangles("wall", wall, 1)}))
    turn = _turn_up(upwards(scene.up))
    root = {"name": scene.title, "children": tops, "rotation": _turned(turn), "translation": (turn @ origin).tolist()}
    return made.written(made.node(root))


def _until(scene: Scene, kept: np.ndarray, time: float | None) -> np.ndarray:
    """How large what is released at a time is at each sample: 1, then 0."""
    return np.ones(len(kept)) if time is None else (scene.times[kept] < time).astype(float)


class _File:
    """What is gathered: nodes, meshes, accessors, channels, and the bytes that they read."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.meshes: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self.views: list[dict[str, Any]] = []
        self.channels: list[dict[str, Any]] = []
        self.samplers: list[dict[str, Any]] = []
        self.used = 1  # materials
        self.bytes = bytearray()

    def accessor(self, values: Any, kind: str, *, bounds: bool = False, target: int | None = None) -> int:
        array = np.ascontiguousarray(values, dtype="<f4")
        view = {"buffer": 0, "byteOffset": len(self.bytes), "byteLength": array.nbytes}
        self.views.append(view | ({} if target is None else {"target": target}))
        self.bytes += array.tobytes()
        about: dict[str, Any] = {
            "bufferView": len(self.views) - 1,
            "componentType": _FLOAT,
            "count": len(array),
            "type": kind,
        }
        if bounds:
            flat = array.reshape(len(array), -1)
            about |= {"min": flat.min(axis=0).astype(float).tolist(), "max": flat.max(axis=0).astype(float).tolist()}
        self.accessors.append(about)
        return len(self.accessors) - 1

    def node(self, about: dict[str, Any]) -> int:
        self.nodes.append(about)
        return len(self.nodes) - 1

    def mesh(self, name: str, shapes: Sequence[Shape], colour: Any) -> int:
        return self.triangles(name, mesh_of(shapes, colour), 0)

    def triangles(self, name: str, mesh: np.ndarray, material: int, mode: int = 4) -> int:
        normals = mesh[:, 3:6] / np.maximum(np.linalg.norm(mesh[:, 3:6], axis=1, keepdims=True), 1e-30)
        attributes = {"POSITION": self.accessor(mesh[:, :3], "VEC3", bounds=True, target=_VERTICES)}
        if mode != _LINES:
            attributes["NORMAL"] = self.accessor(normals, "VEC3", target=_VERTICES)
        attributes["COLOR_0"] = self.accessor(_linear(mesh[:, 6:]), "VEC3", target=_VERTICES)
        self.used = max(self.used, material + 1)
        primitive = {"attributes": attributes, "material": material, "mode": mode}
        self.meshes.append({"name": name, "primitives": [primitive]})
        return len(self.meshes) - 1

    def moving(self, name: str, mesh: int, clock: int, pose: dict[str, np.ndarray]) -> int:
        """A node, which stands where it is first, and its channels."""
        first = {path: np.asarray(values[0], dtype=float).tolist() for path, values in pose.items()}
        node = self.node({"name": name, "mesh": mesh, **first})
        for path, values in pose.items():
            output = self.accessor(values, f"VEC{values.shape[1]}")
            self.samplers.append({"input": clock, "output": output, "interpolation": "LINEAR"})
            self.channels.append({"sampler": len(self.samplers) - 1, "target": {"node": node, "path": path}})
        return node

    def line(self, name: str, points: np.ndarray, colour: Any) -> int:
        mesh = np.concatenate([points, np.zeros_like(points), np.broadcast_to(colour, points.shape)], axis=1)
        return self.node({"name": name, "mesh": self.triangles(name, mesh, 0, _LINES)})

    def plane(self, plane: Plane, everywhere: np.ndarray, origin: np.ndarray) -> int:
        """A square below all that moves, with room about it."""
        normal, point = np.asarray(plane.normal), np.asarray(plane.point)
        across = np.linalg.svd(normal[None])[2][1:]
        if np.cross(across[0], across[1]) @ normal < 0:
            across = across[::-1]
        arm = (everywhere - point) @ across.T
        low, high = arm.min(axis=0), arm.max(axis=0)
        middle, half = (
            (low + high) / 2,
            0.75 * np.max(high - low) + 2 * float(np.abs((everywhere - point) @ normal).max()) + 0.5,
        )
        corners = [middle + half * np.array(c) for c in ((-1, -1), (1, -1), (1, 1), (-1, -1), (1, 1), (-1, 1))]
        places = point - origin + np.array(corners) @ across
        rows = np.concatenate([places, np.tile(normal, (6, 1)), np.full((6, 3), 0.85)], axis=1)
        return self.node({"name": "ground", "mesh": self.triangles("ground", rows, 1)})

    def written(self, root: int) -> bytes:
        look = {"pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 0.6}}
        materials = [{"name": "solid", **look}, {"name": "ground", "doubleSided": True, **look}]
        document: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": f"polhode {__version__}"},
            "scene": 0,
            "scenes": [{"nodes": [root]}],
            "nodes": self.nodes,
            "meshes": self.meshes,
            "materials": materials[: self.used],
            "animations": [{"name": "motion", "channels": self.channels, "samplers": self.samplers}],
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{"byteLength": len(self.bytes)}],
        }
        text = json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
        chunks = b"".join(_chunk(kind, data) for kind, data in ((b"JSON", text), (b"BIN\0", bytes(self.bytes))))
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def _chunk(kind: bytes, data: bytes) -> bytes:
    """Padded to four bytes."""
    data += _PADS[kind] * (-len(data) % 4)
    return struct.pack("<I4s", len(data), kind) + data


def _xyzw(quaternions: np.ndarray) -> np.ndarray:
    """In the order of the format, each on the side of the one before, so that what lies between is the shorter way."""
    q = np.array(quaternions, dtype=float)
    flips = np.where(np.sum(q[1:] * q[:-1], axis=1) < 0, -1.0, 1.0)
    q[1:] *= np.cumprod(flips)[:, None]
    return q[:, [1, 2, 3, 0]]


def _turn_up(up: np.ndarray) -> np.ndarray:
    """The rotation that takes `up` to +Y, by cycling the axes where it can."""
    east = np.roll(np.abs(up), 1)
    return np.array([east, up, np.cross(east, up)])


def _turned(matrix: np.ndarray) -> list[float]:
    """As a quaternion x, y, z, w: the matrix is of entries 0 and ±1."""
    w, v = np.linalg.eig(matrix)
    axis = np.real(v[:, np.argmin(np.abs(w - 1))])
    around = np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]])
    angle = np.arctan2(np.linalg.norm(around), np.trace(matrix) - 1)
    axis = axis if around @ axis >= 0 else -axis
    return [*(np.sin(angle / 2) * axis).tolist(), float(np.cos(angle / 2))]


def _linear(colours: np.ndarray) -> np.ndarray:
    """From sRGB, as the format asks."""
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
