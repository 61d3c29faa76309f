"""`Scene`: a mechanism described once, built at any scale, turned, shifted, and with its bodies and rows in any order.

A mechanism speaks of its own units and its own axes. The scene multiplies what it says by the scales of length,
mass and time, turns and shifts it, renames bodies, and lists bodies, forces and constraints in another order.
All of these but names and order are numbers of the system, so that one compiled program serves them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp
import numpy as np

from polhode import multibody as mb

Dims = tuple[int, int, int]  # powers of mass, length and time
LENGTH: Dims = (0, 1, 0)
ANGLE: Dims = (0, 0, 0)
SPEED: Dims = (0, 1, -1)
RATE: Dims = (0, 0, -1)
ENERGY: Dims = (1, 2, -2)
FORCE: Dims = (1, 1, -2)


class Seen:
    """A view in the mechanism's own units and axes, by the mechanism's own names."""

    def __init__(self, view: mb.View, called: Callable[[str], str], how: dict[str, Any]) -> None:
        self._view, self._called, self._how = view, called, how
        self.t = view.t / how["time"]

    def _back(self, vector: Any, scale: Any) -> Any:
        return self._how["turn"].T @ vector / scale

    def position(self, body: str) -> Any:
        return self._back(self._view.position(self._called(body)) - self._how["shift"], self._how["length"])

    def rotation(self, body: str) -> Any:
        return self._how["turn"].T @ self._view.rotation(self._called(body))

    def velocity(self, body: str) -> Any:
        return self._back(self._view.velocity(self._called(body)), self._how["length"] / self._how["time"])

    def omega(self, body: str) -> Any:
        return self._view.omega(self._called(body)) * self._how["time"]

    def direction(self, body: str, s: Any) -> Any:
        return self.rotation(body) @ jnp.asarray(s, dtype=float)

    def point(self, body: str, s: Any) -> Any:
        return self.position(body) + self.direction(body, s)

    def spin(self, body: str) -> Any:
        return self.rotation(body) @ self.omega(body)

    def point_velocity(self, body: str, s: Any) -> Any:
        return self.velocity(body) + self.rotation(body) @ jnp.cross(self.omega(body), jnp.asarray(s, dtype=float))


Fn = Callable[[Seen], Any]


@dataclass
class Scene:
    """Scales, a turn and a shift (of the mechanism's own length), and an order: None as written, or a seed."""

    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0
    turn: np.ndarray = field(default_factory=lambda: np.eye(3))
    shift: np.ndarray = field(default_factory=lambda: np.zeros(3))
    order: int | None = None
    listed: list[str] = field(default_factory=list)  # bodies as the mechanism calls them
    angular: set[str] = field(default_factory=set)  # users' constraints that have no length in them
    bodies: list[mb.Body] = field(default_factory=list)
    forces: list[Any] = field(default_factory=list)
    constraints: list[Any] = field(default_factory=list)

    def scale(self, dims: Dims) -> float:
        return self.mass ** dims[0] * self.length ** dims[1] * self.time ** dims[2]

    def called(self, body: str) -> str:
        """A letter in the order of the mechanism: those with as many bodies, joined alike, are one program."""
        if body == "ground":
            return body
        letter = "abcdefghijkl"[self.listed.index(body)]
        return letter if self.order is None else f"{letter} of {self.order}"

    def point(self, p: Any) -> np.ndarray:
        return self.length * (self.turn @ np.asarray(p, dtype=float) + self.shift)

    def way(self, v: Any, dims: Dims = ANGLE) -> np.ndarray:
        return self.scale(dims) * (self.turn @ np.asarray(v, dtype=float))

    def anchor(self, body: str, s: Any) -> np.ndarray:
        """A point of a body in its axes; of the ground, in space."""
        return self.point(s) if body == "ground" else self.length * np.asarray(s, dtype=float)

    @property
    def how(self) -> dict[str, Any]:
        return {
            "turn": self.turn,
            "shift": self.length * self.shift,
            "length": np.asarray(self.length),
            "mass": np.asarray(self.mass),
            "time": np.asarray(self.time),
        }

    # Bodies and forces

    def body(self, name: str, mass: float, inertia: Any, r: Any, R: Any, v: Any, Omega: Any) -> None:
        J = np.asarray(inertia, dtype=float)
        self.listed.append(name)
        self.bodies.append(
            mb.Body(
                self.called(name),
                mass * self.mass,
                J * self.scale((1, 2, 0)),
                position=self.point(r),
                attitude=self.turn @ R,
                velocity=self.way(v, SPEED),
                omega=np.asarray(Omega) / self.time,
            )
        )

    def gravity(self, g: Any) -> None:
        self.forces.append(mb.Gravity(self.way(g, (0, 1, -2))))

    def spring(
        self, a: str, b: str, stiffness: float, rest: float, at_a: Any = (0, 0, 0), at_b: Any = (0, 0, 0)
    ) -> None:
        ends = {"at_a": self.anchor(a, at_a), "at_b": self.anchor(b, at_b)}
        k = stiffness * self.scale((1, 0, -2))
        self.forces.append(mb.Spring(self.called(a), self.called(b), k, rest * self.length, **ends))

    def damper(self, a: str, b: str, c: float, at_a: Any = (0, 0, 0), at_b: Any = (0, 0, 0)) -> None:
        ends = {"at_a": self.anchor(a, at_a), "at_b": self.anchor(b, at_b)}
        self.forces.append(mb.Damper(self.called(a), self.called(b), c * self.scale((1, 0, -1)), **ends))

    def potential(self, fn: Fn) -> None:
        self.forces.append(mb.Potential(self._scaled(fn, ENERGY), parameters=self.how))

    def torque(self, body: str, fn: Fn) -> None:
        """In body axes."""
        self.forces.append(mb.Torque(self.called(body), self._scaled(fn, ENERGY), parameters=self.how))

    def _scaled(self, fn: Fn, dims: Dims) -> Callable[..., Any]:
        def call(view: mb.View, **how: Any) -> Any:
            scale = how["mass"] ** dims[0] * how["length"] ** dims[1] * how["time"] ** dims[2]
            return scale * jnp.asarray(fn(Seen(view, self.called, how)))

        return call

    # Constraints

    def _joint(self, kind: Any, a: str, b: str, at: Any, **more: Any) -> None:
        name = f"joint {len(self.constraints)}"
        given = {k: self.way(v) if k in ("axis", "axis_b") else v for k, v in more.items()}
        self.constraints.append(kind(self.called(a), self.called(b), at=self.point(at), name=name, **given))

    def ball(self, a: str, b: str, at: Any) -> None:
        self._joint(mb.Ball, a, b, at)

    def fixed(self, a: str, b: str, at: Any) -> None:
        self._joint(mb.Fixed, a, b, at)

    def revolute(self, a: str, b: str, at: Any, axis: Any, angle: Callable[[Any], Any] | None = None) -> None:
        if angle is None:
            return self._joint(mb.Revolute, a, b, at, axis=axis)
        time = jnp.asarray(self.time)
        return self._joint(mb.Revolute, a, b, at, axis=axis, angle=lambda t: angle(t / time))

    def universal(self, a: str, b: str, at: Any, axis: Any, axis_b: Any) -> None:
        self._joint(mb.Universal, a, b, at, axis=axis, axis_b=axis_b)

    def prismatic(self, a: str, b: str, at: Any, axis: Any) -> None:
        self._joint(mb.Prismatic, a, b, at, axis=axis)

    def cylindrical(self, a: str, b: str, at: Any, axis: Any) -> None:
        self._joint(mb.Cylindrical, a, b, at, axis=axis)

    def planar(self, a: str, b: str, at: Any, axis: Any) -> None:
        self._joint(mb.Planar, a, b, at, axis=axis)

    def rod(self, a: str, b: str, at_a: Any = (0, 0, 0), at_b: Any = (0, 0, 0)) -> None:
        """Of fixed length, without mass."""
        name = f"rod {len(self.constraints)}"
        ends = {"at_a": self.anchor(a, at_a), "at_b": self.anchor(b, at_b)}
        self.constraints.append(mb.Distance(self.called(a), self.called(b), name=name, **ends))

    def disk(self, body: str, radius: float, axis: Any = (0, 1, 0), normal: Any = (0, 0, 1)) -> None:
        where = {"normal": self.way(normal), "point": self.point((0, 0, 0))}
        self.constraints.append(
            mb.RollingDisk(self.called(body), radius * self.length, axis, name=f"roll {len(self.constraints)}", **where)
        )

    def sphere(self, body: str, radius: float, normal: Any = (0, 0, 1)) -> None:
        where = {"normal": self.way(normal), "point": self.point((0, 0, 0))}
        self.constraints.append(
            mb.RollingSphere(self.called(body), radius * self.length, name=f"roll {len(self.constraints)}", **where)
        )

    def in_cylinder(self, body: str, radius: float, cylinder: float, axis: Any) -> None:
        sizes = (radius * self.length, cylinder * self.length)
        where: dict[str, Any] = {"axis": self.way(axis), "point": self.point((0, 0, 0))}
        self.constraints.append(
            mb.SphereOnCylinder(self.called(body), *sizes, name=f"roll {len(self.constraints)}", **where)
        )

    def knife(self, body: str, at: Any, normal: Any = (0, 1, 0)) -> None:
        name = f"knife {len(self.constraints)}"
        self.constraints.append(mb.KnifeEdge(self.called(body), np.asarray(at) * self.length, normal, name=name))

    def holonomic(self, fn: Fn, name: str, dims: Dims = LENGTH) -> None:
        if not dims[1]:
            self.angular.add(name)
        self.constraints.append(mb.Holonomic(self._scaled(fn, dims), name, parameters=self.how))

    def nonholonomic(self, fn: Fn, name: str, dims: Dims = SPEED) -> None:
        if not dims[1]:
            self.angular.add(name)
        self.constraints.append(mb.Nonholonomic(self._scaled(fn, dims), name, parameters=self.how))

    # What comes of it

    def system(self) -> mb.System:
        return mb.System(
            self._ordered(self.bodies), forces=self._ordered(self.forces), constraints=self._ordered(self.constraints)
        )

    def row_lengths(self, system: mb.System) -> np.ndarray:
        """A unit of length for rows in m and m/s, 1 for rows in rad and rad/s."""

        def without(row: str) -> bool:
            return "⟂" in row or row.endswith(".angle") or row.split(".")[0] in self.angular

        return np.array([1.0 if without(row) else self.length for row in system.row_names])

    def _ordered(self, items: Sequence[Any]) -> list[Any]:
        return [items[i] for i in self.places(len(items))]

    def places(self, count: int) -> np.ndarray:
        """Which of `count` things, as written, stands at each place of the system."""
        if self.order is None:
            return np.arange(count)
        return np.random.default_rng(self.order).permutation(count)
