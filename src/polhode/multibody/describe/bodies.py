"""`Body`: what a user says of one body, and of how it starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from polhode.algebra import Quaternion
from polhode.drawing.shapes import Shape
from polhode.model.checks import InputError, numbers, positive
from polhode.rotation.body import RigidBody, is_traced
from polhode.rotation.state import attitude_of

GROUND = "ground"  # the name of what does not move


@dataclass(frozen=True)
class Body:
    """A rigid body: mass (kg), inertia about its centre of mass in body axes (kg m², three
    moments or a symmetric 3x3 tensor), and its start: position of the centre of mass (m) and
    velocity (m/s) in space axes, attitude (body to space; whatever `State.of` takes) and
    angular velocity omega (rad/s) in body axes. `shape` is for pictures only.

    Leading axes on any of these numbers are a batch of systems, see `System`.

    A line of mass, one of whose moments is zero and the others equal, turns about itself with nothing to resist: it is
    given 1e-7 of the others there, so that this spin, which moves no mass, has a value."""

    name: str
    mass: float
    inertia: Any
    position: Any = field(default=(0.0, 0.0, 0.0), kw_only=True)
    attitude: Any = field(default=None, kw_only=True)
    velocity: Any = field(default=(0.0, 0.0, 0.0), kw_only=True)
    omega: Any = field(default=(0.0, 0.0, 0.0), kw_only=True)
    shape: Shape | tuple[Shape, ...] | None = field(default=None, kw_only=True)
    allow_unphysical: bool = field(default=False, kw_only=True)

    tensor: np.ndarray = field(init=False, repr=False, compare=False)
    quaternion: np.ndarray = field(init=False, repr=False, compare=False)  # w, x, y, z

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InputError(f"a body needs a name, a word of its own; got {self.name!r}")
        if self.name == GROUND:
            raise InputError(f"{GROUND!r} is what does not move; give this body another name")
        if np.ndim(self.mass) and not is_traced(self.mass):
            positive("mass", np.min(numbers(f"body {self.name!r}: mass", self.mass)))
            return  # of a batch: the members are looked at when the system is made
        try:
            positive("mass", self.mass)
            if is_traced(self.inertia):
                raise InputError(
                    "inertia must be numbers; inside of jit, vmap or grad it has no value yet. There, make the system "
                    "of numbers and change it: system.replaced(inertias=...)"
                )
            body = RigidBody(_with_thickness(self.inertia), allow_unphysical=self.allow_unphysical)
            given = {name: numbers(name, getattr(self, name), (3,)) for name in ("position", "velocity", "omega")}
            quaternion = np.asarray(attitude_of(self.attitude).array, dtype=float)
            shapes = {**{name: v.shape for name, v in given.items()}, "attitude": (*quaternion.shape[:-1], 3)}
            shapes["inertia"] = body.tensor.shape[:-1]
        except InputError as error:
            raise type(error)(f"body {self.name!r}: {error.args[0]}") from error
        if any(shape != (3,) for shape in shapes.values()):
            return  # likewise
        for name, value in given.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "tensor", body.tensor)
        object.__setattr__(self, "quaternion", quaternion)

    @property
    def rotation(self) -> np.ndarray:
        """Body to space at the start, 3x3."""
        return np.asarray(Quaternion.of(self.quaternion).matrix().array)


# The sum of the squares of the eigenvalues of 1 - 2J/(trace of J): 1/3 for a sphere, 1/2 for a disk, and this for a rod
# whose moment about itself is a tenth of the others.
ROUND = 0.83


def some_slender(inertias: Any) -> bool:
    """Whether any of these bodies, (N, 3, 3), is slender; where it is not known, it may be so."""
    if isinstance(inertias, jax.core.Tracer):
        return True
    J = np.asarray(inertias)
    X = np.eye(3) - 2.0 * J / np.trace(J, axis1=-2, axis2=-1)[..., None, None]
    return bool((np.sum(X * X, axis=(-1, -2)) > ROUND + 1e-12).any())


_THICKNESS = 1e-7  # of a line of mass: its moment about itself, of the others


def _with_thickness(inertia: Any) -> Any:
    """The moments of a line of mass, with one about itself; anything else as it is. So for each member of a batch."""
    try:
        given = np.asarray(inertia, dtype=float)
    except (TypeError, ValueError):  # for `RigidBody` to say
        return inertia
    if given.shape[-1:] != (3,) or not np.isfinite(given).all():
        return inertia
    if given.ndim > (2 if given.shape[-2:] == (3, 3) else 1):
        return np.array([_with_thickness(member) for member in given]).reshape(given.shape)
    tensor = np.diag(given) if given.ndim == 1 else given
    moments, axes = np.linalg.eigh(tensor)
    thin = abs(moments[0]) <= 1e-14 * moments[2] and moments[2] - moments[1] <= 1e-9 * moments[2] and moments[2] > 0
    if not thin or not np.allclose(tensor, tensor.T, rtol=0.0, atol=1e-12 * moments[2]):
        return inertia
    thickened = tensor + _THICKNESS * moments[2] * np.outer(axes[:, 0], axes[:, 0])
    return np.diag(thickened) if given.ndim == 1 else thickened
