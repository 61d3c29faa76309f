"""Runs as scenes to animate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from polhode.algebra import Quaternion
from polhode.drawing.shapes import Axes, Ellipsoid, Plane, Shape, Tube
from polhode.model.checks import InputError
from polhode.model.checks import shown as given
from polhode.multibody import RollingDisk, RollingSphere, SphereOnCylinder, System
from polhode.results.animation import animate, shown
from polhode.results.linkage import links_of, marks_of
from polhode.results.scene import Actor, Scene, Surface, Trail

_NEAR = 1e-9  # m, rad: surfaces nearer than this are one


def animation_of(runs: Sequence[Any], path: Any, title: str, *, titles: Sequence[str] = (), **how: Any) -> Any:
    """Of one run, or of several beside each other, which `titles` name: written to a path, or shown in a notebook."""
    for run in runs:
        if not hasattr(run, "members"):
            raise InputError(f"runs are shown beside each other, beside=[run, ...]; got {given(run)}")
    if titles and len(titles) != len(runs):
        raise InputError(f"titles must name each of the {len(runs)} runs; got {len(titles)}")
    scenes = [
        scene_of(run, name) for run, name in zip(runs, titles or [title * (len(runs) == 1)] * len(runs), strict=True)
    ]
    title = title or " and ".join(dict.fromkeys(run.method.name for run in runs))
    return played(scenes, path, title, **how)


def played(scenes: Sequence[Scene], path: Any, title: str, **how: Any) -> Any:
    """Written to a path, or shown in a notebook."""
    return shown(scenes, title=title, **how) if path is None else animate(scenes, path, title=title, **how)


def scene_of(run: Any, title: str) -> Scene:
    """What moves, and what it stands on."""
    if run.members:
        raise InputError(
            f"this run is a batch of shape {run.members}, and one motion is animated at a time: simulate a member alone"
        )
    if "position" in run:
        return _of_system(run, title)
    return of_body(run.t, run["attitude"], run.known.tensor, title or f"{run.method.name}, step {run.step:g} s")


def _of_system(run: Any, title: str) -> Scene:
    """Bodies with their shapes (or just their axes), the points followed, and what they stand and roll on."""
    system = run.system
    size = 0.3 * (np.ptp(run["position"], axis=(0, 1)).max() / 10 + 1.0)
    actors = [
        Actor(name, run["position"][:, i], run["attitude"][:, i], _shapes(system.shapes[i], size))
        for i, name in enumerate(system.names)
    ]
    return Scene(
        run.t,
        actors,
        ground=ground_of(system),
        paths=[Trail(name, points) for name, points in run.traces.items()],
        up=system.up,
        joints=marks_of(run, actors),
        links=links_of(run, actors),
        title=title or f"{', '.join(system.names)}: {run.method.name}, step {run.step:g} s",
    )


def of_body(times: np.ndarray, quaternions: np.ndarray, tensor: np.ndarray, title: str) -> Scene:
    """One rotating body as the ellipsoid of its inertia, with its axes."""
    moments = np.linalg.eigvalsh(tensor)
    across = np.sqrt(np.maximum(moments.sum() / 2 - np.diag(tensor), 0.02 * moments.max()))
    shapes: list[Shape] = [Ellipsoid(tuple(across / across.max())), Axes(1.4)]
    still = np.zeros((len(times), 3))
    tip = np.asarray(Quaternion.of(quaternions).matrix().array)[:, :, 2] * 1.4
    return Scene(
        times,
        [Actor("body", still, quaternions, shapes)],
        paths=[Trail("body axis 3", tip)],
        ground=Plane((0.0, 0.0, -1.5)),
        title=title,
    )


def ground_of(system: System) -> list[Surface]:
    """The ground it was given, and the planes and cylinders that its contacts roll on, each once."""
    found: list[Surface] = [] if system.ground is None else [system.ground]
    for surface in _touched(system):
        if not any(_same(surface, other) for other in found):
            found.append(surface)
    return found


def _touched(system: System) -> Iterator[Surface]:
    for c in getattr(system, "constraints", ()):  # not of one that JAX has put together
        if isinstance(c, RollingDisk | RollingSphere):
            yield Plane(c.point, c.normal)
        elif isinstance(c, SphereOnCylinder):
            yield Tube(float(c.cylinder), c.axis, c.point, c.inside)


def _same(a: Surface, b: Surface) -> bool:
    """Whether two surfaces are one, whichever points and directions they were given by."""
    apart = np.subtract(a.point, b.point)
    if isinstance(a, Plane) and isinstance(b, Plane):
        return _parallel(a.normal, b.normal) and bool(abs(apart @ a.normal) < _NEAR)
    if isinstance(a, Tube) and isinstance(b, Tube):
        off = np.linalg.norm(np.cross(apart, a.axis))
        return _parallel(a.axis, b.axis) and bool(off < _NEAR) and abs(a.radius - b.radius) < _NEAR * a.radius
    return False


def _parallel(a: object, b: object) -> bool:
    return bool(np.linalg.norm(np.cross(a, b)) < _NEAR)  # type: ignore[call-overload]


def _shapes(given: Shape | tuple[Shape, ...] | None, size: float) -> tuple[Shape, ...]:
    if given is None:
        return (Axes(size),)
    return given if isinstance(given, tuple) else (given,)
