"""Runs as scenes to animate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polhode.mechanics.drawing import Axes, Ellipsoid, Plane, Shape
from polhode.results.scene import Actor, Scene, Trail

if TYPE_CHECKING:
    from polhode.results.run import Run
    from polhode.results.system_run import SystemRun


def scene_of_system(run: SystemRun, title: str) -> Scene:
    """Bodies with their shapes (or just their axes), the points followed, the ground."""
    system = run.system
    size = 0.3 * (np.ptp(run.positions, axis=(0, 1)).max() / 10 + 1.0)
    actors = [
        Actor(name, run.positions[:, i], run.quaternions[:, i], _shapes(system.shapes[i], size))
        for i, name in enumerate(system.names)
    ]
    return Scene(
        run.t,
        actors,
        ground=system.ground,
        paths=[Trail(name, points) for name, points in run.traces.items()],
        up=system.up,
        title=title or f"{', '.join(system.names)}: {run.method.name}, step {run.step:g} s",
    )


def scene_of_body(run: Run, title: str) -> Scene:
    """One rotating body as the ellipsoid of its inertia, with its axes."""
    moments = np.linalg.eigvalsh(run.body.tensor)
    across = np.sqrt(np.maximum(moments.sum() / 2 - np.diag(run.body.tensor), 0.02 * moments.max()))
    shapes: list[Shape] = [Ellipsoid(tuple(across / across.max())), Axes(1.4)]
    still = np.zeros((len(run.t), 3))
    tip = run.attitude[:, :, 2] * 1.4
    return Scene(
        run.t,
        [Actor("body", still, run.state.attitude.array, shapes)],
        paths=[Trail("body axis 3", tip)],
        ground=Plane((0.0, 0.0, -1.5)),
        title=title or f"{run.method.name}, step {run.step:g} s",
    )


def _shapes(given: Shape | tuple[Shape, ...] | None, size: float) -> tuple[Shape, ...]:
    if given is None:
        return (Axes(size),)
    return given if isinstance(given, tuple) else (given,)
