"""One frame of a motion, drawn without a graphics card: triangles from the farthest to the nearest."""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.algebra import Quaternion
from polhode.drawing.meshes import STEEL, frame, mesh_of, rgb
from polhode.drawing.shapes import Plane, Tube
from polhode.results.page import colours_of_bodies, facing, span
from polhode.results.scene import Scene, upwards

_ANGLE, _YAW, _PITCH = 0.6, -0.9, 0.35  # rad, as the page begins
_GREY = "#4a5568"  # of lines and shadows, let through by so much: on a light page and on a dark one
_LATTICE, _SHADOW = 0.32, 0.27
_HALVINGS = 12
_LINES = 8  # of the lattice either way of the middle


class Stage:
    """A scene with its triangles, and a camera from which all of it is seen, or which goes along where it goes far."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.up = scene, upwards(scene.up)
        self.east = np.array([0.0, 1, 0]) if self.up[0] else np.array([1.0, 0, 0])
        self.north = np.cross(self.up, self.east)
        light = self.up + 0.35 * self.east - 0.5 * self.north
        self.light = light / np.linalg.norm(light)
        colours = colours_of_bodies()
        self.bodies = [mesh_of(actor.shapes, rgb(next(colours))) for actor in scene.bodies]
        self.joints = [mesh_of(mark.shapes, STEEL) for mark in scene.joints]
        self.links = [mesh_of(link.shapes, STEEL) for link in scene.links]
        self.paths = [rgb(next(colours)) for _ in scene.paths]
        everywhere = np.concatenate([actor.positions for actor in scene.bodies])
        self.walls = [_wall(tube, *span(tube, everywhere)) for tube in scene.surfaces if isinstance(tube, Tube)]
        self.planes = [
            (np.asarray(p.point), facing(p, everywhere, scene.up)) for p in scene.surfaces if isinstance(p, Plane)
        ]
        self._stand_back()
        for meshes in (self.bodies, self.joints, self.links):
            meshes[:] = [_split(mesh, 0.05 * self.distance) for mesh in meshes]

    def _stand_back(self) -> None:
        """Where the camera looks, and from how far, as the page begins."""
        reaches = [float(np.linalg.norm(mesh[:, :3], axis=1).max()) for mesh in self.bodies]
        spans = [(actor.positions, r) for actor, r in zip(self.scene.bodies, reaches, strict=True)]
        first = np.concatenate([x[:1] + s * r for x, r in spans for s in (-1, 1)])
        bodies = np.concatenate([x + s * r for x, r in spans for s in (-1, 1)])
        more = [x for link in self.scene.links for x in (link.a, link.b)] + [wall.reshape(-1, 3) for wall in self.walls]
        start, way, whole = (
            float(np.ptp(x, axis=0).max()) / 2 for x in (first, bodies, np.concatenate([bodies, *more]))
        )
        self.goes_far = way > 5 * start
        if self.goes_far:
            self.middle, away = _middle(first) - spans[0][0][0], 1.6 * start
        else:
            self.middle, away = _middle(np.concatenate([bodies, *more])), 1.25 * whole
        self.distance = away / np.sin(_ANGLE / 2)

    def draw(self, ax: Any, t: float) -> None:
        from matplotlib.collections import LineCollection, PolyCollection

        i = max(0, int(np.searchsorted(self.scene.times, t + 1e-12, side="right")) - 1)
        look = self.middle + (self._at(self.scene.bodies[0].positions, i, t) if self.goes_far else 0.0)
        flat = np.cos(_YAW) * self.east + np.sin(_YAW) * self.north
        back = np.cos(_PITCH) * flat + np.sin(_PITCH) * self.up
        right = np.cross(self.up, back) / np.linalg.norm(np.cross(self.up, back))
        axes = np.array([right, np.cross(back, right), back])
        eye = look + self.distance * back

        def seen(x: Any) -> tuple[Any, np.ndarray]:
            """Where in the picture, and how far away."""
            y = (x - eye) @ axes.T
            far = np.maximum(-y[..., 2], 0.02 * self.distance)
            return y[..., :2] / far[..., None] / np.tan(_ANGLE / 2), far

        solid = np.concatenate(self._solids(i, t)).reshape(-1, 3, 9)
        normals = np.cross(solid[:, 1, :3] - solid[:, 0, :3], solid[:, 2, :3] - solid[:, 0, :3])
        areas = np.linalg.norm(normals, axis=1)
        solid, normals = solid[areas > 0], normals[areas > 0] / areas[areas > 0, None]
        outward = np.where(np.sum(normals * solid[:, 0, 3:6], axis=1, keepdims=True) < 0, -normals, normals)
        for lines in self.walls:
            ax.add_collection(LineCollection(seen(lines)[0], colors=_GREY, alpha=_LATTICE, linewidths=0.6, zorder=0))
        for point, normal in self.planes:
            cell = _round_down(self.distance / 8)
            lattice = seen(self._lattice(point, normal, look, cell))[0]
            ax.add_collection(LineCollection(lattice, colors=_GREY, alpha=_LATTICE, linewidths=0.6))
            slope = normal @ self.light
            if slope > 0.3 and (eye - point) @ normal > 0:
                x = solid[outward @ self.light > 0, :, :3]
                shadow = x - ((x - point) @ normal / slope)[..., None] * self.light
                cast = PolyCollection(seen(shadow)[0], facecolors=_GREY, edgecolors=_GREY, linewidths=0.3)
                cast.set_agg_filter(_as_one)
                ax.add_collection(cast)
        front = np.sum((eye - solid[:, 0, :3]) * outward, axis=1) > 0
        solid, outward = solid[front], outward[front]
        places, far = seen(solid[..., :3])
        order = np.argsort(-far.mean(axis=1))
        bright = 0.45 + 0.15 * outward @ self.up + 0.4 * np.maximum(outward @ self.light, 0)
        colours = np.clip(solid[:, 0, 6:] * bright[:, None], 0, 1)[order]
        for trail, colour in zip(self.scene.paths, self.paths, strict=True):
            line = np.vstack([trail.points[: i + 1], self._at(trail.points, i, t)])
            ax.plot(*seen(line)[0].T, color=colour, linewidth=1.6, zorder=2)
        ax.add_collection(
            PolyCollection(places[order], facecolors=colours, edgecolors=colours, linewidths=0.3, zorder=3)
        )
        ax.set(xlim=(-1, 1), ylim=(-1, 1), aspect="equal")
        ax.axis("off")

    def _solids(self, i: int, t: float) -> list[np.ndarray]:
        """Every mesh in space, where it is at the time."""
        scene = self.scene
        poses = [(self._at(a.positions, i, t), self._turn(a.quaternions, i, t)) for a in scene.bodies]
        made = [_placed(mesh, *pose) for mesh, pose in zip(self.bodies, poses, strict=True)]
        for mark, mesh in zip(scene.joints, self.joints, strict=True):
            if mark.until is None or t < mark.until:
                made.append(mesh if mark.on is None else _placed(mesh, *poses[mark.on]))
        for link, mesh in zip(scene.links, self.links, strict=True):
            if link.until is None or t < link.until:
                stretched = mesh * np.array([1, 1, self._at(link.stretch, i, t), 1, 1, 1, 1, 1, 1])
                made.append(_placed(stretched, self._at(link.a, i, t), self._turn(link.quaternions, i, t)))
        return made

    def _at(self, values: np.ndarray, i: int, t: float) -> Any:
        """Between samples i and i + 1."""
        times = self.scene.times
        if i + 1 >= len(times):
            return values[-1]
        s = min(max((t - times[i]) / (times[i + 1] - times[i]), 0.0), 1.0)
        return (1 - s) * values[i] + s * values[i + 1]

    def _turn(self, quaternions: np.ndarray, i: int, t: float) -> np.ndarray:
        """Along the chord between neighbours, which are near."""
        following = quaternions[min(i + 1, len(quaternions) - 1)]
        pair = np.stack([quaternions[i], following if following @ quaternions[i] >= 0 else -following])
        times = self.scene.times[[i, min(i + 1, len(quaternions) - 1)]]
        s = 0.0 if times[1] == times[0] else float(np.clip((t - times[0]) / (times[1] - times[0]), 0, 1))
        q = (1 - s) * pair[0] + s * pair[1]
        return np.asarray(Quaternion.of(q / np.linalg.norm(q)).matrix().array)

    def _lattice(self, point: np.ndarray, normal: np.ndarray, look: np.ndarray, cell: float) -> np.ndarray:
        """Lines of a plane about where the camera looks, (lines, 2, 3); they stand still in space."""
        across = np.cross(self.up, normal)
        e1 = self.east if np.linalg.norm(across) < 1e-3 else across / np.linalg.norm(across)
        e2 = np.cross(normal, e1)
        u, v = (cell * np.round((look - point) @ e / cell) for e in (e1, e2))
        k, ends = cell * np.arange(-_LINES, _LINES + 1), cell * np.array([-_LINES, _LINES])
        one = (u + k)[:, None, None] * e1 + (v + ends)[None, :, None] * e2
        other = (u + ends)[None, :, None] * e1 + (v + k)[:, None, None] * e2
        return point + np.concatenate([one, other])


def _as_one(image: Any, dpi: float) -> tuple[np.ndarray, float, float]:
    """What was drawn, let through as a whole: where triangles meet or overlap it is no darker. (Of a collection it is
    asked for twice.)"""
    return np.minimum(image, [1, 1, 1, _SHADOW]), 0, 0


def _middle(points: np.ndarray) -> np.ndarray:
    return (points.min(axis=0) + points.max(axis=0)) / 2


def _wall(tube: Tube, middle: np.ndarray, half: float) -> np.ndarray:
    """Pieces of the rings and of the lines along a tube, (pieces, 2, 3)."""
    e1, e2, e3 = frame(tube.axis)
    angle = 2 * np.pi * np.arange(49) / 48
    ring = tube.radius * (np.cos(angle)[:, None] * e1 + np.sin(angle)[:, None] * e2)
    heights = half * np.linspace(-1, 1, 9)[:, None] * e3
    rings = (heights[:, None] + ring)[:, [(i, i + 1) for i in range(48)]].reshape(-1, 2, 3)
    along = np.stack([ring[:-1:2] - half * e3, ring[:-1:2] + half * e3], axis=1)
    return middle + np.concatenate([rings, along])


def _split(mesh: np.ndarray, longest: float) -> np.ndarray:
    """Triangles halved until no edge is longer: of small ones, which is nearer can be told."""
    triangles = mesh.reshape(-1, 3, 9)
    for _ in range(_HALVINGS):
        edges = np.linalg.norm(triangles[:, [1, 2, 0], :3] - triangles[:, :, :3], axis=2)
        long = edges.max(axis=1) > longest
        if not long.any():
            break
        first = edges[long].argmax(axis=1)
        a, b, c = (triangles[long, (first + k) % 3] for k in range(3))
        middle = (a + b) / 2
        middle[:, 6:] = a[:, 6:]
        halves = [np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)]
        triangles = np.concatenate([triangles[~long], *halves])
    return triangles.reshape(-1, 9)


def _placed(mesh: np.ndarray, x: Any, R: np.ndarray) -> np.ndarray:
    return np.concatenate([x + mesh[:, :3] @ R.T, mesh[:, 3:6] @ R.T, mesh[:, 6:]], axis=1)


def _round_down(x: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not above x."""
    power = 10.0 ** np.floor(np.log10(x) + 1e-9)
    return float(next(m * power for m in (5, 2, 1) if m * power <= x * (1 + 1e-9)))
