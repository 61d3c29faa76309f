"""`Mechanism`: bodies, a description for polhode, and coordinates of its own for an independent reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from zoo.scene import Scene

Numbers = tuple[float, ...] | Callable[[], tuple[float, ...]]  # or a function, where they take time to find
Pose = list[tuple[Any, Any]]  # of each body: position, and rotation from body to space
Twist = list[tuple[Any, Any]]  # of each body: velocity in space axes, Ω in body axes


@dataclass(frozen=True)
class Mechanism:
    """In units in which it is about one long and one heavy, and moves about its own size in one unit of time.

    bodies     name: (mass, inertia in body axes)
    pose       of coordinates q and time: where each body is, in the order of `bodies`
    q, rates   the start: `where` and `moving` are the numbers
    build      adds joints and forces (all but gravity) to a scene
    gravity    on every body
    closure    (q, t): zeros that the coordinates keep, where they close a loop
    rolling    (q, q', t): zeros that are affine in q'
    potential  (pose, t): an energy besides that of gravity
    loads      (pose, twist, t): force in space axes and torque in body axes on each body, that have no potential
    step, count  size of the step, and how many; a run of half steps covers half of the time
    axial      bodies that are symmetric about one of their axes, about which nothing turns them: compared by that axis
    """

    name: str
    bodies: Mapping[str, tuple[float, Any]]
    pose: Callable[[Any, Any], Pose]
    q: Numbers
    rates: Numbers
    build: Callable[[Scene], None]
    gravity: tuple[float, float, float] | None = (0.0, 0.0, -9.81)
    closure: Callable[[Any, Any], Any] | None = None
    rolling: Callable[[Any, Any, Any], Any] | None = None
    potential: Callable[[Pose, Any], Any] | None = None
    loads: Callable[[Pose, Twist, Any], list[tuple[Any, Any]]] | None = None
    step: float = 0.01
    count: int = 40
    conserves: bool = True  # energy
    momentum: bool = False  # linear and angular, of what floats
    fails: str = ""  # a known shortcoming, in a sentence: what is asked of it is expected to fail
    without: frozenset[str] = frozenset()  # what cannot be asked of it: "order", "accuracy", "energy", "reactions"
    axial: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def where(self) -> np.ndarray:
        return np.asarray(self.q() if callable(self.q) else self.q, dtype=float)

    @cached_property
    def moving(self) -> np.ndarray:
        return np.asarray(self.rates() if callable(self.rates) else self.rates, dtype=float)

    def scene(self, pose: Any, twist: Any, **how: Any) -> Scene:
        """Built as it stands and moves there."""
        scene = Scene(**how)
        for (name, (mass, inertia)), (r, R), (v, Omega) in zip(self.bodies.items(), pose, twist, strict=True):
            J = np.asarray(inertia, dtype=float)
            scene.body(name, mass, np.diag(J) if J.ndim == 1 else J, r, R, v, Omega)
        if self.gravity is not None:
            scene.gravity(self.gravity)
        self.build(scene)
        return scene
